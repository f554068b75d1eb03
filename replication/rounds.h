// This node's rounds: from each node with which it shares partitions it pulls, every so often, at once when
// that node (or this one) returns, and when somebody asks for it. Anti-entropy, refill and, later, transfer
// are this one thing.
//
// A pull goes down from one digest of everything that two nodes share, over groups of partitions and single
// partitions, to the leaves that differ, and ends at equality wherever it finds it: between equal nodes the
// first small message is all. What differs in a partition is pulled by a PartitionRound (partition_round.h).
// Where a partition is equal, or was pulled, the floor is raised; nothing waits for a moment of equality of
// the whole, so rounds end under load.
//
// Bounded: so many partitions at once from each source and in all, slices of 1 MiB.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "replication/convergence_environment.h"
#include "replication/partition_round.h"

namespace ringkv {

class Rounds {
 public:
  static constexpr size_t kPartitionsAtOnce = 8;  // of one source

  explicit Rounds(ConvergenceEnvironment& environment) : environment_(environment) {}

  void tick(Moment moment, MessageOutbox& outbox);
  void set_ring(Moment moment, MessageOutbox& outbox);
  void set_reachable(NodeId node, bool reachable, Moment moment, MessageOutbox& outbox);
  void on_link_restored(NodeId node, Moment moment, MessageOutbox& outbox);
  void on_boot(NodeId node, Moment moment, MessageOutbox& outbox);  // what was under way with it is void

  // Pulls from every other owner now; answers with what it found. UNAVAILABLE where there is nobody to
  // compare with; `partial` names who could not be reached.
  void on(const Arrival& arrival, const ClientRepair& repair, MessageOutbox& outbox);
  void on(const Arrival& arrival, const ClientLag& lag, MessageOutbox& outbox);

  void on(NodeId from, RoundDigests digests, Moment moment, MessageOutbox& outbox);
  void on(NodeId from, RoundLeaves leaves, Moment moment, MessageOutbox& outbox);
  void on(NodeId from, RoundSlice slice, Moment moment, MessageOutbox& outbox);
  bool on(RangeRead& read, Moment moment, MessageOutbox& outbox);           // false: another's
  bool on(const ReplicaPutAck& ack, Moment moment, MessageOutbox& outbox);  // false: another's

  // A full round from `source` of everything both share has ended since then, in this epoch; for the closing
  // of lives. Nothing: none yet.
  std::optional<Time> last_complete(NodeId source) const;
  uint64_t lag_ms(Time now) const;
  void fail_all(const Status& why, MessageOutbox& outbox);
  size_t under_way() const;

 private:
  ConvergenceEnvironment& environment_;
};

}  // namespace ringkv
