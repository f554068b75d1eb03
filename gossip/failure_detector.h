// Who is alive, as far as this node can tell: SWIM probes (Das, Gupta, Motivala, 2002) with suspicion and
// refutation, and Lifeguard's local health (Dadgar, Phillips, Currey, 2017), so that a slow node doubts
// itself before it accuses others. A local opinion: it routes requests and never changes the ring.
//
// Each round probes up to 15 members in a shuffled order, those that are DOWN too: a healed split finds
// itself that way. A member that doesn't answer at once is probed through up to three others; without any
// answer by the end of the round it is suspected. With up to 16 members everybody hears everybody in each
// round, and at the default settings a silent one is DOWN everywhere within 5 s.
//
// Time that this node didn't live through (frozen, starved) is held against nobody.
//
// A core: no I/O, no clock of its own. Loop thread.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/random.h"
#include "base/time.h"
#include "gossip/health_table.h"
#include "gossip/messages.h"

namespace ringkv {

class FailureDetector {
 public:
  struct Settings {
    Duration probe_interval = std::chrono::seconds(1);
    Duration probe_timeout = std::chrono::milliseconds(500);  // until others are asked to probe; shorter
  };

  FailureDetector(NodeId self, uint64_t generation, const Settings& settings, Random& random);

  // Of the ring, this node not among them. Who is new counts as alive until probes say otherwise.
  void set_members(const std::vector<NodeId>& others, Time now);

  // `now` and what the wall's clock says: probes and answers carry it to others, nothing is judged by it.
  struct Moment {
    Time now;
    WallMicros wall = 0;
  };

  // At least every tenth of the probe time-out: a longer silence looks like a freeze.
  void tick(Moment moment, GossipOutbox& outbox);
  void on(NodeId from, const Probe& probe, Moment moment, GossipOutbox& outbox);
  void on(NodeId from, const ProbeAck& ack, Moment moment, GossipOutbox& outbox);
  void on(NodeId from, const ProbeRequest& request, Moment moment, GossipOutbox& outbox);

  // The node has introduced itself, in a life of this generation: if that is a later one than the known, it
  // is alive. Within a generation only its own refutation brings it back.
  void on_greeted(NodeId node, uint64_t generation, Time now);

  Health health(NodeId node) const { return table_.health(node); }   // of nodes that aren't members: kDown
  const std::vector<NodeId>& down() const { return table_.down(); }  // in order

  // False: of late the node has answered only probes that went through others, or none. It may live, but what
  // this node sends it isn't answered: the way between the two is broken in one direction or both.
  bool hears(NodeId node) const;

  struct Statistics {
    uint64_t suspected = 0;  // suspicions begun here
    uint64_t refuted = 0;    // suspicions of this node that it has refuted
    uint64_t down = 0;       // members that went DOWN
  };
  Statistics statistics() const { return {table_.suspicions(), table_.refutations(), table_.downs()}; }

 private:
  // A member in the present round.
  struct Asked {
    NodeId node;
    uint64_t sequence = 0;
    Health was = Health::kAlive;  // when the round began
    bool others_asked = false;
    bool answered = false;
    bool answered_directly = false;
  };
  // A probe for another node.
  struct Relay {
    uint64_t sequence = 0;  // of our probe
    NodeId target;
    NodeId asker;
    uint64_t asker_sequence = 0;
    Time until;
  };

  void notice(Time now);
  void thaw(Duration frozen, Time now);
  void take(const std::vector<HealthClaim>& claims, Time now);

  void begin_round(Moment moment, GossipOutbox& outbox);
  std::vector<NodeId> next_targets();
  NodeId next_in_turn();
  void ask_others(Asked& asked, GossipOutbox& outbox);
  std::vector<NodeId> some_others(NodeId target);
  void judge_round(Time now);
  void judge_ways();

  void doubt_self();
  Suspicion::Patience patience() const;

  const NodeId self_;
  const Settings settings_;
  Random& random_;

  HealthTable table_;
  uint64_t last_sequence_;    // probes of an earlier life had others
  std::vector<NodeId> turn_;  // members not yet probed in the present pass over all
  std::vector<Asked> round_;
  std::map<NodeId, uint32_t> missed_;   // in how many rounds, the last one among them, it gave no answer
  std::map<NodeId, uint32_t> unheard_;  // the same, of direct answers
  std::vector<Relay> relays_;

  bool started_ = false;
  Time noticed_at_{};  // when this node was last seen to live
  Time ask_others_at_{};
  Time round_ends_at_{};
  Time patient_until_{};  // until then nobody goes DOWN here

  uint32_t local_health_ = 0;  // Lifeguard's: 0 is well; each point gives others as much time again
};

}  // namespace ringkv
