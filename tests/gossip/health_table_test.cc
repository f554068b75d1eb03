#include "gossip/health_table.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace ringkv {
namespace {

using std::chrono::seconds;

constexpr NodeId kSelf{1};
constexpr NodeId kA{2};
constexpr NodeId kB{3};
constexpr NodeId kC{4};
constexpr NodeId kStranger{99};
constexpr Time kStart{seconds(100)};
constexpr Suspicion::Patience kPatience{.longest = seconds(2), .shortest = seconds(1), .confirmations = 3};

HealthTable table_of_four() {
  HealthTable table(kSelf, 7);
  table.set_members({kC, kA, kB});
  return table;
}

bool take(HealthTable& table, const HealthClaim& claim) { return table.take(claim, kPatience, kStart); }

const HealthClaim* find(const std::vector<HealthClaim>& claims, NodeId node) {
  const auto at = std::find_if(claims.begin(), claims.end(),
                               [node](const HealthClaim& claim) { return claim.node == node; });
  return at == claims.end() ? nullptr : &*at;
}

TEST(HealthTable, WhoIsNewIsAliveAndWhoIsNoMemberIsDown) {
  const HealthTable table = table_of_four();
  EXPECT_EQ(table.health(kA), Health::kAlive);
  EXPECT_EQ(table.health(kSelf), Health::kAlive);
  EXPECT_EQ(table.health(kStranger), Health::kDown);
  EXPECT_TRUE(table.down().empty());
}

TEST(HealthTable, ASuspicionThatNobodyRefutesEndsAsDown) {
  HealthTable table = table_of_four();
  take(table, {kA, 1, 0, Health::kSuspect, kB});
  EXPECT_EQ(table.health(kA), Health::kSuspect);

  table.expire(kStart + seconds(2) - Duration(1));
  EXPECT_EQ(table.health(kA), Health::kSuspect);
  table.expire(kStart + seconds(2));
  EXPECT_EQ(table.health(kA), Health::kDown);
  EXPECT_EQ(table.down(), std::vector<NodeId>{kA});
  EXPECT_EQ(table.downs(), 1U);
}

TEST(HealthTable, WhatOthersCallDownIsOnlySuspectedHere) {
  HealthTable table = table_of_four();
  take(table, {kA, 1, 0, Health::kDown, kB});
  EXPECT_EQ(table.health(kA), Health::kSuspect);
  take(table, {kA, 1, 0, Health::kDown, kC});
  table.expire(kStart + seconds(1) + std::chrono::milliseconds(500));
  EXPECT_EQ(table.health(kA), Health::kDown);
}

TEST(HealthTable, ALaterIncarnationRefutesAndAnEqualOneDoesNot) {
  HealthTable table = table_of_four();
  take(table, {kA, 1, 4, Health::kSuspect, kB});
  take(table, {kA, 1, 4, Health::kAlive, {}});
  EXPECT_EQ(table.health(kA), Health::kSuspect);
  take(table, {kA, 1, 5, Health::kAlive, {}});
  EXPECT_EQ(table.health(kA), Health::kAlive);

  take(table, {kA, 1, 4, Health::kDown, kB});
  EXPECT_EQ(table.health(kA), Health::kAlive);
}

TEST(HealthTable, ALaterIncarnationBringsBackWhoWasDown) {
  HealthTable table = table_of_four();
  take(table, {kA, 1, 0, Health::kSuspect, kB});
  table.expire(kStart + seconds(2));
  take(table, {kA, 1, 1, Health::kAlive, {}});
  EXPECT_EQ(table.health(kA), Health::kAlive);
  EXPECT_TRUE(table.down().empty());
}

TEST(HealthTable, ALaterGenerationStartsAnewHoweverFarItJumps) {
  HealthTable table = table_of_four();
  take(table, {kA, 3, 40, Health::kSuspect, kB});
  table.expire(kStart + seconds(2));
  take(table, {kA, uint64_t{1} << 60, 0, Health::kAlive, {}});
  EXPECT_EQ(table.health(kA), Health::kAlive);

  take(table, {kA, 3, 41, Health::kSuspect, kB});
  EXPECT_EQ(table.health(kA), Health::kAlive);
}

TEST(HealthTable, ANewLifeIsAliveAndTheSameOneIsNot) {
  HealthTable table = table_of_four();
  take(table, {kA, 3, 0, Health::kSuspect, kB});
  table.begin_life(kA, 3);
  EXPECT_EQ(table.health(kA), Health::kSuspect);
  table.begin_life(kA, 4);
  EXPECT_EQ(table.health(kA), Health::kAlive);
  EXPECT_TRUE(table.suspects().empty());
  table.begin_life(kStranger, 4);
  EXPECT_EQ(table.health(kStranger), Health::kDown);
}

TEST(HealthTable, AnAccusationOfThisNodeIsRefutedOnce) {
  HealthTable table = table_of_four();
  EXPECT_TRUE(take(table, {kSelf, 7, 5, Health::kSuspect, kB}));
  EXPECT_FALSE(take(table, {kSelf, 7, 5, Health::kDown, kC}));
  EXPECT_FALSE(take(table, {kSelf, 6, 9, Health::kDown, kC}));
  EXPECT_FALSE(take(table, {kSelf, 7, 9, Health::kAlive, {}}));

  EXPECT_EQ(table.claims_for(kA, {}).front(), (HealthClaim{kSelf, 7, 6, Health::kAlive, {}}));
  EXPECT_EQ(table.refutations(), 1U);
}

TEST(HealthTable, AnAccusationOfALaterLifeThanThisIsOutbid) {
  HealthTable table = table_of_four();
  EXPECT_TRUE(take(table, {kSelf, 9, 2, Health::kDown, kB}));
  EXPECT_EQ(table.claims_for(kA, {}).front(), (HealthClaim{kSelf, 9, 3, Health::kAlive, {}}));
}

TEST(HealthTable, AnIncarnationThatLeavesNoRoomForARefutationIsIgnored) {
  HealthTable table = table_of_four();
  EXPECT_FALSE(take(table, {kSelf, 7, ~uint64_t{0}, Health::kDown, kB}));
  take(table, {kA, 1, ~uint64_t{0}, Health::kDown, kB});
  EXPECT_EQ(table.health(kA), Health::kAlive);
}

TEST(HealthTable, ClaimsAboutStrangersAreNeitherTakenNorPassedOn) {
  HealthTable table = table_of_four();
  take(table, {kStranger, 1, 0, Health::kSuspect, kB});
  EXPECT_TRUE(table.suspects().empty());
  EXPECT_EQ(find(table.claims_for(kA, kStranger), kStranger), nullptr);
}

TEST(HealthTable, WhoIsNoLongerAMemberIsForgotten) {
  HealthTable table = table_of_four();
  take(table, {kA, 1, 3, Health::kSuspect, kB});
  table.expire(kStart + seconds(2));
  take(table, {kB, 1, 3, Health::kSuspect, kC});
  table.set_members({kC});
  EXPECT_TRUE(table.down().empty());
  EXPECT_TRUE(table.suspects().empty());
  EXPECT_EQ(table.claims_for(kC, {}).size(), 1U);

  table.set_members({kA, kC});
  EXPECT_EQ(table.health(kA), Health::kAlive);
}

TEST(HealthTable, OwnProbesMakeThisNodeTheAccuser) {
  HealthTable table = table_of_four();
  take(table, {kA, 1, 0, Health::kSuspect, kB});
  EXPECT_EQ(find(table.claims_for(kC, {}), kA)->accuser, kB);
  table.accuse(kA, kPatience, kStart);
  EXPECT_EQ(find(table.claims_for(kC, {}), kA)->accuser, kSelf);
  EXPECT_EQ(table.suspicions(), 1U);
}

TEST(HealthTable, ThirtyTwoClaimsLeaveTheLatestChangesFirst) {
  HealthTable table(kSelf, 7);
  std::vector<NodeId> members;
  for (uint64_t i = 0; i < 100; ++i) members.push_back({1000 + i});
  table.set_members(members);
  EXPECT_EQ(table.claims_for(members[0], {}).size(), 1U);  // nothing has changed yet
  for (const NodeId node : members) take(table, {node, 1, 0, Health::kAlive, {}});

  const std::vector<HealthClaim> claims = table.claims_for(kStranger, {});
  ASSERT_EQ(claims.size(), kClaimsMax);
  EXPECT_EQ(claims[0].node, kSelf);
  EXPECT_EQ(claims[1].node, members[99]);
  EXPECT_EQ(claims[31].node, members[69]);
}

TEST(HealthTable, TheReceiverHearsWhatIsHeldAgainstItHoweverOldThatIs) {
  HealthTable table(kSelf, 7);
  std::vector<NodeId> members;
  for (uint64_t i = 0; i < 100; ++i) members.push_back({1000 + i});
  table.set_members(members);
  take(table, {members[3], 1, 0, Health::kSuspect, kB});
  take(table, {members[4], 1, 0, Health::kSuspect, kB});
  table.expire(kStart + seconds(2));
  for (size_t i = 10; i < 100; ++i) take(table, {members[i], 1, 0, Health::kAlive, {}});

  const std::vector<HealthClaim> claims = table.claims_for(members[3], members[4]);
  EXPECT_EQ(claims.size(), kClaimsMax);
  EXPECT_EQ(claims[1], (HealthClaim{members[3], 1, 0, Health::kDown, kB}));
  EXPECT_EQ(claims[2], (HealthClaim{members[4], 1, 0, Health::kDown, kB}));
  EXPECT_EQ(find(table.claims_for(members[12], {}), members[12]), nullptr);  // it knows that best
}

}  // namespace
}  // namespace ringkv
