// The copies of one stamped put: which owners hold it, who keeps a hint for those that can't take it now, and
// whether so many suffice (sloppy quorum; Dynamo paper, section 4.6). While the ring changes they must
// suffice on both lists.
//
// Each owner has one slot, filled by its own acknowledgement or by that of its stand-in: a node outside the
// lists that keeps the record for it. A slot counts on each list that its owner is on. A node stands in for
// one owner at most, so W filled slots are W distinct nodes. Where no node outside the list can keep a hint
// the coordinator does; that fills no slot, since its own copy is one already. Nobody stands in for the
// coordinator itself: its copy is on its way to its disk.
//
// Decides and sends nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "replication/ring_view.h"
#include "ringkv/status.h"

namespace ringkv {

class PutCopies {
 public:
  struct Rules {
    uint32_t needed = 0;       // of the present list
    uint32_t needed_next = 0;  // of the next one
    bool primary = false;      // hints are kept and don't count
    bool hints = true;         // false: nobody is asked to keep any
    Duration hint_delay{};
  };
  struct Hint {
    NodeId intended;
    NodeId keeper;
  };

  // All owners are sent the record at `sent`.
  PutCopies(const WriteLists& lists, NodeId self, const Rules& rules, Time sent);

  // Whom to tell that the hints which they were asked to keep aren't needed any more.
  std::vector<Hint> on_held(NodeId owner);
  void on_refused(NodeId owner, const Status& why);
  // True when the owner holds the record by now: the hint isn't needed.
  bool on_hint_kept(const Hint& hint);
  void on_hint_refused(const Hint& hint);
  // Who can't be reached is given up, but counts if it acknowledges the record after all. Returns the owners
  // among them.
  std::vector<NodeId> on_view(const RingView& view);

  // Whom to ask now to keep hints, and for whom. With `at_once` for those owners too that may yet acknowledge
  // it in time.
  std::vector<Hint> ask_keepers(const RingView& view, Partition partition, Time now, bool at_once = false);

  bool reached() const;
  // False when nothing more can be hoped for. A new owner that can't be reached is likely on its way up: who
  // joins opens its store when the change has begun already.
  bool possible() const;
  // Every owner holds it, or can't and has its hint, or will not have one.
  bool settled() const;

  // It was sent something, and what was sent may be lost.
  bool awaits_owner(NodeId owner) const;
  std::optional<NodeId> awaits_keeper(NodeId keeper) const;  // for whom

  const std::vector<NodeId>& held_by() const { return held_by_; }  // in order of their acknowledgements
  std::vector<NodeId> owners_without() const;
  std::vector<Hint> hints_kept() const;  // for owners that don't hold it

 private:
  enum class OwnerState : uint8_t { kAwaited, kUnreachable, kUnable, kRefused, kHolds };
  enum class KeeperState : uint8_t { kAsked, kUnreachable, kRefused, kKeeps };
  struct Keeper {
    NodeId node;
    Time silent_at;
    KeeperState state = KeeperState::kAsked;
  };
  struct Slot {
    NodeId owner;
    bool on_present = true;  // list
    bool on_next = false;
    OwnerState state = OwnerState::kAwaited;
    std::vector<Keeper> keepers;  // in order of asking
  };

  Slot* slot_of(NodeId owner);
  const Slot* slot_of(NodeId owner) const;
  Keeper* keeper_of(const Hint& hint);
  template <class Counts>
  bool suffice(Counts counts) const;
  bool counts(const Keeper& keeper) const { return !rules_.primary && keeper.node != self_; }
  bool is_filled(const Slot& slot) const;
  static bool may_yet_hold(const Slot& slot);
  static bool is_away(const Slot& slot);
  bool has_hint(const Slot& slot) const;
  bool needs_keeper(const Slot& slot, Time now, bool at_once) const;
  std::optional<NodeId> next_keeper(const Slot& slot, const std::vector<NodeId>& stand_ins,
                                    const RingView& view) const;
  bool is_taken(NodeId node) const;

  NodeId self_;
  Rules rules_;
  Time silent_at_;
  std::vector<Slot> slots_;  // in preference order, those of the present list first
  std::vector<NodeId> held_by_;
};

}  // namespace ringkv
