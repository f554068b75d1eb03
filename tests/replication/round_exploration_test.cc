#include "tests/replication/round_exploration.h"

#include <gtest/gtest.h>

namespace ringkv {
namespace {

RoundExploration::Counts explore(RoundExploration::Settings settings, uint64_t histories) {
  RoundExploration::Counts counts;
  for (uint64_t seed = 1; seed <= histories && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    settings.seed = seed;
    RoundExploration exploration(settings);
    exploration.run();
    counts += exploration.counts();
  }
  return counts;
}

// Histories must reach what they are about.
void expect_lively(const RoundExploration::Counts& counts, uint64_t histories) {
  EXPECT_GT(counts.acknowledged, 5 * histories);
  EXPECT_GT(counts.raised_on_the_way, 3 * histories);
  EXPECT_GT(counts.differences, 3 * histories);
  EXPECT_GT(counts.erased, histories);
  EXPECT_GT(counts.lives, histories / 2);
}

// Invariants I1 to I4, L3 and L4 under everything at once.
TEST(RoundExploration, LosesNothingAndRevivesNothing) {
  constexpr uint64_t kHistories = 2000;
  expect_lively(explore({}, kHistories), kHistories);
}

TEST(RoundExploration, LeavesNoTombstoneOnceEndedLivesAreClosed) {
  constexpr uint64_t kHistories = 1000;
  const RoundExploration::Counts counts = explore({.closes_lives = true}, kHistories);
  expect_lively(counts, kHistories);
  EXPECT_EQ(counts.tombstones_left, 0U);
}

}  // namespace
}  // namespace ringkv
