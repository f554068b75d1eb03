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

LeafTable::LeafTable(uint32_t partitions) : pages_(partitions), partition_hashes_(partitions) {}

Leaf LeafTable::at(LeafId id) const {
  const std::unique_ptr<LeafPage>& page = pages_[id / kLeavesPerPartition];
  return page ? (*page)[id % kLeavesPerPartition] : Leaf();
}

void LeafTable::set(LeafId id, const Leaf& leaf) {
  const Partition partition = id / kLeavesPerPartition;
  std::unique_ptr<LeafPage>& page = pages_[partition];
  if (!page) page = std::make_unique<LeafPage>();
  Leaf& old = (*page)[id % kLeavesPerPartition];
  partition_hashes_[partition] ^= old.hash;
  partition_hashes_[partition] ^= leaf.hash;
  old = leaf;
}

Hash128 LeafTable::hash_of(std::span<const Partition> partitions) const {
  Hash128 hash;
  for (const Partition partition : partitions) hash ^= partition_hashes_[partition];
  return hash;
}

const LeafPage* LeafTable::page(Partition partition) const { return pages_[partition].get(); }

void LeafTable::set_page(Partition partition, const LeafPage& page) {
  pages_[partition] = std::make_unique<LeafPage>(page);
  partition_hashes_[partition] = total_of(page).hash;
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
