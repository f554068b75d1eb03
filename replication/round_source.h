// The other end of other nodes' rounds: says what this node holds of what both own. Keeps nothing between two
// questions but reads under way.
//
// Digests and floors are read in one step of the loop, uncommitted writes included. Records are read from the
// disk, and a floor claims what is staged too: so a walk notes the floor, waits until all that was staged by
// then is committed, and only then reads. What it lists is then no earlier than its floor says.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "replication/convergence_environment.h"

namespace ringkv {

class RoundSource {
 public:
  static constexpr size_t kWalksMax = 64;  // under way; more: OVERLOADED

  explicit RoundSource(ConvergenceEnvironment& environment) : environment_(environment) {}

  void on(NodeId from, const RoundCompare& compare, MessageOutbox& outbox);
  void on(NodeId from, const RoundOpen& open, MessageOutbox& outbox);
  void on(NodeId from, RoundWalk walk, MessageOutbox& outbox);
  bool on(RangeRead& read, MessageOutbox& outbox);  // false: another's
  void on_committed(BatchNumber batch, MessageOutbox& outbox);

  size_t under_way() const { return walks_.size(); }

 private:
  struct Walk {
    NodeId from;
    RoundWalk asked;
    Floor floor;
    std::vector<Actor> closed;
    uint64_t drops = 0;
  };

  bool serves(Partition partition) const;
  Status check_served(Partition partition) const;
  void add_digests(const std::vector<Partition>& shared, RoundDigests& reply) const;
  Status check_keys(const RoundWalk& walk) const;
  void read(uint64_t ticket, MessageOutbox& outbox);
  SharedBytes filled(const std::string& bytes) const;

  ConvergenceEnvironment& environment_;
  std::unordered_map<uint64_t, Walk> walks_;      // by ticket
  std::multimap<BatchNumber, uint64_t> waiting_;  // tickets of walks that wait for a commit
};

// The partitions that both nodes own, in order.
std::vector<Partition> shared_partitions(const RingView& view, NodeId a, NodeId b);

}  // namespace ringkv
