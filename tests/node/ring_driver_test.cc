#include "node/ring_driver.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/replication/cluster_fixture.h"

namespace ringkv {
namespace {

using std::chrono::seconds;

// n4 is to take n3's partitions; n5 is leaving already and has none. N = 3.
class RingDriverTest : public testing::Test {
 protected:
  RingDriverTest() {
    description_ = ClusterFixture::description(5, 3);
    for (uint16_t& owner : description_.owners) owner = static_cast<uint16_t>(owner % 3);
    description_.members[4].status = MemberStatus::kLeaving;
    description_.members[4].voter = false;
    description_.epoch = 7;
    description_.change = {.members = description_.members, .owners = description_.owners, .replicas = 3};
    for (uint16_t& owner : description_.change->owners) owner = owner == 2 ? 3 : owner;
    for (uint64_t node = 1; node <= 5; ++node) states_[NodeId{node}] = {.node = NodeId{node}, .epoch = 7};
  }

  // What n1 would do at the start of its turn; "": nothing.
  std::string step(std::vector<NodeId> unreachable = {}, NodeId self = NodeId{1}, Time now = kStart) {
    RingDriver driver;
    return step(driver, std::move(unreachable), self, now, /*anew=*/true);
  }
  std::string step(RingDriver& driver, std::vector<NodeId> unreachable, NodeId self, Time now,
                   bool anew = false) {
    const Ring ring(description_);
    RingView view(self, ring, &token_of);
    view.set_view({.unreachable = std::move(unreachable)});
    if (anew) driver.set_ring(view, kStart);
    const std::optional<RingDriver::Step> step = driver.next(
        view,
        [this](NodeId node) {
          const auto at = states_.find(node);
          return at == states_.end() ? nullptr : &at->second;
        },
        now);
    if (step) edited_ = step->edit(description_);
    return step ? step->what : "";
  }

  static constexpr Time kStart{seconds(100)};

  RingDescription description_;
  std::map<NodeId, PeerState> states_;
  Result<RingDescription> edited_ = RingDescription();
};

TEST_F(RingDriverTest, SwitchesOnceAllThatGainPartitionsAreReady) {
  EXPECT_EQ(step(), "");
  states_[NodeId{4}].ready_epoch = 6;
  EXPECT_EQ(step(), "") << "that was another change";
  states_[NodeId{4}].ready_epoch = 7;
  EXPECT_EQ(step(), "gets are switched to the next owners");
  EXPECT_TRUE(edited_->change->switched);
  states_.erase(NodeId{4});
  EXPECT_EQ(step(), "");
}

TEST_F(RingDriverTest, FinishesOnceAllThatAreUpHaveSwitched) {
  description_.change->switched = true;
  EXPECT_EQ(step(), "the change of the ring is finished");
  EXPECT_FALSE(edited_->change.has_value());
  states_[NodeId{2}].epoch = 6;
  EXPECT_EQ(step(), "");
  EXPECT_EQ(step({NodeId{2}}), "the change of the ring is finished") << "two of three present owners have";
  states_[NodeId{3}].epoch = 6;
  EXPECT_EQ(step({NodeId{2}, NodeId{3}}), "") << "the two could still answer a get by the begun ring";
}

TEST_F(RingDriverTest, RemovesALeaverThatHasNothingToGive) {
  description_.owners = description_.change->owners;
  description_.change.reset();
  states_[NodeId{5}].hints = 1;
  EXPECT_EQ(step(), "");
  states_[NodeId{5}].hints = 0;
  states_[NodeId{5}].former_untaken = 1;
  EXPECT_EQ(step(), "");
  states_[NodeId{5}].former_untaken = 0;
  EXPECT_EQ(step({NodeId{5}}), "") << "what it says may be old";
  EXPECT_EQ(step(), "n5 has left");
  EXPECT_EQ(edited_->find_member("n5"), nullptr);
}

TEST_F(RingDriverTest, GivesAVoteToWhoHasAllItsCopies) {
  description_.open = true;
  description_.owners = description_.change->owners;
  description_.change.reset();
  description_.members[4].status = MemberStatus::kNormal;
  states_[NodeId{5}].incomplete_partitions = 1;
  EXPECT_EQ(step(), "");
  states_[NodeId{5}].incomplete_partitions = 0;
  EXPECT_EQ(step({NodeId{5}}), "");
  EXPECT_EQ(step(), "n5 votes from now on");
  EXPECT_TRUE(edited_->find_member("n5")->voter);
  description_.plan.emplace();
  EXPECT_EQ(step(), "") << "a plan is meant for its epoch";
}

TEST_F(RingDriverTest, GivesUpOnWhoIsUnreachableForTooLongBeforeTheSwitch) {
  RingDriver driver;
  const std::vector<NodeId> gone = {NodeId{4}};
  EXPECT_EQ(step(driver, gone, NodeId{1}, kStart, /*anew=*/true), "");
  const Time later = kStart + RingDriver::kGivenUpAfter - seconds(1);
  EXPECT_EQ(step(driver, gone, NodeId{1}, later), "");
  EXPECT_EQ(step(driver, {}, NodeId{1}, later), "") << "it is back, and its time begins anew";
  EXPECT_EQ(step(driver, gone, NodeId{1}, later), "");
  bool cancels = false;
  for (int turn = 0; turn < 4; ++turn) {
    cancels =
        cancels ||
        !step(driver, gone, NodeId{1}, later + RingDriver::kGivenUpAfter + turn * RingDriver::kTurn).empty();
  }
  EXPECT_TRUE(cancels);
  EXPECT_FALSE(edited_->change.has_value());
}

// It will never say anything.
TEST_F(RingDriverTest, RemovesALostLeaverAtOnceAndCountsNoLostOwner) {
  description_.change->switched = true;
  for (std::vector<Member>* members : {&description_.members, &description_.change->members}) {
    for (const size_t lost : {1U, 2U}) {
      (*members)[lost].lost = true;
      (*members)[lost].voter = false;
    }
  }
  const std::vector<NodeId> gone = {NodeId{2}, NodeId{3}, NodeId{5}};
  EXPECT_EQ(step(gone), "the change of the ring is finished") << "one of three present owners has switched";
  description_.owners = description_.change->owners;
  description_.change.reset();
  EXPECT_EQ(step(gone), "") << "n5 may have something to give";
  description_.members[4].lost = true;
  EXPECT_EQ(step(gone), "n5 was declared lost");
}

// Five members, all of them voters, and three copies.
class AbsentMembers : public RingDriverTest {
 protected:
  AbsentMembers() {
    description_.open = true;
    description_.change.reset();
    description_.members[4].status = MemberStatus::kNormal;
    description_.members[4].voter = true;
    description_ = stepped(description_, 7);
  }

