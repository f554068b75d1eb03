#include "tools/simulation/causality.h"

#include <algorithm>

namespace ringkv::simulation {
namespace {

// Twice the bound within which a node's time needn't be corrected.
constexpr Duration kClocksDiffer = std::chrono::seconds(10);

}  // namespace

Causality::Causality(const KeyHistory& history, const RingFacts& ring, const DiskLosses& losses,
                     const Calendar& calendar)
    : history_(history), ring_(ring), losses_(losses), calendar_(calendar) {
  for (const Write& write : history_.writes) {
    Step& known = answers_[&write].holders_known;
    for (const Held& held : write.held) known = std::max(known, held.written.known);
  }
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

bool Causality::stayed_owner(std::string_view node, Step from, const Look& look) const {
  return ring_.rings == nullptr ||
         ring_.rings->stayed(history_.bucket, history_.key, node, from, look.completed_at);
}

bool Causality::owners_rested(Step from, const Look& look) const {
  return ring_.rings == nullptr ||
         ring_.rings->rested(history_.bucket, history_.key, from, look.completed_at);
}

// Where the owners have rested. The list that came next counts too: of the longer one less is owed.
uint32_t Causality::copies_at(const Look& look) const {
  if (ring_.rings == nullptr) return ring_.copies;
  return ring_.rings->copies(history_.bucket, history_.key, look.invoked, look.invoked).most;
}

// A default quorum is one of the list that the get went by. Another number may have been asked for by a list
// of long ago: a change is finished once N - r + 1 old owners have switched, r being the default, and one
// that was away then still answers whoever asks it alone (liveness seed 121).
bool Causality::asks_quorum_of_any_list(const Look& look) const {
  if (look.read_quorum == 0) return true;
  const uint32_t most =
      ring_.rings == nullptr ? ring_.copies : ring_.rings->most_copies_until(look.completed);
  return look.read_quorum >= quorum_of(most);
}

// Of an even number of owners N - r + 1 are fewer than a quorum.
bool Causality::was_confirmed_by_quorum(const Held& held) const {
  const RingHistory::Copies copies =
      ring_.rings == nullptr
          ? RingHistory::Copies{ring_.copies, ring_.copies}
          : ring_.rings->copies(history_.bucket, history_.key, held.written.since, held.written.known);
  return copies.fewest == copies.most && held.owners >= quorum_of(copies.most);
}

Causality::Holders Causality::holders_of(const Write& write, const Look& look) const {
  Holders holders;
  for (const Held& held : write.held) {
    if (held.written.known >= look.invoked || held.hint || held.node.empty()) continue;
    const Keeps found = keeps(held, look);
    holders.first_known = std::min(holders.first_known, held.written.known);
    holders.last_known = std::max(holders.last_known, held.written.known);
    const auto [holder, is_new] = holders.found.try_emplace(held.node, found);
    if (!is_new) holder->second = std::min(holder->second, found);
  }
  return holders;
}

std::vector<std::string_view> Causality::that_keep(const Holders& holders, Keeps how) const {
  std::vector<std::string_view> nodes;
  for (const auto& [node, found] : holders.found) {
    if (found == how) nodes.push_back(node);
  }
  return nodes;
}

// Who fetches again hears N - w + 1 other owners, one of those that have kept the write if these are so many
// that no others suffice.
bool Causality::holders_suffice(const Holders& holders, const Look& look) const {
  std::vector<std::string_view> keepers = that_keep(holders, Keeps::kYes);
  if (keepers.empty()) return false;
  if (!owners_rested(holders.first_known, look)) {
    return asks_quorum_of_any_list(look) &&
           ring_.rings->quorum_of_each_list(history_.bucket, history_.key, keepers, holders.last_known);
  }
  std::vector<std::string_view> refilled = that_keep(holders, Keeps::kFetchesAgain);
  const auto is_no_owner = [&](std::string_view node) {
    return !stayed_owner(node, holders.first_known, look);
  };
  std::erase_if(keepers, is_no_owner);
  std::erase_if(refilled, is_no_owner);
  if (!asks_quorum_of_any_list(look) && !owners_rested(0, look)) return false;
  const uint32_t copies = copies_at(look);
  const uint32_t quorum = quorum_of(copies);
  const size_t holding = keepers.size() + (keepers.size() + 1 >= quorum ? refilled.size() : 0);
  return !keepers.empty() && holding + (look.read_quorum == 0 ? quorum : look.read_quorum) > copies;
}

bool Causality::holds_by_itself(const Write& write, const Look& look) const {
  return std::any_of(write.held.begin(), write.held.end(), [&](const Held& held) {
    return held.written.known < look.invoked && !held.hint && held.node == look.node &&
           keeps(held, look) == Keeps::kYes && stayed_owner(held.node, held.written.known, look);
  });
}

bool Causality::must_include(const Write& write, const Look& look) const {
  if (write.known >= look.invoked) return false;  // nobody was known to hold it
  if (!look.node.empty()) return holds_by_itself(write, look);
  Answer& answer = answers_.at(&write);
  if (answer.holders_known >= look.invoked) return must_include_now(write, look);
  const uint32_t situation = situation_of(look);
  if (answer.situation != situation) {
    answer.situation = situation;
    answer.included = must_include_now(write, look);
  }
  return answer.included;
}

// From 1 on. No two looks at one key begin with the same step.
uint32_t Causality::situation_of(const Look& look) const {
  const auto [at, is_new] = situation_of_look_.try_emplace(look.invoked);
  if (is_new) {
    const RingHistory::Situation rings =
        ring_.rings == nullptr ? RingHistory::Situation()
                               : ring_.rings->situation(look.invoked, look.completed, look.completed_at);
    at->second = situations_
                     .try_emplace({losses_.situation(look.invoked, look.completed), rings, look.read_quorum,
                                   look.healed},
                                  situations_.size() + 1)
                     .first->second;
  }
  return at->second;
}

bool Causality::must_include_now(const Write& write, const Look& look) const {
  if (look.healed) return must_include_once_healed(write, look);
  if (holders_suffice(holders_of(write, look), look)) return true;
  return std::any_of(write.held.begin(), write.held.end(), [&](const Held& held) {
    return held.written.known < look.invoked && !held.hint && held.node.empty() &&
           must_include_by_count(held, look);
  });
}

// Of nobody knows whom: while owners change, of all of them.
bool Causality::must_include_by_count(const Held& held, const Look& look) const {
  uint32_t cut = held.synced ? 0 : losses_.nodes_that_may_have_lost(held.written, look.completed);
  cut += losses_.disks_lost_unnoticed(held.written, look.invoked, look.completed);
  const uint32_t lost = losses_.disks_lost(held.written, held.synced, look.completed);
  if (cut + lost >= held.owners) return false;
  const bool refilled = was_confirmed_by_quorum(held);
  if (!owners_rested(held.written.since, look))
    return cut == 0 && (lost == 0 || refilled) && asks_quorum_of_any_list(look);
  if (!asks_quorum_of_any_list(look) && !owners_rested(0, look)) return false;
  const uint32_t copies = copies_at(look);
  const uint32_t asked = look.read_quorum == 0 ? quorum_of(copies) : look.read_quorum;
  return held.owners - (refilled ? 0 : lost) + asked > copies + cut;
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

// Its dot is of one of the lives that the context of an answer names which showed it.
bool Causality::surely_lacks(const CausalContext& context, const Write& write) const {
  if (const auto dot = write.dot()) return surely_lacks(context, *dot);
  return std::any_of(write.shown_within.begin(), write.shown_within.end(), [&](const CausalContext& shown) {
    const std::vector<VersionVector::Entry>& entries = shown.vector.entries();
    return std::all_of(entries.begin(), entries.end(), [&](const VersionVector::Entry& entry) {
      return surely_lacks(context, Dot{entry.actor, 1});
    });
  });
}

bool Causality::may_have_lost_since(Step step, const Look& look) const {
  return losses_.any_cut_between(step, look.invoked) || losses_.any_disk_lost_between(step, look.invoked);
}

bool Causality::has_replaced(const Write& later, const Write& write) const {
  if (&later == &write) return false;
  if (later.seen_values.contains(write.value) && !write.is_delete) return true;
  if (later.context && write.is_within(*later.context)) return true;
  // Beside a blind put nothing stays of what its coordinator held, nor beside a winner.
  const bool alone = later.left_alone || later.is_blind() || history_.last_writer_wins;
  if (alone && later.left && write.is_within(*later.left)) return true;
  return later.reads_first && later.known != kNever &&
         must_include(write, {.invoked = later.invoked,
                              .completed = later.known,
                              .invoked_at = later.invoked_at,
                              .completed_at = *later.stamped_until});
}

// By its time. What a wrong clock has stamped pulls all later times with it, for ever.
bool Causality::was_surely_stamped_before(const Write& earlier, const Write& write) const {
  if (!earlier.stamped_until || calendar_.wrong_between(Time(), *earlier.stamped_until)) return false;
  return calendar_.date(*earlier.stamped_until) + kClocksDiffer < calendar_.date(write.invoked_at);
}

bool Causality::may_have_replaced(const Write& later, const Write& write) const {
  if (&later == &write || later.failed) return false;
  if (history_.last_writer_wins) {
    // A concurrent one may win by its time; one that this write follows can't.
    if (later.dot() && write.left && write.left->covers(*later.dot())) return false;
    return !was_surely_stamped_before(later, write);
  }
  if (later.known < write.invoked) return false;  // it was there before
  if (later.context) return !surely_lacks(*later.context, write);
  return !later.left || !surely_lacks(*later.left, write);
}

}  // namespace ringkv::simulation
