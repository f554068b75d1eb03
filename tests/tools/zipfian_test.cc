#include "tools/kvbench/zipfian.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>
#include <vector>

namespace ringkv::tools {
namespace {

double summed(uint64_t items) {
  double sum = 0;
  for (uint64_t item = 1; item <= items; ++item) sum += std::pow(static_cast<double>(item), -kZipfianTheta);
  return sum;
}

TEST(Zipfian, ZetaIsTheSumWhereItIsntSummedToo) {
  for (const uint64_t items : {1, 2, 9'999, 10'000, 10'001, 20'000, 1'000'000})
    EXPECT_NEAR(zeta(items), summed(items), 1e-8) << items;
}

// The constant in YCSB's ScrambledZipfianGenerator.
TEST(Zipfian, ZetaOfTenBillionIsYcsbs) { EXPECT_NEAR(zeta(10'000'000'000), 26.46902820178302, 1e-6); }

// Gray's inverse is exact for the first two ranks and approximate behind them.
TEST(Zipfian, RanksComeUpInProportionToTheirPower) {
  constexpr uint64_t kItems = 10'000;
  constexpr int kDraws = 1'000'000;
  const ZipfianRanks ranks(kItems);
  std::mt19937_64 random(42);
  std::vector<int> counts(kItems);
  for (int i = 0; i < kDraws; ++i) ++counts.at(ranks.rank(static_cast<double>(random() >> 11) * 0x1.0p-53));

  for (const size_t rank : {0, 1}) {
    const double expected = std::pow(static_cast<double>(rank + 1), -kZipfianTheta) / zeta(kItems);
    EXPECT_NEAR(static_cast<double>(counts[rank]) / kDraws, expected, 0.001) << rank;
  }
  for (const size_t first : {10, 100, 1000}) {
    const double among_first =
        std::accumulate(counts.begin(), counts.begin() + static_cast<ptrdiff_t>(first), 0.0);
    EXPECT_NEAR(among_first / kDraws, zeta(first) / zeta(kItems), 0.03) << first;
  }
}

TEST(Zipfian, ARankIsAlwaysOneOfTheItems) {
  for (const uint64_t items : {1, 2, 3, 10}) {
    const ZipfianRanks ranks(items);
    for (const double unit : {0.0, 0.5, 0.999, std::nextafter(1.0, 0.0)}) EXPECT_LT(ranks.rank(unit), items);
  }
}

}  // namespace
}  // namespace ringkv::tools
