// What rounds send, at a scale where it can be told from what there is: no time is measured here
// (tests/bench/rounds_bench.cc does).
#include "tests/replication/round_bytes.h"

#include <gtest/gtest.h>

#include "tests/replication/round_scale.h"

namespace ringkv {
namespace {

constexpr uint64_t kKeys = 20'000;
constexpr size_t kValueBytes = 100;
constexpr uint32_t kPartitions = 1024;
constexpr size_t kKiB = 1024;

RoundFixture::Settings settings() {
  return {.nodes = 2, .round_interval = Duration(), .partitions = kPartitions};
}

TEST(RoundBytes, OfEqualNodesAreLessThanAKibibyte) {
  RoundScale scale(settings());
  scale.load(0, kKeys, kValueBytes, {1, 2});
  EXPECT_EQ(scale.repair().differences, 0U);
  EXPECT_EQ(scale.letters, 2U);
  EXPECT_LT(scale.bytes, kKiB);
}

TEST(RoundBytes, GrowWithTheDifferencesNotWithTheData) {
  RoundScale scale(settings());
  scale.load(0, kKeys, kValueBytes, {1, 2});
  scale.repair();

  scale.load(17, 1, kValueBytes, {1});
  EXPECT_EQ(scale.repair().differences, 1U);
  const size_t of_one = scale.bytes;
  EXPECT_LT(of_one, 16 * kKiB);

  for (uint64_t i = 0; i < 50; ++i) scale.load(i * 399, 1, kValueBytes, {1});
  const RepairReport report = scale.repair();
  EXPECT_EQ(report.differences, 50U);
  EXPECT_EQ(report.keys_sent, 50U);
  EXPECT_LT(scale.bytes, 50 * of_one);
}

TEST(RoundBytes, OfMissingKeysAreMostlyThoseKeys) {
  RoundScale scale(settings());
  scale.load(0, kKeys, kValueBytes, {1, 2});
  scale.repair();
  scale.load(kKeys, 2000, 1000, {1});
  const RepairReport report = scale.repair();
  EXPECT_EQ(report.keys_sent, 2000U);
  EXPECT_LT(scale.bytes, 2 * report.bytes_sent);
}

TEST(RoundBytes, OfARefillAreTheDataOnce) {
  RoundScale scale(settings());
  scale.load(0, kKeys, kValueBytes, {1});
  const RepairReport report = scale.repair();
  EXPECT_EQ(report.keys_sent, kKeys);
  EXPECT_EQ(report.differences, kKeys);
  // A record is its key, its value and some 80 bytes; its leaf's digest comes to 33 more at one key a leaf.
  EXPECT_LT(scale.bytes, kKeys * (kValueBytes + 260));
  EXPECT_EQ(scale.cluster.node(2).store->leaves().keys(), kKeys);
  EXPECT_EQ(scale.repair().differences, 0U);
  EXPECT_EQ(scale.letters, 2U);
}

}  // namespace
}  // namespace ringkv
