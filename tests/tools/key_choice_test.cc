#include "tools/kvbench/key_choice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <vector>

namespace ringkv::tools {
namespace {

constexpr uint64_t kDraws = 1'000'000;
constexpr uint64_t kSeed = 42;

std::vector<uint64_t> draw(const Distribution& distribution, uint64_t keys) {
  KeyChoice choice(distribution);
  std::mt19937_64 random(kSeed);
  std::vector<uint64_t> counts(keys);
  for (uint64_t i = 0; i < kDraws; ++i) ++counts.at(choice.choose(keys, random));
  return counts;
}

// Chi-square of counts against expected shares, over its degrees of freedom: about 1 when they fit.
double misfit(const std::vector<uint64_t>& counts, const std::function<double(size_t)>& share) {
  double sum = 0;
  for (size_t key = 0; key < counts.size(); ++key) {
    const double expected = share(key) * static_cast<double>(kDraws);
    sum += std::pow(static_cast<double>(counts[key]) - expected, 2) / expected;
  }
  return sum / static_cast<double>(counts.size() - 1);
}

double share_of(uint64_t count) { return static_cast<double>(count) / static_cast<double>(kDraws); }

TEST(KeyChoice, UniformAsksForAllKeysAlike) {
  const std::vector<uint64_t> counts = draw({.kind = Distribution::Kind::kUniform}, 1000);

  EXPECT_LT(misfit(counts, [](size_t) { return 0.001; }), 1.2);
}

// What `misfit` is worth: it sees one key in a thousand that comes twice as often.
TEST(KeyChoice, ASkewIsSeen) {
  std::vector<uint64_t> counts = draw({.kind = Distribution::Kind::kUniform}, 1000);
  counts[7] *= 2;

  EXPECT_GT(misfit(counts, [](size_t) { return 0.001; }), 1.5);
}

TEST(KeyChoice, HotspotAsksForOneKeyAsOftenAsWasSaid) {
  const std::vector<uint64_t> counts = draw({.kind = Distribution::Kind::kHotspot, .hot_share = 0.2}, 1000);

  const auto share = [](size_t key) { return 0.8 / 1000 + (key == 0 ? 0.2 : 0); };
  EXPECT_LT(misfit(counts, share), 1.2);
}

TEST(KeyChoice, LatestAsksForTheLastKeyMost) {
  constexpr uint64_t kKeys = 1000;
  const std::vector<uint64_t> counts = draw({.kind = Distribution::Kind::kLatest}, kKeys);

  EXPECT_NEAR(share_of(counts[kKeys - 1]), 1 / zeta(kKeys), 0.002);
  EXPECT_NEAR(share_of(counts[kKeys - 2]), std::pow(2, -kZipfianTheta) / zeta(kKeys), 0.002);
  EXPECT_GT(counts[kKeys - 1], 50 * counts[0]);
}

TEST(KeyChoice, LatestFollowsKeysThatAreAdded) {
  KeyChoice choice({.kind = Distribution::Kind::kLatest});
  std::mt19937_64 random(kSeed);
  uint64_t last = 0;
  for (uint64_t keys = 1; keys <= kDraws / 10; ++keys) {
    const uint64_t key = choice.choose(keys, random);
    ASSERT_LT(key, keys);
    if (key == keys - 1) ++last;
  }

  // The mean of 1 / zeta(n) over these.
  EXPECT_NEAR(static_cast<double>(last) / (kDraws / 10), 0.085, 0.01);
}

// The hottest key's share is YCSB's, 1 / zeta(10^10, 0.99), however many keys there are.
TEST(KeyChoice, ZipfianHasTheHottestKeySomewhereAndThatOftenAsInYcsb) {
  for (const uint64_t keys : {1000, 100'000}) {
    const std::vector<uint64_t> counts = draw({.kind = Distribution::Kind::kZipfian}, keys);
    const auto hottest = std::max_element(counts.begin(), counts.end());

    EXPECT_NE(hottest, counts.begin());
    // What else falls on the same key is its even share of the rest.
    const double expected = 1 / 26.469 + (1 - 1 / 26.469) / static_cast<double>(keys);
    EXPECT_NEAR(share_of(*hottest), expected, 0.001) << keys;
  }
}

TEST(KeyChoice, OneKeyIsAllThereIs) {
  std::mt19937_64 random(kSeed);
  for (const auto kind : {Distribution::Kind::kUniform, Distribution::Kind::kZipfian,
                          Distribution::Kind::kLatest, Distribution::Kind::kHotspot}) {
    EXPECT_EQ(KeyChoice({.kind = kind, .hot_share = 0.5}).choose(1, random), 0U);
  }
}

}  // namespace
}  // namespace ringkv::tools
