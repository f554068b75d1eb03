#include "gossip/cluster_clock.h"

#include <gtest/gtest.h>

namespace ringkv {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr NodeId kA{1};
constexpr NodeId kB{2};
constexpr NodeId kC{3};
constexpr NodeId kStranger{99};
constexpr WallMicros kNoon = 1'700'000'000'000'000;
constexpr int64_t kSecond = 1'000'000;
constexpr int64_t kTenDays = 10 * 24 * 3600 * kSecond;

constexpr WallMicros ahead(int64_t micros) {
  return static_cast<WallMicros>(static_cast<int64_t>(kNoon) + micros);
}

struct Fixture {
  explicit Fixture(const std::vector<NodeId>& others) { clock.set_members(others); }
  int64_t correction(WallMicros own = kNoon) const { return clock.correction_micros(own, now); }

  Time now{seconds(1000)};
  ClusterClock clock;
};

// Everything would count as expired on the node whose clock has jumped.
TEST(ClusterClock, TheOneThatIsTenDaysAheadIsPutBackAndTheOthersStay) {
  Fixture jumped({kB, kC});
  jumped.clock.on_heard(kB, kNoon, jumped.now);
  jumped.clock.on_heard(kC, kNoon, jumped.now);
  EXPECT_EQ(jumped.correction(ahead(kTenDays)), -kTenDays);

  Fixture other({kA, kC});
  other.clock.on_heard(kA, ahead(kTenDays), other.now);
  other.clock.on_heard(kC, kNoon, other.now);
  EXPECT_EQ(other.correction(), 0);
  EXPECT_EQ(other.clock.offset_micros(kA, kNoon, other.now), kTenDays);
}

// The readings are those from before the jump.
TEST(ClusterClock, SeesAJumpOfTheOwnClockBeforeAnybodyIsHeardAgain) {
  Fixture fixture({kB, kC});
  fixture.clock.on_heard(kB, kNoon, fixture.now);
  fixture.clock.on_heard(kC, kNoon, fixture.now);
  EXPECT_EQ(fixture.correction(), 0);

  fixture.now += milliseconds(10);
  EXPECT_EQ(fixture.correction(ahead(kTenDays + 10'000)), -kTenDays);
}

TEST(ClusterClock, WithinTheBoundTheOwnClockIsRight) {
  Fixture fixture({kB, kC});
  for (const NodeId node : {kB, kC}) fixture.clock.on_heard(node, ahead(5 * kSecond), fixture.now);
  EXPECT_EQ(fixture.correction(), 0);
  for (const NodeId node : {kB, kC}) fixture.clock.on_heard(node, ahead(5 * kSecond + 1), fixture.now);
  EXPECT_EQ(fixture.correction(), 5 * kSecond + 1);
}

TEST(ClusterClock, TwoMembersAgreeOnTheEarlierClock) {
  Fixture behind({kB});
  behind.clock.on_heard(kB, ahead(kTenDays), behind.now);
  EXPECT_EQ(behind.correction(), 0);

  Fixture before({kA});
  before.clock.on_heard(kA, kNoon, before.now);
  EXPECT_EQ(before.correction(ahead(kTenDays)), -kTenDays);
}

TEST(ClusterClock, NothingIsCorrectedByAMinority) {
  Fixture fixture({kA, kB, kC, NodeId{4}});
  fixture.clock.on_heard(kA, ahead(kTenDays), fixture.now);
  EXPECT_FALSE(fixture.clock.heard_majority(fixture.now));
  EXPECT_EQ(fixture.correction(), 0);

  fixture.clock.on_heard(kB, ahead(kTenDays), fixture.now);
  EXPECT_TRUE(fixture.clock.heard_majority(fixture.now));
  EXPECT_EQ(fixture.correction(), kTenDays);
}

TEST(ClusterClock, OfAnEvenNumberNoMajorityIsHalf) {
  Fixture fixture({kA, kB, kC});
  fixture.clock.on_heard(kA, kNoon, fixture.now);
  EXPECT_FALSE(fixture.clock.heard_majority(fixture.now));
  fixture.clock.on_heard(kB, kNoon, fixture.now);
  EXPECT_TRUE(fixture.clock.heard_majority(fixture.now));
}

TEST(ClusterClock, WhoIsAloneIsTheMajority) {
  Fixture fixture({});
  EXPECT_TRUE(fixture.clock.heard_majority(fixture.now));
  EXPECT_EQ(fixture.correction(), 0);
}

TEST(ClusterClock, WhoWasNotHeardForAMinuteDoesNotCount) {
  Fixture fixture({kB, kC});
  fixture.clock.on_heard(kB, ahead(kTenDays), fixture.now);
  fixture.now += ClusterClock::kHeardWithin;
  EXPECT_TRUE(fixture.clock.heard_majority(fixture.now));
  fixture.now += milliseconds(1);
  EXPECT_FALSE(fixture.clock.heard_majority(fixture.now));
  EXPECT_FALSE(fixture.clock.offset_micros(kB, kNoon, fixture.now).has_value());
}

TEST(ClusterClock, StrangersAndThoseWhoHaveLeftDoNotCount) {
  Fixture fixture({kB, kC});
  fixture.clock.on_heard(kStranger, kNoon, fixture.now);
  EXPECT_FALSE(fixture.clock.heard_majority(fixture.now));

  fixture.clock.on_heard(kB, kNoon, fixture.now);
  fixture.clock.set_members({kC, kStranger});
  EXPECT_FALSE(fixture.clock.offset_micros(kB, kNoon, fixture.now).has_value());
  EXPECT_FALSE(fixture.clock.heard_majority(fixture.now));
}

TEST(ClusterClock, WhatCannotBeATimeIsNoReading) {
  Fixture fixture({kB});
  fixture.clock.on_heard(kB, 0, fixture.now);
  fixture.clock.on_heard(kB, ~WallMicros{0}, fixture.now);
  EXPECT_FALSE(fixture.clock.offset_micros(kB, kNoon, fixture.now).has_value());
}

}  // namespace
}  // namespace ringkv
