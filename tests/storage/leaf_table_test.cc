#include "storage/leaf_table.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace ringkv {
namespace {

Leaf leaf(uint64_t hash, uint64_t keys, uint64_t bytes) {
  return {.hash = {.low = hash, .high = ~hash}, .keys = keys, .bytes = bytes};
}

TEST(LeafTable, ALeafIsTheTokensNextBitsAfterThePartition) {
  EXPECT_EQ(leaf_of(0, 4096), 0U);
  EXPECT_EQ(leaf_of(~0ULL, 4096), 4096U * 256 - 1);
  EXPECT_EQ(leaf_of(0xABCDE00000000000ULL, 4096), 0xABCU * 256 + 0xDE);
  EXPECT_EQ(leaf_of(0xABCDEFFFFFFFFFFFULL, 4096), 0xABCU * 256 + 0xDE);
  EXPECT_EQ(leaf_of(0xABCDEF0000000000ULL, 65536), 0xABCDU * 256 + 0xEF);
  EXPECT_EQ(leaf_of(0xABCDEF0000000000ULL, 1), 0xABU);
  for (const Token token : {0x0123456789ABCDEFULL, 0xFEDCBA9876543210ULL}) {
    for (uint32_t partitions = 1; partitions <= 65536; partitions *= 2) {
      EXPECT_EQ(leaf_of(token, partitions) / kLeavesPerPartition, partition_of(token, partitions));
    }
  }
}

TEST(LeafTable, PagesAreMadeWhenTouched) {
  LeafTable leaves(8);
  EXPECT_EQ(leaves.partitions(), 8U);
  EXPECT_EQ(leaves.page(3), nullptr);
  leaves.set(3 * 256 + 255, leaf(1, 2, 3));
  ASSERT_NE(leaves.page(3), nullptr);
  EXPECT_EQ((*leaves.page(3))[255], leaf(1, 2, 3));
  EXPECT_EQ((*leaves.page(3))[0], Leaf());
  EXPECT_EQ(leaves.page(2), nullptr);
  EXPECT_EQ(leaves.page(4), nullptr);
}

TEST(LeafTable, AddsUpPartitionsAndAll) {
  LeafTable leaves(8);
  leaves.set(256, leaf(0b0110, 1, 10));
  leaves.set(257, leaf(0b0011, 2, 20));
  LeafPage page;
  page[7] = leaf(5, 4, 40);
  leaves.set_page(7, page);
  EXPECT_EQ(leaves.partition_total(0), Leaf());
  EXPECT_EQ(leaves.partition_total(1),
            (Leaf{.hash = {.low = 0b0101, .high = 0b0101}, .keys = 3, .bytes = 30}));
  EXPECT_EQ(leaves.partition_total(7), leaf(5, 4, 40));
  EXPECT_EQ(leaves.keys(), 7U);
  EXPECT_EQ(leaves.bytes(), 70U);
}

Leaf sum_of(const LeafTable& leaves, Partition first, Partition end) {
  Leaf sum;
  for (LeafId id = first * 256; id < end * 256; ++id) {
    sum.hash ^= leaves.at(id).hash;
    sum.keys += leaves.at(id).keys;
    sum.bytes += leaves.at(id).bytes;
  }
  return sum;
}

TEST(LeafTable, KeepsTheTotalsOfEachPartitionAndOfAllAsLeavesChange) {
  LeafTable leaves(8);
  EXPECT_EQ(leaves.partition_hash(3), Hash128());
  SeededRandom random(1);
  for (int i = 0; i < 2000; ++i) {
    const auto partition = static_cast<Partition>(random.below(8));
    if (random.one_in(50)) {
      LeafPage page;
      page[random.below(256)] = leaf(random.next(), random.below(9), random.below(99));
      leaves.set_page(partition, page);
    } else {
      const Leaf changed = random.one_in(4) ? Leaf() : leaf(random.next(), random.below(9), random.below(99));
      leaves.set(partition * 256 + static_cast<LeafId>(random.below(256)), changed);
    }
    ASSERT_EQ(leaves.partition_total(partition), sum_of(leaves, partition, partition + 1));
    ASSERT_EQ(leaves.partition_hash(partition), leaves.partition_total(partition).hash);
    const Leaf all = sum_of(leaves, 0, 8);
    ASSERT_EQ(leaves.keys(), all.keys);
    ASSERT_EQ(leaves.bytes(), all.bytes);
  }
}

TEST(LeafTable, TheHashOfManyPartitionsIsThatOfAllTheirLeaves) {
  LeafTable leaves(8), other(8);
  leaves.set(1 * 256, leaf(0b0110, 1, 10));
  leaves.set(5 * 256 + 9, leaf(0b0011, 2, 20));
  leaves.set(7 * 256, leaf(0b1000, 2, 20));
  const std::vector<Partition> shared{1, 5}, reversed{5, 1}, more{1, 5, 6};
  EXPECT_EQ(leaves.hash_of(shared), (Hash128{.low = 0b0101, .high = 0b0101}));
  EXPECT_EQ(leaves.hash_of(reversed), leaves.hash_of(shared));
  EXPECT_EQ(leaves.hash_of(more), leaves.hash_of(shared));
  EXPECT_EQ(leaves.hash_of({}), Hash128());

  other.set(1 * 256, leaf(0b0110, 1, 10));
  EXPECT_NE(other.hash_of(shared), leaves.hash_of(shared));
  other.set(5 * 256 + 9, leaf(0b0011, 2, 20));
  EXPECT_EQ(other.hash_of(shared), leaves.hash_of(shared));  // whatever lies elsewhere
}

}  // namespace
}  // namespace ringkv
