#include "storage/leaf_table.h"

namespace ringkv {
namespace {

Leaf total_of(const LeafPage& page) {
  Leaf total;
  for (const Leaf& leaf : page) {
    total.hash ^= leaf.hash;
    total.keys += leaf.keys;
    total.bytes += leaf.bytes;
  }
  return total;
}

}  // namespace

LeafId leaf_of(Token token, uint32_t partitions) {
  // Leaves cut the ring as partitions do, only finer.
  return partition_of(token, partitions * kLeavesPerPartition);
}

LeafTable::LeafTable(uint32_t partitions) : pages_(partitions) {}

Leaf& LeafTable::at(LeafId id) {
  std::unique_ptr<LeafPage>& page = pages_[id / kLeavesPerPartition];
  if (!page) page = std::make_unique<LeafPage>();
  return (*page)[id % kLeavesPerPartition];
}

const LeafPage* LeafTable::page(Partition partition) const { return pages_[partition].get(); }

void LeafTable::set_page(Partition partition, const LeafPage& page) {
  pages_[partition] = std::make_unique<LeafPage>(page);
}

Leaf LeafTable::partition_total(Partition partition) const {
  return pages_[partition] ? total_of(*pages_[partition]) : Leaf();
}

uint64_t LeafTable::keys() const {
  uint64_t keys = 0;
  for (const auto& page : pages_) keys += page ? total_of(*page).keys : 0;
  return keys;
}

uint64_t LeafTable::bytes() const {
  uint64_t bytes = 0;
  for (const auto& page : pages_) bytes += page ? total_of(*page).bytes : 0;
  return bytes;
}

}  // namespace ringkv
