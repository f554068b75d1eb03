// How every node learns what each says of itself: push-pull gossip in rounds with one random member, digests
// first, deltas after (Demers et al., "Epidemic algorithms for replicated database maintenance", 1987).
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

class StateGossip {
 public:
  StateGossip(PeerState own, Duration round_interval, Random& random);

  // Of the ring, this node not among them. What is known of others is forgotten.
  void set_members(const std::vector<NodeId>& others);

  // A round a second; one in several also tries a member that is DOWN, so that two halves of a split find
  // each other again.
  void tick(Time now, const std::vector<NodeId>& down, GossipOutbox& outbox);
  void on(NodeId from, const StateDigests& digests, GossipOutbox& outbox);
  void on(NodeId from, const StateDeltas& deltas, GossipOutbox& outbox);

  // Heard some other way: from a greeting, the answer to a join, the disk.
  void learn(const PeerState& state);

  // Node, boot and generation stay; the version rises if anything but the wall clock differs.
  void set_own(PeerState own);
  const PeerState& own() const;

  const PeerState* find(NodeId node) const;  // nothing: not heard of yet
  std::vector<PeerState> all() const;        // the own one too, in order of node
  // Nodes whose state has changed since this was last asked.
  std::vector<NodeId> take_changed();
};

}  // namespace ringkv
