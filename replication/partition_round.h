// One partition pulled from one source: from the source's leaves to the floor that may be raised afterwards.
//
// Leaves that differ are looked at again 100 ms later, since they may differ only by writes under way; those
// that still do are opened. Where there is nothing of a leaf here, or little to fetch, its records come at
// once; else keys and dots come first, and then what is lacking. What this node has and the source doesn't
// list is superseded if it lies under the source's floor.
//
// Decides and sends nothing: says what to do next, and is told what came of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "replication/messages.h"

namespace ringkv {

class PartitionRound {
 public:
  static constexpr Duration kSecondLook = std::chrono::milliseconds(100);

  PartitionRound(NodeId source, Partition partition) : source_(source), partition_(partition) {}

  NodeId source() const { return source_; }
  Partition partition() const { return partition_; }

 private:
  NodeId source_;
  Partition partition_;
};

}  // namespace ringkv
