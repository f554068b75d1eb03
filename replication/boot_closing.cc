#include "replication/boot_closing.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include "base/plants.h"
#include "storage/record_codec.h"

namespace ringkv {
namespace {

constexpr Duration kListPause = std::chrono::minutes(1);  // a walk over the floors of all partitions

}  // namespace

void BootClosing::set_boots(Boots boots, Moment moment) {
  if (boots == boots_) return;
  const bool same = boots.digest == boots_.digest && boots.all_met && boots_.all_met;
  if (boots.digest != boots_.digest) clear_digest_ = 0;
  boots_ = std::move(boots);
  if (!same) start_over(moment.now);
}

void BootClosing::on_boot(Moment moment) {
  clear_digest_ = 0;
  boots_ = {};
  start_over(moment.now);
}

void BootClosing::start_over(Time now) {
  all_clear_since_.reset();
  look_.reset();
  hints_until_.reset();
  look_at_ = now + kSettles;
  list_at_ = now;
}

void BootClosing::tick(Moment moment, const std::map<Actor, Sweeper::Blocked>& blocking,
                       const LastComplete& last_complete, MessageOutbox& outbox) {
  const Ring& ring = environment_.view.ring();
  if (epoch_ != ring.epoch()) {
    epoch_ = ring.epoch();
    other_owners_ = other_owners();
    start_over(moment.now);
  }
  if (!boots_.all_met || boots_.digest == 0 || ring.description().change) return;
  if (clear_digest_ != boots_.digest) return look(moment, outbox);
  if (!boots_.all_without_hints && !planted(Plant::kCloseBeforeRounds)) return all_clear_since_.reset();
  if (!all_clear_since_) all_clear_since_ = moment.now;
  const std::vector<Actor> ended = to_close(moment.now, blocking, last_complete);
  const std::vector<Partition> limited = limited_partitions();
  if (ended.empty() && limited.empty()) return;
  if (!has_pulled_from_all(*all_clear_since_ + kSettles, last_complete) &&
      !planted(Plant::kCloseBeforeRounds))
    return;
  environment_.store.close_lives(ended);
  // Where closed lives didn't count until now, since the data had gone with a move: they do from now on, for
  // the same reasons.
  for (const Partition partition : limited)
    environment_.store.raise_floor(partition, {}, {}, environment_.store.floors().closed());
  outbox.staged();
  environment_.statistics.lives_closed += ended.size();
  environment_.floors_raised = true;
}

// ---- 2. The own hints

// Only the disk is read: so what was staged when a look begins must be there first.
void BootClosing::look(Moment moment, MessageOutbox& outbox) {
  if (look_ || moment.now < look_at_) return;
  if (!hints_until_) hints_until_ = environment_.store.last_staged();
  if (!is_on_disk(*hints_until_)) return;
  hints_until_.reset();
  look_ = Look{};
  for (const auto& [intended, count] : environment_.hints.counts()) look_->intended.push_back(intended);
  read_on(outbox);
}

bool BootClosing::is_on_disk(BatchNumber batch) const {
  const RecordStore& store = environment_.store;
  return batch < store.open_batch() && (store.under_way() == 0 || batch < store.under_way());
}

void BootClosing::read_on(MessageOutbox& outbox) {
  if (look_->intended.empty()) {
    clear_digest_ = boots_.digest;
    look_.reset();
    return;
  }
  look_->ticket = environment_.next_number();
  outbox.send(environment_.settings.self,
              ReadHints{look_->ticket, {.intended = look_->intended.back(), .after = look_->after}});
}

void BootClosing::look_again(Time now) {
  look_.reset();
  look_at_ = now + kLookPause;
}

bool BootClosing::on(const HintsRead& read, Moment moment, MessageOutbox& outbox) {
  if (!look_ || look_->ticket != read.ticket) return false;
  if (!read.status.ok() || has_life_over(read.slice)) {
    look_again(moment.now);
    return true;
  }
  if (read.slice.at_end || read.slice.hints.empty()) {
    look_->intended.pop_back();
    look_->after.clear();
  } else {
    look_->after = read.slice.hints.back().storage_key;
  }
  read_on(outbox);
  return true;
}

bool BootClosing::is_over(const Actor& actor) const {
  return !std::binary_search(boots_.latest.begin(), boots_.latest.end(), actor);
}

// What its context covers doesn't matter: that only says what is superseded. Nor does a hint that can't be
// read: nothing can come of it.
bool BootClosing::has_life_over(const HintSlice& slice) const {
  return std::any_of(slice.hints.begin(), slice.hints.end(), [this](const HintSlice::Hint& hint) {
    const Result<RecordHead> head = decode_record_head(hint.record);
    return head.ok() && std::any_of(head->dots.begin(), head->dots.end(),
                                    [this](const Dot& dot) { return is_over(dot.actor); });
  });
}

// ---- 3. Rounds, and what is closed then

std::vector<NodeId> BootClosing::other_owners() const {
  const RingView& view = environment_.view;
  std::set<NodeId> others;
  for (Partition partition = 0; partition < view.ring().partitions(); ++partition) {
    const std::vector<NodeId> owners = view.owners_of(partition);
    if (std::find(owners.begin(), owners.end(), view.self()) == owners.end()) continue;
    others.insert(owners.begin(), owners.end());
  }
  others.erase(view.self());
  return {others.begin(), others.end()};
}

bool BootClosing::has_pulled_from_all(Time since, const LastComplete& last_complete) {
  return std::all_of(other_owners_.begin(), other_owners_.end(), [&](NodeId node) {
    const std::optional<Time> begun = last_complete(node);
    return begun && *begun > since;
  });
}

std::vector<Actor> BootClosing::to_close(Time now, const std::map<Actor, Sweeper::Blocked>& blocking,
                                         const LastComplete& last_complete) {
  std::set<Actor> ended;
  for (const auto& [actor, blocked] : blocking) ended.insert(actor);
  if (now >= list_at_) {
    list_at_ = now + kListPause;
    const std::vector<Actor> listed = listed_in_floors();
    if (listed.size() > kEndedLivesListed) ended.insert(listed.begin(), listed.end());
  }
  const FloorTable& floors = environment_.store.floors();
  std::erase_if(ended, [&](const Actor& actor) { return !is_over(actor) || floors.is_closed(actor); });
  std::erase_if(seen_at_,
                [&](const auto& seen) { return !is_over(seen.first) || floors.is_closed(seen.first); });
  for (const Actor& actor : ended) seen_at_.try_emplace(actor, now);
  std::erase_if(ended, [&](const Actor& actor) { return !was_replaced(actor, last_complete); });
  return {ended.begin(), ended.end()};
}

bool BootClosing::was_replaced(const Actor& actor, const LastComplete& last_complete) const {
  const bool is_other_member =
      std::any_of(boots_.latest.begin(), boots_.latest.end(), [&](const Actor& latest) {
        return latest.node == actor.node && latest.node != environment_.settings.self;
      });
  if (!is_other_member) return true;
  const std::optional<Time> begun = last_complete(actor.node);
  return begun && *begun > seen_at_.at(actor);
}

std::vector<Partition> BootClosing::limited_partitions() const {
  const FloorTable& floors = environment_.store.floors();
  std::vector<Partition> limited;
  for (const Partition partition : floors.limited()) {
    const bool lacks = std::any_of(floors.closed().begin(), floors.closed().end(), [&](const Actor& actor) {
      return floors.floor(partition).counter_of(actor) != UINT64_MAX;
    });
    if (lacks && environment_.view.ring().is_owner(environment_.view.self(), partition))
      limited.push_back(partition);
  }
  return limited;
}

std::vector<Actor> BootClosing::listed_in_floors() const {
  const RecordStore& store = environment_.store;
  std::set<Actor> listed;
  const auto add = [&](const VersionVector& floor) {
    for (const VersionVector::Entry& entry : floor.entries()) {
      if (is_over(entry.actor) && !store.floors().is_closed(entry.actor)) listed.insert(entry.actor);
    }
  };
  add(store.own_lives().vector);
  for (Partition partition = 0; partition < environment_.view.ring().partitions(); ++partition)
    add(store.floors().floor(partition));
  return {listed.begin(), listed.end()};
}

}  // namespace ringkv
