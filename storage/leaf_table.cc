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

LeafTable::LeafTable(uint32_t partitions) : pages_(partitions), totals_(partitions) {}

Leaf LeafTable::at(LeafId id) const {
  const std::unique_ptr<LeafPage>& page = pages_[id / kLeavesPerPartition];
  return page ? (*page)[id % kLeavesPerPartition] : Leaf();
}

void LeafTable::set(LeafId id, const Leaf& leaf) {
  const Partition partition = id / kLeavesPerPartition;
  std::unique_ptr<LeafPage>& page = pages_[partition];
  if (!page) page = std::make_unique<LeafPage>();
  Leaf& old = (*page)[id % kLeavesPerPartition];
  add_difference(partition, old, leaf);
  old = leaf;
}

void LeafTable::add_difference(Partition partition, Leaf before, const Leaf& after) {
  for (Leaf* total : {&totals_[partition], &total_}) {
    total->hash ^= before.hash;
    total->hash ^= after.hash;
    total->keys += after.keys - before.keys;
    total->bytes += after.bytes - before.bytes;
  }
}

Hash128 LeafTable::hash_of(std::span<const Partition> partitions) const {
  Hash128 hash;
  for (const Partition partition : partitions) hash ^= totals_[partition].hash;
  return hash;
}

const LeafPage* LeafTable::page(Partition partition) const { return pages_[partition].get(); }

void LeafTable::set_page(Partition partition, const LeafPage& page) {
  pages_[partition] = std::make_unique<LeafPage>(page);
  add_difference(partition, totals_[partition], total_of(page));
}

}  // namespace ringkv
