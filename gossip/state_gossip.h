// How every node learns what each says of itself: push-pull gossip in rounds with one random member, digests
// first, deltas after (Demers et al., "Epidemic algorithms for replicated database maintenance", 1987).
//
// A node's state is versioned by that node alone, generation before version; its wall clock decides nothing.
//
// A core: no I/O, no clock of its own. Loop thread.
#pragma once

#include <cstdint>
#include <vector>

#include "base/peer_state.h"
#include "base/random.h"
#include "base/time.h"
#include "gossip/messages.h"

namespace ringkv {

// A StateDeltas is closed once it holds this much; more states go in another. An address beyond its limit is
// nobody's, and its state isn't taken.
inline constexpr size_t kStateDeltasBytes = size_t{256} << 10;
inline constexpr size_t kStateAddressBytesMax = 1024;

class StateGossip {
 public:
  StateGossip(PeerState own, Duration round_interval, Random& random);

  // Of the ring, this node not among them. What is known of others is forgotten, and not taken again.
  void set_members(const std::vector<NodeId>& others);

  // A round an interval; one in several also tries a member that is DOWN (`down`, in order), so that two
  // halves of a split find each other again.
  void tick(Time now, const std::vector<NodeId>& down, GossipOutbox& outbox);
  void on(NodeId from, const StateDigests& digests, GossipOutbox& outbox);
  void on(NodeId from, const StateDeltas& deltas, GossipOutbox& outbox);

  // Heard some other way: from a greeting, the answer to a join, the disk. Taken if it is of another member
  // and newer than what is known.
  void learn(const PeerState& state);

  // Node, boot and generation stay; the version rises if anything but the wall clock differs.
  void set_own(PeerState own);
  const PeerState& own() const { return own_; }

  const PeerState* find(NodeId node) const;  // nothing: not heard of yet
  std::vector<PeerState> all() const;        // the own one too, in order of node
  // Other nodes whose state has changed since this was last asked, in order.
  std::vector<NodeId> take_changed();

 private:
  struct Member {
    NodeId node;
    bool heard = false;
    bool changed = false;
    PeerState state;
  };

  size_t index_of(NodeId node, size_t guess) const;
  void start_round(const std::vector<NodeId>& down, GossipOutbox& outbox);
  StateDigests digests() const;
  void send(NodeId to, const std::vector<const PeerState*>& states, std::vector<NodeId> wanted,
            GossipOutbox& outbox) const;

  PeerState own_;
  const Duration round_interval_;
  Random& random_;

  std::vector<Member> members_;  // in order
  bool any_changed_ = false;
  bool started_ = false;
  Time round_at_{};
};

}  // namespace ringkv
