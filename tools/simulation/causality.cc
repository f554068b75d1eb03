#include "tools/simulation/causality.h"

#include <algorithm>

#include "tools/simulation/ring_history.h"

namespace ringkv::simulation {
namespace {

// Twice the bound within which a node's time needn't be corrected.
constexpr Duration kClocksDiffer = std::chrono::seconds(10);

}  // namespace

Causality::Causality(const KeyHistory& history, const RingFacts& ring, const DiskLosses& losses,
                     const Calendar& calendar)
    : history_(history), ring_(ring), losses_(losses), calendar_(calendar) {
  for (const Write& write : history_.writes) {
    std::vector<const Write*>& replacers = replacers_[&write];
    for (const Write& later : history_.writes) {
      if (later.known != kNever && has_replaced(later, write)) replacers.push_back(&later);
    }
    std::sort(replacers.begin(), replacers.end(),
              [](const Write* a, const Write* b) { return a->known < b->known; });
  }
}

Causality::Keeps Causality::keeps(const Held& held, const Look& look) const {
  if (!held.synced && losses_.may_have_lost(held.node, held.written, look.completed)) return Keeps::kMaybeNot;
  if (!losses_.lost_with_disk(held.node, held.written, look.completed)) return Keeps::kYes;
  return losses_.lost_unnoticed(held.node, held.written, look.invoked, look.completed) ? Keeps::kMaybeNot
                                                                                       : Keeps::kFetchesAgain;
}

bool Causality::stayed_owner(const Held& held, const Look& look) const {
  return ring_.rings == nullptr ||
         ring_.rings->stayed(history_.bucket, history_.key, held.node, held.written.known, look.completed_at);
}

bool Causality::owners_rested(const Held& held, const Look& look) const {
  return ring_.rings == nullptr ||
         ring_.rings->rested(history_.bucket, history_.key, held.written.known, look.completed_at);
}

bool Causality::held_by_a_quorum(const std::vector<std::string_view>& holders, Step known) const {
  return ring_.rings->on_each_list(history_.bucket, history_.key, holders, known, ring_.quorum());
}

// Who takes a key over has heard so many owners that a write which a quorum holds is there; of one that fewer
// hold it may hear later.
bool Causality::must_include(const Write& write, const Look& look) const {
  if (look.healed && look.node.empty()) return must_include_once_healed(write, look);
  std::map<std::string_view, Keeps> holders;
  bool rested = true;
  Step known = 0;
  for (const Held& held : write.held) {
    if (held.written.known >= look.invoked || held.hint) continue;
    if (!look.node.empty()) {
      if (held.node == look.node && keeps(held, look) == Keeps::kYes && stayed_owner(held, look)) return true;
    } else if (!held.node.empty()) {
      const Keeps found = keeps(held, look);
      rested = rested && owners_rested(held, look);
      known = std::max(known, held.written.known);
      const auto [holder, is_new] = holders.try_emplace(held.node, found);
      if (!is_new) holder->second = std::min(holder->second, found);
    } else if (must_include_by_count(held, look)) {
      return true;
    }
  }
  const auto count = [&](Keeps what) {
    return static_cast<uint32_t>(std::count_if(holders.begin(), holders.end(),
                                               [&](const auto& holder) { return holder.second == what; }));
  };
  if (count(Keeps::kYes) == 0) return false;
  if (!rested) {
    std::vector<std::string_view> keepers;
    for (const auto& [node, found] : holders) {
      if (found == Keeps::kYes) keepers.push_back(node);
    }
    return ring_.quorum() + look.read_quorum > ring_.copies && held_by_a_quorum(keepers, known);
  }
  return count(Keeps::kYes) + count(Keeps::kFetchesAgain) + look.read_quorum > ring_.copies;
}

bool Causality::must_include_by_count(const Held& held, const Look& look) const {
  uint32_t cut = held.synced ? 0 : losses_.nodes_that_may_have_lost(held.written, look.completed);
  cut += losses_.disks_lost_unnoticed(held.written, look.invoked, look.completed);
  if (cut + losses_.disks_lost(held.written, held.synced, look.completed) >= held.owners) return false;
  return held.owners + look.read_quorum > ring_.copies + cut;
}

bool Causality::must_include_once_healed(const Write& write, const Look& look) const {
  return std::any_of(write.held.begin(), write.held.end(), [&](const Held& held) {
    if (held.written.known >= look.invoked) return false;
    if (!held.node.empty()) return keeps(held, look) == Keeps::kYes;
    const uint32_t cut = held.synced ? 0 : losses_.nodes_that_may_have_lost(held.written, look.completed);
    return cut + losses_.disks_lost(held.written, held.synced, look.completed) < held.owners;
  });
}

// Whoever stamps a time and whoever compares it are each off by up to the bound, or it was noted.
bool Causality::may_have_expired(const Write& write, const Look& look) const {
  if (!write.ttl) return false;
  return calendar_.date(write.invoked_at) + *write.ttl <= calendar_.date(look.completed_at) + kClocksDiffer ||
         calendar_.wrong_between(write.invoked_at, look.completed_at);
}

bool Causality::must_have_expired(const Write& write, const Look& look) const {
  if (!write.ttl || !write.stamped_until || calendar_.wrong_between(write.invoked_at, look.completed_at))
    return false;
  return calendar_.date(*write.stamped_until) + *write.ttl + kClocksDiffer < calendar_.date(look.invoked_at);
}

bool Causality::surely_lacks(const CausalContext& context, const Dot& dot) const {
  return !context.covers(dot) && !ring_.closed_lives.contains(dot.actor);
}

bool Causality::has_replaced(const Write& later, const Write& write) const {
  if (&later == &write) return false;
  if (later.seen_values.contains(write.value) && !write.is_delete) return true;
  const std::optional<Dot> dot = write.dot();
  if (dot) {
    if (later.context && later.context->covers(*dot)) return true;
    // Beside a blind put nothing stays of what its coordinator held, nor beside a winner.
    const bool alone = later.left_alone || later.is_blind() || history_.last_writer_wins;
    if (alone && later.left && later.left->covers(*dot)) return true;
  }
  return later.reads_first && later.known != kNever &&
         must_include(write,
                      {.invoked = later.invoked, .completed = later.known, .read_quorum = ring_.quorum()});
}

// By its time. What a wrong clock has stamped pulls all later times with it, for ever.
bool Causality::was_surely_stamped_before(const Write& earlier, const Write& write) const {
  if (!earlier.stamped_until || calendar_.wrong_between(Time(), *earlier.stamped_until)) return false;
  return calendar_.date(*earlier.stamped_until) + kClocksDiffer < calendar_.date(write.invoked_at);
}

bool Causality::may_have_replaced(const Write& later, const Write& write) const {
  if (&later == &write || later.failed) return false;
  const std::optional<Dot> dot = write.dot();
  if (history_.last_writer_wins) {
    // A concurrent one may win by its time; one that this write follows can't.
    if (later.dot() && write.left && write.left->covers(*later.dot())) return false;
    return !was_surely_stamped_before(later, write);
  }
  if (later.known < write.invoked) return false;  // it was there before
  if (!dot) return true;
  if (later.context) return !surely_lacks(*later.context, *dot);
  return !later.left || !surely_lacks(*later.left, *dot);
}

}  // namespace ringkv::simulation
