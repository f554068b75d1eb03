// What the nodes' disks hold, once everything has converged: held against the ring, and against each other.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "replication/ring.h"
#include "storage/memory_engine.h"
#include "storage/record_store.h"
#include "tools/simulation/history.h"

namespace ringkv::simulation {

// What one node's disk holds.
struct NodeCopy {
  std::string name;
  NodeId node;
  const MemoryDisk* disk = nullptr;
  std::set<NodeId> once_members;  // hints for them find their way to the present owners
  std::set<Partition> former;     // not its own any more; what lies there goes when their owners have it
};

struct Convergent {
  const Ring* ring = nullptr;
  std::vector<NodeCopy> copies;  // of members that are there
  uint64_t now_ms = 0;           // since 1970
  // A value that expires within this time is not at rest yet.
  uint64_t expires_within_ms = 0;
};

// L2: no hints are left, but for members that are gone. I9: each node has only keys that it owns. L3: all
// owners hold the same keys, dots and values, but for keys of which nothing is live. And where all members
// are there, nothing is left of what was deleted or has expired for some time. The first that doesn't hold,
// of those that are as expected while things converge.
std::optional<Violation> check_copies(const Convergent& found);

// I9 alone, which holds at any time: keys of its own, or of former partitions; and no hints for itself or for
// those who were never members.
std::optional<Violation> check_keys_owned(const NodeCopy& copy, const Ring& ring);

// For whom the hints on a disk are, and where their keys lie.
struct KeptHint {
  NodeId intended;
  Token token = 0;
};
std::vector<KeptHint> kept_hints(const MemoryDisk& disk);

// I12: all that a record's context covers lies under the floor of the node that lets it go.
std::optional<Violation> check_erasure(const RecordStore& store, std::string_view storage_key,
                                       std::string_view record);

}  // namespace ringkv::simulation