  static RingDescription stepped(RingDescription ring, uint64_t epoch) {
    ring.epoch = epoch;
    const auto decoded = decode_ring_description(encode_ring_description(ring));
    EXPECT_TRUE(decoded.ok()) << decoded.status().message();
    return *decoded;
  }

  void give_up(const std::vector<uint64_t>& by, const std::vector<NodeId>& whom) {
    for (const uint64_t node : by) states_[NodeId{node}].given_up = whom;
  }

  const std::vector<NodeId> gone_ = {NodeId{5}};
};

TEST_F(AbsentMembers, OneThatAMajorityGivesUpLeaves) {
  give_up({1, 2}, gone_);
  EXPECT_EQ(step(gone_), "") << "two of five voters";
  give_up({3}, gone_);
  EXPECT_EQ(step({}), "") << "it is back";
  EXPECT_EQ(step({NodeId{3}, NodeId{5}}), "") << "what n3 says may be old";
  EXPECT_EQ(step(gone_, NodeId{4}, kStart + 3 * RingDriver::kTurn), "") << "n4 hasn't given it up";
  EXPECT_EQ(
      step(gone_),
      "n5 leaves, since a majority of the voters has not reached it for their --auto-remove-after: n1, n2 "
      "and n3");
  ASSERT_TRUE(edited_.ok());
  EXPECT_TRUE(edited_->change.has_value());
  EXPECT_EQ(edited_->find_member("n5")->status, MemberStatus::kLeaving);
  EXPECT_EQ(edited_->auto_removed, 0U) << "it may be cancelled yet";
}

TEST_F(AbsentMembers, NobodyLeavesWhileAPlanIsDrafted) {
  give_up({1, 2, 3}, gone_);
  description_.plan.emplace();
  EXPECT_EQ(step(gone_), "");
}

// Who is absent and stays would be given what the other one leaves.
TEST_F(AbsentMembers, AllOfThemGoTogether) {
  for (size_t i = 0; i < description_.owners.size(); ++i)
    description_.owners[i] = static_cast<uint16_t>(i % 5);
  const std::vector<NodeId> gone = {NodeId{4}, NodeId{5}};
  give_up({1, 2, 3}, gone);
  EXPECT_EQ(step(gone), "") << "some keys have two of their three owners there";
  description_.members[4].rack = description_.members[3].rack;
  EXPECT_TRUE(step(gone).starts_with("n4 and n5 leave, ")) << step(gone);
  ASSERT_TRUE(edited_.ok());
  EXPECT_EQ(edited_->find_member("n4")->status, MemberStatus::kLeaving);
  EXPECT_EQ(edited_->find_member("n5")->status, MemberStatus::kLeaving);

  give_up({1, 2, 3}, gone_);
  EXPECT_EQ(step(gone), "") << "n4 may be back any moment";
}

TEST_F(AbsentMembers, AreCountedAsTheyAreRemoved) {
  give_up({1, 2, 3}, gone_);
  description_.members[4].status = MemberStatus::kLeaving;
  for (uint16_t& owner : description_.owners) owner = static_cast<uint16_t>(owner % 4);
  EXPECT_EQ(step(gone_), "n5 was leaving, and has been unreachable for too long");
  ASSERT_TRUE(edited_.ok());
  EXPECT_EQ(edited_->auto_removed, 1U);
  EXPECT_EQ(stepped(*edited_, 8).auto_removed, 1U);
}

// What was begun for an absent one is never switched while a copy lies unpulled where owners are lost.
TEST_F(RingDriverTest, WhatFormerOwnersHaveIsTakenBeforeTheSwitchWhereOwnersAreLost) {
  for (uint64_t node = 1; node <= 5; ++node) states_[NodeId{node}].ready_epoch = 7;
  states_[NodeId{2}].former_untaken = 1;
  EXPECT_EQ(step(), "gets are switched to the next owners");
  description_.members[2].lost = true;
  description_.members[2].voter = false;
  EXPECT_EQ(step({NodeId{3}}), "");
  states_[NodeId{2}].former_untaken = 0;
  EXPECT_EQ(step({NodeId{3}}), "gets are switched to the next owners");
}

TEST_F(AbsentMembers, NCopiesMustHaveRoom) {
  give_up({1, 2, 3}, gone_);
  description_.replicas = 5;
  EXPECT_EQ(step(gone_), "");
}

// Of the five that there were when an operator last decided two may go, and no third one.
TEST_F(AbsentMembers, AMinorityMayGoWithoutAnOperator) {
  description_.auto_removed = 4;
  give_up({1, 2, 3}, gone_);
  EXPECT_EQ(step(gone_), "") << "five of nine";
  description_.auto_removed = 3;
  EXPECT_EQ(step(gone_), "") << "four of eight";
  description_.auto_removed = 2;
  EXPECT_NE(step(gone_), "") << "three of seven";
}

TEST_F(AbsentMembers, WhyTheyStayIsSaid) {
  give_up({1, 2, 3}, gone_);
  RingDriver driver;
  EXPECT_NE(step(driver, gone_, NodeId{1}, kStart, /*anew=*/true), "");
  EXPECT_EQ(driver.why_absent_stay(), "");
  description_.auto_removed = 4;
  step(driver, gone_, NodeId{1}, kStart);
  EXPECT_EQ(
      driver.why_absent_stay(),
      "n5 stays a member, though a majority hasn't reached it for their --auto-remove-after: nobody leaves "
      "unasked: with 1 more, 5 of 9 would be gone, no minority: an operator must decide");
  step(driver, {}, NodeId{1}, kStart);
  EXPECT_EQ(driver.why_absent_stay(), "") << "it is back";
}

// N goes down to 2: what n3 alone holds of n1's and n2's lists they must hold before gets ask only them.
TEST_F(RingDriverTest, WaitsForOwnersThatStayWhereListsShrink) {
  description_.change->replicas = 2;
  states_[NodeId{4}].ready_epoch = 7;
  EXPECT_EQ(step(), "");
  for (uint64_t node = 1; node <= 5; ++node) states_[NodeId{node}].ready_epoch = 7;
  EXPECT_EQ(step(), "gets are switched to the next owners");
}

TEST_F(RingDriverTest, VotersThatAreUpTakeTurns) {
  states_[NodeId{4}].ready_epoch = 7;
  EXPECT_EQ(step({}, NodeId{2}), "");
  EXPECT_NE(step({}, NodeId{2}, kStart + RingDriver::kTurn), "");
  EXPECT_EQ(step({}, NodeId{1}, kStart + RingDriver::kTurn), "");
  EXPECT_NE(step({NodeId{1}}, NodeId{2}), "") << "n1 is down";
  for (int turn = 0; turn < 8; ++turn)
    EXPECT_EQ(step({}, NodeId{5}, kStart + turn * RingDriver::kTurn), "") << "n5 has no vote";
}

}  // namespace
}  // namespace ringkv
