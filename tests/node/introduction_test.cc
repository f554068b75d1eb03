#include "node/introduction.h"

#include <gtest/gtest.h>

#include <optional>

namespace ringkv {
namespace {

constexpr NodeId kFirst{1};
constexpr NodeId kSecond{2};

struct Start {
  void begin(const std::vector<NodeId>& members, size_t seeds) {
    introduction.begin(members, seeds, Time(std::chrono::seconds(3)),
                       [this](Status status) { ended = std::move(status); });
  }

  Introduction introduction;
  std::optional<Status> ended;
};

TEST(Introduction, WhoIsAloneServesAtOnce) {
  Start start;
  start.begin({}, 0);
  ASSERT_TRUE(start.ended.has_value());
  EXPECT_TRUE(start.ended->ok());
}

TEST(Introduction, EndsWhenEachMemberHasWelcomedOrCannotBeReached) {
  Start start;
  start.begin({kFirst, kSecond}, 0);
  start.introduction.on_failed(kFirst);
  EXPECT_FALSE(start.ended.has_value());
  start.introduction.on_welcomed(kSecond);
  ASSERT_TRUE(start.ended.has_value());
  EXPECT_TRUE(start.ended->ok());
}

// A copy of a running node would serve until its second greeting is judged.
TEST(Introduction, AMemberThatWantsALaterGenerationIsWaitedFor) {
  Start start;
  start.begin({kFirst}, 0);
  start.introduction.on_behind(kFirst);
  start.introduction.on_failed(kFirst);
  EXPECT_FALSE(start.ended.has_value());
  start.introduction.end(forbidden("it runs already"));
  EXPECT_EQ(start.ended->code(), StatusCode::kForbidden);
}

TEST(Introduction, TheLatestRingThatAnyOfThemHoldsIsWaitedFor) {
  Start start;
  start.introduction.on_ring_held({1, 7});
  start.begin({kFirst}, 0);
  start.introduction.on_ring_heard({1, 8});
  start.introduction.on_welcomed(kFirst);
  start.introduction.tick(Time());
  EXPECT_FALSE(start.ended.has_value());
  start.introduction.on_ring_held({1, 8});
  EXPECT_FALSE(start.ended.has_value());
  start.introduction.tick(Time());
  EXPECT_TRUE(start.ended.has_value());
}

TEST(Introduction, WhoMeetsOnlyAnotherClusterIsToldSo) {
  Start start;
  start.begin({}, 2);
  start.introduction.on_foreign_seed(forbidden("another cluster"));
  EXPECT_FALSE(start.ended.has_value());
  start.introduction.on_seed(false);
  EXPECT_EQ(start.ended->code(), StatusCode::kForbidden);
}

TEST(Introduction, OneSeedOfAnotherClusterDoesNotKeepAMemberOut) {
  Start start;
  start.begin({kFirst}, 2);
  start.introduction.on_foreign_seed(forbidden("another cluster"));
  start.introduction.on_seed(true);
  start.introduction.on_failed(kFirst);
  ASSERT_TRUE(start.ended.has_value());
  EXPECT_TRUE(start.ended->ok());
}

TEST(Introduction, SilenceIsWaitedForNoLongerThanItsTime) {
  Start start;
  start.begin({kFirst}, 1);
  start.introduction.tick(Time(std::chrono::seconds(2)));
  EXPECT_FALSE(start.ended.has_value());
  start.introduction.tick(Time(std::chrono::seconds(3)));
  ASSERT_TRUE(start.ended.has_value());
  EXPECT_TRUE(start.ended->ok());
}

}  // namespace
}  // namespace ringkv
