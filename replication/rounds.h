// This node's rounds: from each node with which it shares partitions it pulls every so often, at once when
// that node (or this one) returns, and when somebody asks for it. Anti-entropy, refill and transfer
// are this one thing; a Pull (pull.h) does it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "replication/convergence_environment.h"
#include "replication/pull.h"

namespace ringkv {

class Rounds {
 public:
  explicit Rounds(ConvergenceEnvironment& environment) : environment_(environment) {}

  void tick(Moment moment, MessageOutbox& outbox);
  // What was under way by the ring before is void.
  void set_ring(Moment moment, MessageOutbox& outbox);
  void make_void(const Status& why);
  void set_reachable(NodeId node, bool reachable, Moment moment, MessageOutbox& outbox);
  void on_link_restored(NodeId node, Moment moment, MessageOutbox& outbox);
  void on_boot(NodeId node, Moment moment, MessageOutbox& outbox);  // what was under way with it is void

  // Pulls from every other owner now; answers with what it found, and who could not be asked. Of a partition
  // that this node doesn't own: INVALID_ARGUMENT that names its owners.
  void on(const Arrival& arrival, const ClientRepair& repair, MessageOutbox& outbox);
  void on(const Arrival& arrival, const ClientLag& lag, MessageOutbox& outbox);
  void on(const Arrival& arrival, const ClientTransfers& transfers, MessageOutbox& outbox);

  // A former owner has data of partitions that are this node's: they are pulled, and it is told.
  void on(NodeId from, RangesOffered offered, Moment moment, MessageOutbox& outbox);

  void on(NodeId from, RoundDigests digests, Moment moment, MessageOutbox& outbox);
  void on(NodeId from, RoundLeaves leaves, Moment moment, MessageOutbox& outbox);
  void on(NodeId from, RoundSlice slice, Moment moment, MessageOutbox& outbox);
  bool on(RangeRead& read, Moment moment, MessageOutbox& outbox);           // false: another's
  bool on(const ReplicaPutAck& ack, Moment moment, MessageOutbox& outbox);  // false: another's
  void on_committed(BatchNumber batch, MessageOutbox& outbox);

  // When the last pull of all that is shared with `source` began, of those that have ended well, by the
  // present ring and of its present life. Nothing: none yet.
  std::optional<Time> last_complete(NodeId source) const;
  // The nodes with which this one shares partitions.
  std::vector<NodeId> sources() const;
  uint64_t lag_ms(Time now) const;
  void fail_all(const Status& why, MessageOutbox& outbox);
  size_t under_way() const { return pulls_.size(); }

 private:
  struct Source {
    // Partitions with this node. One without any is only asked which life it has: what it stamped before it
    // lost them may wait for that (boot_closing.h).
    bool shares = true;
    Time next_at;
    std::optional<Time> last_complete;
    uint32_t failures = 0;  // in a row
    uint64_t differing_partitions = 0;
    uint64_t counter = 0;  // of its life, as last heard
    Actor life;
    std::string problem;
  };
  struct Repair {
    Requester requester;
    Time deadline;
    std::vector<uint64_t> pulls;  // that it waits for
    RepairReport report;
  };

  void learn_sources(Moment moment);
  Duration jittered(NodeId source);
  bool pulls_all_of(NodeId source) const;
  void forget_periodic_pull_of(NodeId source);
  uint64_t start(NodeId source, std::vector<Partition> named, Moment moment, MessageOutbox& outbox);
  void soon(NodeId source, Moment moment);
  void void_pulls_of(NodeId source, const Status& why);
  void take_ended(Moment moment, MessageOutbox& outbox);
  void take(uint64_t id, const Pull& pull, Moment moment, MessageOutbox& outbox);
  void count(const Pull& pull, Moment moment);
  void end_offer(uint64_t id, const Pull& pull, MessageOutbox& outbox);
  void begin_anew(uint64_t id, const Pull& pull, Moment moment, MessageOutbox& outbox);
  bool serves_a_repair(uint64_t id) const;
  void answer_repairs(Moment moment, MessageOutbox& outbox);
  Status check_partition(std::optional<Partition> partition) const;

  ConvergenceEnvironment& environment_;
  std::map<NodeId, Source> sources_;
  uint64_t sources_epoch_ = 0;  // the ring that they were found by
  Time started_at_;
  bool started_ = false;
  OpenPartitions open_;
  std::map<uint64_t, Pull> pulls_;  // by a running number
  uint64_t last_pull_ = 0;
  std::vector<Repair> repairs_;
  struct Offer {
    uint64_t pull = 0;
    uint64_t epoch = 0;
  };
  std::map<NodeId, Offer> offers_;  // the pulls of what these nodes have offered
};

}  // namespace ringkv
