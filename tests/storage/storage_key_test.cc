#include "storage/storage_key.h"

#include <gtest/gtest.h>

namespace ringkv {
namespace {

TEST(StorageKey, ComesApartAsItWasPutTogether) {
  const std::string key("\0k\xFF", 3);
  const std::string bytes = storage_key(0x0102030405060708ULL, "b", key);
  const std::optional<StorageKeyParts> parts = parse_storage_key(bytes);
  ASSERT_TRUE(parts.has_value());
  EXPECT_EQ(parts->token, 0x0102030405060708ULL);
  EXPECT_EQ(parts->bucket, "b");
  EXPECT_EQ(parts->key, key);
}

TEST(StorageKey, LiesInOrderOfToken) {
  EXPECT_LT(storage_key(1, "z", "z"), storage_key(2, "", "a"));
  EXPECT_LT(storage_key(0x7FFFFFFFFFFFFFFFULL, "", ""), storage_key(0x8000000000000000ULL, "", ""));
}

TEST(StorageKey, APartitionIsOneRange) {
  const uint32_t partitions = 16;
  for (Partition partition = 0; partition < partitions; ++partition) {
    const std::string first = storage_key(first_token_of(partition, partitions), "", "");
    const std::string last = storage_key(first_token_of(partition, partitions) + (~0ULL >> 4), "z", "\xFF");
    EXPECT_GE(first, first_storage_key(partition, partitions));
    const std::string end = end_storage_key(partition, partitions);
    EXPECT_TRUE(end.empty() || last < end) << partition;
    EXPECT_EQ(end.empty(), partition + 1 == partitions);
  }
}

TEST(StorageKey, WhatIsTooShortOrHasNoBucketEndIsRefused) {
  EXPECT_EQ(parse_storage_key("12345678"), std::nullopt);
  EXPECT_EQ(parse_storage_key("12345678bucket"), std::nullopt);
}

}  // namespace
}  // namespace ringkv
