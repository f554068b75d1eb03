// The leaves of all Merkle trees of a node: for each partition 256 (by the next 8 bits of the token), each
// the XOR of the hashes of its records, how many there are, and how many bytes. Loop thread.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/token.h"
#include "storage/record_hash.h"

namespace ringkv {

inline constexpr uint32_t kLeavesPerPartition = 256;

struct Leaf {
  Hash128 hash;
  uint64_t keys = 0;
  uint64_t bytes = 0;

  friend bool operator==(const Leaf&, const Leaf&) = default;
};

// partition * 256 + leaf in it.
using LeafId = uint32_t;
using LeafPage = std::array<Leaf, kLeavesPerPartition>;

LeafId leaf_of(Token token, uint32_t partitions);

// Pages are made when first touched: an idle node with 65,536 partitions takes next to no memory.
class LeafTable {
 public:
  explicit LeafTable(uint32_t partitions);

  Leaf at(LeafId id) const;
  // It will be changed soon: from memory to the processor's cache meanwhile.
  void prefetch(LeafId id) const {
    const LeafPage* page = pages_[id / kLeavesPerPartition].get();
    if (page != nullptr) __builtin_prefetch(&(*page)[id % kLeavesPerPartition]);
  }
  void set(LeafId id, const Leaf& leaf);
  const LeafPage* page(Partition partition) const;  // nullptr: all leaves are empty
  void set_page(Partition partition, const LeafPage& page);
  uint32_t partitions() const { return static_cast<uint32_t>(pages_.size()); }

  // The upper levels of the trees, kept as leaves change: XOR of hashes, sums of keys and bytes. A walk over
  // all leaves takes as long as a hundred requests.
  const Leaf& partition_total(Partition partition) const { return totals_[partition]; }
  const Hash128& partition_hash(Partition partition) const { return totals_[partition].hash; }
  Hash128 hash_of(std::span<const Partition> partitions) const;  // in any order
  uint64_t keys() const { return total_.keys; }
  uint64_t bytes() const { return total_.bytes; }

 private:
  void add_difference(Partition partition, Leaf before, const Leaf& after);

  std::vector<std::unique_ptr<LeafPage>> pages_;
  std::vector<Leaf> totals_;  // by partition
  Leaf total_;
};

}  // namespace ringkv
