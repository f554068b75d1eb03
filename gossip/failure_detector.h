// Who is alive, as far as this node can tell: SWIM probes (Das, Gupta, Motivala, 2002) with suspicion and
// refutation, and Lifeguard's local health (Dadgar, Phillips, Currey, 2017), so that a slow node doubts
// itself before it accuses others. A local opinion: it routes requests and never changes the ring.
//
// A core: no I/O, no clock of its own. Loop thread.
#pragma once

#include <cstdint>
#include <vector>

#include "base/random.h"
#include "base/time.h"
#include "gossip/messages.h"

namespace ringkv {

class FailureDetector {
 public:
  struct Settings {
    Duration probe_interval = std::chrono::seconds(1);
    Duration probe_timeout = std::chrono::milliseconds(500);
  };

  FailureDetector(NodeId self, uint64_t generation, const Settings& settings, Random& random);

  // Of the ring, this node not among them. Who is new counts as alive until probes say otherwise.
  void set_members(const std::vector<NodeId>& others, Time now);

  void tick(Time now, GossipOutbox& outbox);
  void on(NodeId from, const Probe& probe, Time now, GossipOutbox& outbox);
  void on(NodeId from, const ProbeAck& ack, Time now, GossipOutbox& outbox);
  void on(NodeId from, const ProbeRequest& request, Time now, GossipOutbox& outbox);

  // The node has introduced itself, in a life of this generation: it is alive.
  void on_greeted(NodeId node, uint64_t generation, Time now);

  Health health(NodeId node) const;         // of nodes that aren't members: kDown
  const std::vector<NodeId>& down() const;  // in order

  struct Statistics {
    uint64_t suspected = 0;  // suspicions begun here
    uint64_t refuted = 0;    // suspicions of this node that it has refuted
    uint64_t down = 0;       // members that went DOWN
  };
  const Statistics& statistics() const;
};

}  // namespace ringkv
