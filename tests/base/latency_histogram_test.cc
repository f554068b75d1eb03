#include "ringkv/latency_histogram.h"

#include <gtest/gtest.h>

namespace ringkv {
namespace {

TEST(LatencyHistogram, OfNothingIsZero) { EXPECT_EQ(LatencyHistogram().quantile_us(0.99), 0U); }

TEST(LatencyHistogram, KeepsThreeDigitsOfEveryQuantile) {
  LatencyHistogram histogram;
  for (uint64_t us = 1; us <= 1'000'000; ++us) histogram.add(us);
  for (const double quantile : {0.001, 0.5, 0.95, 0.99, 0.999}) {
    const double exact = quantile * 1e6;
    EXPECT_NEAR(static_cast<double>(histogram.quantile_us(quantile)), exact, exact / 1000 + 1) << quantile;
  }
  EXPECT_EQ(histogram.quantile_us(1), 1'000'000U);
  EXPECT_EQ(histogram.max_us(), 1'000'000U);
  EXPECT_EQ(histogram.count(), 1'000'000U);
}

TEST(LatencyHistogram, AValueBeyondTheLastBucketIsKeptAsTheMaximum) {
  LatencyHistogram histogram;
  histogram.add(uint64_t{1} << 60);
  EXPECT_EQ(histogram.max_us(), uint64_t{1} << 60);
  EXPECT_GT(histogram.quantile_us(0.5), uint64_t{1} << 35);
}

TEST(LatencyHistogram, TwoMergedAreOneOfBoth) {
  LatencyHistogram low;
  LatencyHistogram high;
  for (int i = 0; i < 99; ++i) low.add(10);
  high.add(5000);
  low.merge(high);
  EXPECT_EQ(low.count(), 100U);
  EXPECT_EQ(low.quantile_us(0.99), 10U);
  EXPECT_EQ(low.max_us(), 5000U);
}

}  // namespace
}  // namespace ringkv
