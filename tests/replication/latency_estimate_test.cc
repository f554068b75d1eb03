#include "replication/latency_estimate.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace ringkv {
namespace {

constexpr auto kMillisecond = std::chrono::milliseconds(1);

TEST(LatencyEstimate, RestsWhereOneInTwentyLiesAbove) {
  SeededRandom random(1);
  LatencyEstimate estimate;
  int above = 0;
  for (int i = 0; i < 20'000; ++i) {
    const Duration sample(1 + random.below(10'000));
    above += i >= 10'000 && sample > estimate.p95() ? 1 : 0;
    estimate.add(sample);
  }
  EXPECT_NEAR(above, 500, 100);
}

TEST(LatencyEstimate, FollowsANodeThatBecomesSlow) {
  LatencyEstimate estimate;
  for (int i = 0; i < 1000; ++i) estimate.add(kMillisecond);
  for (int i = 0; i < 40; ++i) estimate.add(20 * kMillisecond);
  EXPECT_GT(estimate.p95(), 15 * kMillisecond);
}

TEST(LatencyEstimate, OneSlowAnswerDoesNotMoveItFar) {
  LatencyEstimate estimate;
  for (int i = 0; i < 1000; ++i) estimate.add(kMillisecond);
  estimate.add(std::chrono::seconds(5));
  EXPECT_LT(estimate.p95(), 2 * kMillisecond);
}

}  // namespace
}  // namespace ringkv
