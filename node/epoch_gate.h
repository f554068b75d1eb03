// Epochs at the door: each request between nodes was routed by some ring, and is admitted only under that
// same ring. By an older one than this node's: refused with the ring, nothing written. By a newer one: the
// ring is taken from the sender first, and the request waits for it, for a bounded time. Answers pass: the
// numbers of their requests say whether anybody still wants them. So do rounds, and what cancels a hint: they
// mean the data of two nodes, whatever ring either has.
//
// Loop thread.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <utility>

#include "base/time.h"
#include "node/peer_message.h"
#include "replication/ring.h"

namespace ringkv {

class EpochGate {
 public:
  using RingOrder = std::pair<uint64_t, uint64_t>;  // lineage, epoch
  using Admit = std::function<void(NodeId, PeerMessage&&)>;
  using Send = std::function<void(NodeId, const PeerMessage&)>;

  // `admit`: to the cores of the life; `send`: to that node.
  EpochGate(NodeId self, Admit admit, Send send)
      : self_(self), admit_(std::move(admit)), send_(std::move(send)) {}

  // `theirs`: of the sender's ring when it sent the message.
  void on_message(NodeId from, RingOrder theirs, const Ring& ring, PeerMessage&& message, Time now);

  // Whatever the message: a later ring than ours is asked for, now and then.
  void look_at(NodeId from, RingOrder theirs, const Ring& ring, Time now);

  // Another ring holds: what waited for it is admitted.
  void on_ring(const Ring& ring, Time now);

  // Another life of the node was met: what the one before had sent is refused, also what waits here.
  void forget(NodeId from);

  void tick(const Ring& ring, Time now);

  struct Statistics {
    uint64_t refused = 0;  // requests of an older ring
    uint64_t held = 0;     // requests that waited for a newer one
    uint64_t dropped = 0;  // of those, in vain
  };
  const Statistics& statistics() const { return statistics_; }

  static RingOrder order_of(const Ring& ring) { return {ring.description().lineage, ring.epoch()}; }

 private:
  struct Held {
    NodeId from;
    RingOrder theirs;
    PeerMessage message;
    Time until;
  };
  struct Sent {
    RingOrder ring;
    Time at;
  };

  void hold(NodeId from, RingOrder theirs, const Ring& ring, PeerMessage&& message, Time now);
  void refuse_stale(NodeId from, const Ring& ring, const PeerMessage& message, Time now);
  void refuse(NodeId from, const Ring& ring, const PeerMessage& message, const Status& why);

  const NodeId self_;
  const Admit admit_;
  const Send send_;
  std::deque<Held> held_;
  size_t held_bytes_ = 0;
  std::map<NodeId, Time> asked_;  // for its ring
  std::map<NodeId, Sent> sent_;   // our ring, unasked
  Statistics statistics_;
};

}  // namespace ringkv
