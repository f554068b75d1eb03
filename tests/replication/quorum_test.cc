#include "replication/quorum.h"

#include <gtest/gtest.h>

namespace ringkv {
namespace {

constexpr NodeId kA{1};
constexpr NodeId kB{2};
constexpr NodeId kC{3};

TEST(Quorum, IsReachedOnceEnoughDistinctNodesSucceed) {
  Quorum quorum({kA, kB, kC}, 2);
  quorum.on_success(kA);
  EXPECT_FALSE(quorum.reached());
  quorum.on_success(kC);
  EXPECT_TRUE(quorum.reached());
}

TEST(Quorum, ANodeThatAnswersTwiceCountsOnce) {
  Quorum quorum({kA, kB, kC}, 2);
  quorum.on_success(kA);
  quorum.on_success(kA);
  EXPECT_FALSE(quorum.reached());
}

TEST(Quorum, ANodeThatWasNotAskedDoesNotCount) {
  Quorum quorum({kA, kB}, 1);
  quorum.on_success(kC);
  EXPECT_FALSE(quorum.reached());
}

TEST(Quorum, IsImpossibleOnceTooManyHaveFailed) {
  Quorum quorum({kA, kB, kC}, 2);
  quorum.on_failure(kA);
  EXPECT_TRUE(quorum.possible());
  quorum.on_failure(kB);
  EXPECT_FALSE(quorum.possible());
}

TEST(Quorum, DefaultsToMoreThanHalf) {
  EXPECT_EQ(majority_of(1), 1U);
  EXPECT_EQ(majority_of(2), 2U);
  EXPECT_EQ(majority_of(3), 2U);
  EXPECT_EQ(majority_of(5), 3U);
}

}  // namespace
}  // namespace ringkv
