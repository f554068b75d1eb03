#include "replication/put_copies.h"

#include <algorithm>
#include <utility>

#include "base/plants.h"

namespace ringkv {
namespace {

// Of a refusal by an owner that could take the record another time. What it refuses for the record's sake it
// would refuse of a hint, too; what for the sake of an epoch is no refusal.
bool cannot_store_now(StatusCode code) {
  return code == StatusCode::kOverloaded || code == StatusCode::kOutOfSpace ||
         code == StatusCode::kCorruption || code == StatusCode::kUnavailable;
}

}  // namespace

PutCopies::PutCopies(const WriteLists& lists, NodeId self, const Rules& rules, Time sent)
    : self_(self), rules_(rules), silent_at_(sent + rules.hint_delay) {
  slots_.reserve(lists.present.size() + lists.next.size());
  held_by_.reserve(lists.present.size());
  for (const NodeId owner : lists.present) slots_.push_back({.owner = owner, .keepers = {}});
  for (const NodeId owner : planted(Plant::kSkipDualWrite) ? std::vector<NodeId>() : lists.next) {
    if (Slot* slot = slot_of(owner)) {
      slot->on_next = true;
    } else {
      slots_.push_back({.owner = owner, .on_present = false, .on_next = true, .keepers = {}});
    }
  }
  if (lists.next.empty() || planted(Plant::kSkipDualWrite)) rules_.needed_next = 0;
}

PutCopies::Slot* PutCopies::slot_of(NodeId owner) {
  return const_cast<Slot*>(std::as_const(*this).slot_of(owner));
}

const PutCopies::Slot* PutCopies::slot_of(NodeId owner) const {
  const auto slot =
      std::find_if(slots_.begin(), slots_.end(), [&](const Slot& s) { return s.owner == owner; });
  return slot == slots_.end() ? nullptr : &*slot;
}

PutCopies::Keeper* PutCopies::keeper_of(const Hint& hint) {
  Slot* slot = slot_of(hint.intended);
  if (slot == nullptr) return nullptr;
  const auto keeper = std::find_if(slot->keepers.begin(), slot->keepers.end(),
                                   [&](const Keeper& k) { return k.node == hint.keeper; });
  return keeper == slot->keepers.end() ? nullptr : &*keeper;
}

// One that had been given up, and holds it after all, counts.
std::vector<PutCopies::Hint> PutCopies::on_held(NodeId owner) {
  std::vector<Hint> needless;
  Slot* slot = slot_of(owner);
  if (slot == nullptr) return needless;
  if (slot->state == OwnerState::kHolds) {
    if (planted(Plant::kCountReplicaTwice)) held_by_.push_back(owner);
    return needless;
  }
  slot->state = OwnerState::kHolds;
  held_by_.push_back(owner);
  for (const Keeper& keeper : slot->keepers) {
    if (keeper.state != KeeperState::kRefused) needless.push_back({owner, keeper.node});
  }
  return needless;
}

void PutCopies::on_refused(NodeId owner, const Status& why) {
  Slot* slot = slot_of(owner);
  if (slot == nullptr || slot->state == OwnerState::kHolds) return;
  slot->state = cannot_store_now(why.code()) ? OwnerState::kUnable : OwnerState::kRefused;
}

bool PutCopies::on_hint_kept(const Hint& hint) {
  Keeper* keeper = keeper_of(hint);
  if (keeper == nullptr) return false;
  keeper->state = KeeperState::kKeeps;
  return slot_of(hint.intended)->state == OwnerState::kHolds;
}

void PutCopies::on_hint_refused(const Hint& hint) {
  Keeper* keeper = keeper_of(hint);
  if (keeper != nullptr && keeper->state != KeeperState::kKeeps) keeper->state = KeeperState::kRefused;
}

std::vector<NodeId> PutCopies::on_view(const RingView& view) {
  std::vector<NodeId> given_up;
  for (Slot& slot : slots_) {
    if (slot.state == OwnerState::kAwaited && !view.is_reachable(slot.owner)) {
      slot.state = OwnerState::kUnreachable;
      given_up.push_back(slot.owner);
    }
    for (Keeper& keeper : slot.keepers) {
      if (keeper.state == KeeperState::kAsked && !view.is_reachable(keeper.node)) {
        keeper.state = KeeperState::kUnreachable;
      }
    }
  }
  return given_up;
}

std::vector<PutCopies::Hint> PutCopies::ask_keepers(const RingView& view, Partition partition, Time now,
                                                    bool at_once) {
  std::vector<Hint> asks;
  if (!rules_.hints) return asks;
  std::optional<std::vector<NodeId>> stand_ins;
  for (Slot& slot : slots_) {
    if (!needs_keeper(slot, now, at_once)) continue;
    if (!stand_ins) stand_ins = view.stand_ins(partition);
    const std::optional<NodeId> keeper = next_keeper(slot, *stand_ins, view);
    if (!keeper) continue;
    slot.keepers.push_back({.node = *keeper, .silent_at = now + rules_.hint_delay});
    asks.push_back({slot.owner, *keeper});
  }
  return asks;
}

bool PutCopies::needs_keeper(const Slot& slot, Time now, bool at_once) const {
  if (slot.owner == self_ || slot.state == OwnerState::kRefused || slot.state == OwnerState::kHolds) {
    return false;
  }
  if (has_hint(slot)) return false;
  if (!slot.keepers.empty()) {
    const Keeper& last = slot.keepers.back();
    return last.state != KeeperState::kAsked || now >= last.silent_at;
  }
  return at_once || is_away(slot) || now >= silent_at_;
}

std::optional<NodeId> PutCopies::next_keeper(const Slot& slot, const std::vector<NodeId>& stand_ins,
                                             const RingView& view) const {
  const auto was_asked = [&](NodeId node) {
    return std::any_of(slot.keepers.begin(), slot.keepers.end(),
                       [&](const Keeper& keeper) { return keeper.node == node; });
  };
  for (const NodeId node : stand_ins) {
    if (node != self_ && view.is_reachable(node) && !was_asked(node) && !is_taken(node)) return node;
  }
  return was_asked(self_) ? std::nullopt : std::optional<NodeId>(self_);
}

// By another owner's hint, which it keeps or may yet keep.
bool PutCopies::is_taken(NodeId node) const {
  return std::any_of(slots_.begin(), slots_.end(), [&](const Slot& slot) {
    return std::any_of(slot.keepers.begin(), slot.keepers.end(), [&](const Keeper& keeper) {
      return keeper.node == node && keeper.state != KeeperState::kRefused;
    });
  });
}

bool PutCopies::has_hint(const Slot& slot) const {
  return std::any_of(slot.keepers.begin(), slot.keepers.end(),
                     [](const Keeper& keeper) { return keeper.state == KeeperState::kKeeps; });
}

bool PutCopies::is_filled(const Slot& slot) const {
  return slot.state == OwnerState::kHolds ||
         std::any_of(slot.keepers.begin(), slot.keepers.end(), [&](const Keeper& keeper) {
           return keeper.state == KeeperState::kKeeps && (counts(keeper) || planted(Plant::kOwnHintCounts));
         });
}

bool PutCopies::may_yet_hold(const Slot& slot) {
  return slot.state == OwnerState::kAwaited || (slot.state == OwnerState::kUnreachable && !slot.on_present);
}

bool PutCopies::is_away(const Slot& slot) {
  return slot.state == OwnerState::kUnreachable || slot.state == OwnerState::kUnable;
}

template <class Counts>
bool PutCopies::suffice(Counts counts) const {
  uint32_t present = 0, next = 0;
  for (const Slot& slot : slots_) {
    if (!counts(slot)) continue;
    present += slot.on_present ? 1 : 0;
    next += slot.on_next ? 1 : 0;
  }
  if (planted(Plant::kCountReplicaTwice)) {
    present += static_cast<uint32_t>(static_cast<std::ptrdiff_t>(held_by_.size()) -
                                     std::count_if(slots_.begin(), slots_.end(), [](const Slot& slot) {
                                       return slot.state == OwnerState::kHolds;
                                     }));
  }
  return present >= rules_.needed && next >= rules_.needed_next;
}

bool PutCopies::reached() const {
  return suffice([this](const Slot& slot) { return is_filled(slot); });
}

bool PutCopies::possible() const {
  return suffice([this](const Slot& slot) {
    return is_filled(slot) || may_yet_hold(slot) ||
           std::any_of(slot.keepers.begin(), slot.keepers.end(), [&](const Keeper& keeper) {
             return keeper.state == KeeperState::kAsked && counts(keeper);
           });
  });
}

bool PutCopies::settled() const {
  return std::all_of(slots_.begin(), slots_.end(), [&](const Slot& slot) {
    if (slot.state == OwnerState::kAwaited) return false;
    const bool is_asking = std::any_of(slot.keepers.begin(), slot.keepers.end(), [](const Keeper& keeper) {
      return keeper.state == KeeperState::kAsked;
    });
    return !is_away(slot) || has_hint(slot) || !is_asking;
  });
}

bool PutCopies::awaits_owner(NodeId owner) const {
  const Slot* slot = slot_of(owner);
  return slot != nullptr && slot->state != OwnerState::kHolds;
}

std::optional<NodeId> PutCopies::awaits_keeper(NodeId node) const {
  for (const Slot& slot : slots_) {
    if (slot.state == OwnerState::kHolds) continue;
    for (const Keeper& keeper : slot.keepers) {
      const bool unanswered =
          keeper.state == KeeperState::kAsked || keeper.state == KeeperState::kUnreachable;
      if (keeper.node == node && unanswered) return slot.owner;
    }
  }
  return std::nullopt;
}

std::vector<NodeId> PutCopies::owners_without() const {
  std::vector<NodeId> owners;
  for (const Slot& slot : slots_) {
    if (slot.state != OwnerState::kHolds) owners.push_back(slot.owner);
  }
  return owners;
}

std::vector<PutCopies::Hint> PutCopies::hints_kept() const {
  std::vector<Hint> hints;
  for (const Slot& slot : slots_) {
    if (slot.state == OwnerState::kHolds) continue;
    for (const Keeper& keeper : slot.keepers) {
      if (keeper.state == KeeperState::kKeeps) hints.push_back({slot.owner, keeper.node});
    }
  }
  return hints;
}

}  // namespace ringkv
