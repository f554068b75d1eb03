// Drives a change of the ring from step to step, by what gossip says of the members. Any voter may propose
// the next step, since each step fits one epoch only; they take turns, so that they don't get into each
// other's way, and one that proposes nothing holds up nobody for long.
//
//   switch: every node that gains partitions is ready (replication/takeover.h)
//   finish: every member that is up has adopted the switched ring, and so many of the present owners of each
//           partition that moves (N - r + 1) that no read quorum by the begun ring is possible any more
//   cancel: a node that gains partitions has been unreachable for too long, before the switch
//   vote:   a member that has none, since it joined or lost its disk, has all its copies
//   remove: a leaver without partitions keeps no hints for others any more, and the owners have pulled what
//           it has still; or it has been unreachable for too long, which counts as a lost disk
//   leave:  nothing else is under way or drafted, and a majority of the voters, this one among them, haven't
//           reached a member for their auto_remove_after. It goes as if it had been told to leave, together
//           with all that are absent, unless an operator must decide (check_auto_removal), or some key would
//           have too few owners left that can be reached
//
// Pure but for what it remembers of the ring. Loop thread.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/peer_state.h"
#include "base/time.h"
#include "node/ring_edits.h"
#include "replication/ring_view.h"

namespace ringkv {

class RingDriver {
 public:
  static constexpr Duration kTurn = std::chrono::seconds(5);
  static constexpr Duration kGivenUpAfter = std::chrono::minutes(10);

  // What it says of itself; nullptr: nothing has come yet.
  using StateOf = std::function<const PeerState*(NodeId)>;

  void set_ring(const RingView& view, Time now);

  struct Step {
    RingEdit edit;
    std::string what;      // for the log
    bool is_loss = false;  // a member goes that nobody has told to
  };
  // The step that is due, if it is this node's turn.
  std::optional<Step> next(const RingView& view, const StateOf& state_of, Time now);
  // Why members stay that a majority has given up, as of the last look, for an operator to decide; empty:
  // none does.
  const std::string& why_absent_stay() const { return why_absent_stay_; }

 private:
  bool is_own_turn(const RingView& view, Time now) const;
  bool all_ready(const RingView& view, const StateOf& state_of) const;
  bool all_have_switched(const RingView& view, const StateOf& state_of) const;
  bool is_given_up(const RingView& view, NodeId node, Time now);
  std::optional<NodeId> given_up(const RingView& view, Time now);
  std::optional<Step> next_of_members(const RingView& view, const StateOf& state_of, Time now);
  std::optional<Step> next_of_absent(const RingView& view, const StateOf& state_of);
  static std::vector<NodeId> given_up_by(const RingView& view, const Member& member, const StateOf& state_of);
  static bool are_enough_reachable(const RingView& view);
  static bool has_untaken(const RingView& view, const StateOf& state_of);
  static bool is_given_up_by_majority(const RingView& view, const Member& member, const StateOf& state_of);
  std::optional<Step> next_of_begun(const RingView& view, const StateOf& state_of, Time now);
  static bool is_of_now(const RingView& view, const Member& member, const PeerState* state);
  static bool has_left(const RingView& view, const Member& member, const PeerState* state);
  static bool may_vote(const RingView& view, const Member& member, const PeerState* state);

  Time since_{};
  std::set<NodeId> gaining_;
  std::map<NodeId, Time> unreachable_since_;    // of those, and of leavers
  std::set<std::vector<NodeId>> moving_lists_;  // the present lists of partitions that move
  std::string why_absent_stay_;
};

}  // namespace ringkv
