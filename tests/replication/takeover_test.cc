#include "replication/takeover.h"

#include <gtest/gtest.h>

#include "tests/replication/round_fixture.h"

namespace ringkv {
namespace {

constexpr NodeId kFirst{1}, kSecond{2}, kThird{3}, kFourth{4};

// N = 3. Partition 0, as 4, 8 and 12, is of n1, n2 and n3; then of n2, n3 and n4. Partition 1 is of n2, n3
// and n4 all the time.
RingDescription moving(bool switched = false) {
  RingDescription description = RoundFixture::description(4, 3);
  description.open = true;
  description.change = {.members = description.members, .owners = description.owners, .replicas = 3};
  for (uint16_t& owner : description.change->owners) owner = owner == 0 ? 1 : owner;
  description.change->switched = switched;
  ++description.epoch;
  return description;
}

class TakeoverTest : public testing::Test {
 protected:
  TakeoverTest() {
    takeover_.set_ring(ring_, kFourth);
    gained_ = takeover_.gained();
  }

  bool hear(NodeId source, bool whole = true) {
    bool enough = true;
    for (const Partition partition : gained_) {
      takeover_.on_round(partition, source, whole);
      enough = takeover_.has_heard_enough(partition, view_, wholeness_) && enough;
    }
    return enough;
  }

  const Ring ring_{moving()};
  RingView view_{kFourth, ring_, &token_of};
  Takeover takeover_;
  Wholeness wholeness_{kTestPartitions};
  std::vector<Partition> gained_;
};

TEST_F(TakeoverTest, IsOfWhatIsOwnedOnlyByTheNextTable) {
  EXPECT_EQ(gained_, (std::vector<Partition>{0, 4, 8, 12}));
  EXPECT_TRUE(takeover_.is_pending(4));
  EXPECT_FALSE(takeover_.is_pending(1));
  takeover_.on_round(1, kSecond, true);
  EXPECT_FALSE(takeover_.is_pending(1));
  Takeover of_first;
  of_first.set_ring(ring_, kFirst);
  EXPECT_EQ(of_first.partitions(), 0U);
  EXPECT_EQ(of_first.ready_epoch(view_, wholeness_), ring_.epoch()) << "it only loses partitions";
}

TEST_F(TakeoverTest, NeedsARoundFromEveryPresentOwnerThatCanBeReached) {
  EXPECT_FALSE(hear(kFirst));
  EXPECT_TRUE(hear(kSecond)) << "two of three: one of them has every acknowledged write";
  EXPECT_EQ(takeover_.ready_epoch(view_, wholeness_), 0U);
  EXPECT_EQ(takeover_.ready(view_, wholeness_), 0U);
  hear(kThird);
  EXPECT_EQ(takeover_.ready(view_, wholeness_), gained_.size());
  EXPECT_EQ(takeover_.ready_epoch(view_, wholeness_), ring_.epoch());
}

TEST_F(TakeoverTest, DoesNotWaitForWhoIsDown) {
  hear(kFirst);
  hear(kSecond);
  view_.set_view({.unreachable = {kThird}});
  EXPECT_EQ(takeover_.ready_epoch(view_, wholeness_), ring_.epoch());
  view_.set_view({.unreachable = {kSecond, kThird}});
  EXPECT_EQ(takeover_.ready_epoch(view_, wholeness_), ring_.epoch()) << "what came from it is here";
}

// n1, n2 and n3 own what n4 gains.
TEST(Takeover, LostOwnersAreNotWaitedForAndWhatTheyAllHadBeginsEmpty) {
  RingDescription description = moving();
  for (const size_t lost : {1U, 2U}) {
    description.members[lost].lost = true;
    description.members[lost].voter = false;
  }
  const Ring ring(description);
  RingView view(kFourth, ring, &token_of);
  view.set_view({.unreachable = {kSecond, kThird}});
  Wholeness wholeness(kTestPartitions);
  Takeover takeover;
  takeover.set_ring(ring, kFourth);
  EXPECT_TRUE(takeover.orphaned(ring).empty());
  EXPECT_FALSE(takeover.has_heard_enough(0, view, wholeness));
  takeover.on_round(0, kFirst, true);
  EXPECT_TRUE(takeover.has_heard_enough(0, view, wholeness));

  description.members[0].lost = true;
  description.members[0].voter = false;
  const Ring none(description);
  takeover.set_ring(none, kFourth);
  EXPECT_EQ(takeover.orphaned(none), takeover.gained());
  view.set_ring(none);
  view.set_view({.unreachable = {kFirst, kSecond, kThird}});
  EXPECT_EQ(takeover.ready_epoch(view, wholeness), none.epoch());
}

TEST_F(TakeoverTest, CountsOnlySourcesThatWereWhole) {
  hear(kFirst);
  EXPECT_FALSE(hear(kSecond, /*whole=*/false));
  view_.set_view({.unreachable = {kThird}});
  EXPECT_EQ(takeover_.ready_epoch(view_, wholeness_), 0U);
  EXPECT_TRUE(hear(kSecond));
}

TEST_F(TakeoverTest, AnotherLifeOfASourceCountsAnew) {
  for (const NodeId source : {kFirst, kSecond, kThird}) hear(source);
  takeover_.forget_rounds_from(kSecond);
  EXPECT_EQ(takeover_.ready_epoch(view_, wholeness_), 0U);
}

TEST_F(TakeoverTest, ANodeThatIsNotWholeIsNotReady) {
  for (const NodeId source : {kFirst, kSecond, kThird}) hear(source);
  wholeness_.lose(4);
  EXPECT_EQ(takeover_.ready_epoch(view_, wholeness_), 0U);
}

// N goes down to 2. Partition 0 is of n2 and n3 then, and what n1 and n4 hold alone must be there.
TEST_F(TakeoverTest, OwnersOfAListThatShrinksTakeOverFromThoseThatLeave) {
  RingDescription description = moving();
  description.change->replicas = 2;
  const Ring ring(description);
  RingView view(kSecond, ring, &token_of);
  Takeover takeover;
  takeover.set_ring(ring, kSecond);
  ASSERT_TRUE(takeover.is_pending(0));
  EXPECT_TRUE(takeover.gained().empty()) << "its own copy is whole";
  EXPECT_FALSE(takeover.has_heard_enough(0, view, wholeness_));
  takeover.on_round(0, kFirst, true);
  EXPECT_TRUE(takeover.has_heard_enough(0, view, wholeness_)) << "with its own copy, two of three";
  wholeness_.lose(0);
  EXPECT_FALSE(takeover.has_heard_enough(0, view, wholeness_)) << "its own copy is being refilled";
  wholeness_.make_whole(0);
  EXPECT_EQ(takeover.ready_epoch(view, wholeness_), 0U);
}

TEST_F(TakeoverTest, IsForgottenWithItsEpoch) {
  for (const NodeId source : {kFirst, kSecond, kThird}) hear(source);
  const Ring switched(moving(true));
  takeover_.set_ring(switched, kFourth);
  view_.set_ring(switched);
  EXPECT_EQ(takeover_.ready_epoch(view_, wholeness_), 0U);
  EXPECT_EQ(takeover_.partitions(), 0U);
}

// ---- by rounds

class TakeoverByRounds : public testing::Test {
 protected:
  TakeoverByRounds() {
    for (int i = 0; keys_.size() < 10; ++i) {
      std::string key = "k" + std::to_string(i);
      if (RoundFixture::place(key).partition % 4 == 0) keys_.push_back(key);
    }
    for (size_t i = 0; i < keys_.size(); ++i) cluster_.put(i % 3 + 1, keys_[i], "v");
    cluster_.run();
    cluster_.set_ring(ring_);
  }

  const Ring ring_{moving()};
  RoundFixture cluster_{4, Duration(), 3};
  RoundFixture::Node& fourth_ = cluster_.node(4);
  std::vector<std::string> keys_;
};

TEST_F(TakeoverByRounds, ANodeIsReadyOnceItHasAllThatThePresentOwnersHave) {
  EXPECT_EQ(fourth_.wholeness->incomplete(), 4U);
  EXPECT_EQ(fourth_.convergence->ready_epoch(), 0U);

  cluster_.repaired(4);
  EXPECT_EQ(fourth_.convergence->ready_epoch(), 0U) << "what came isn't known to be on disk";
  cluster_.run_for(std::chrono::milliseconds(200));

  EXPECT_EQ(fourth_.convergence->ready_epoch(), ring_.epoch());
  EXPECT_EQ(fourth_.wholeness->incomplete(), 0U);
  for (const std::string& key : keys_) EXPECT_EQ(cluster_.values(4, key).size(), 1U) << key;
}

// A ring without periodic rounds must not wait for a repair.
TEST_F(TakeoverByRounds, NeedsNoPeriodicRounds) {
  cluster_.run_for(std::chrono::seconds(4));
  EXPECT_EQ(fourth_.convergence->ready_epoch(), ring_.epoch());
}

TEST_F(TakeoverByRounds, WhatASourceLacksIsNotCounted) {
  for (const uint64_t number : {1, 2}) cluster_.node(number).wholeness->lose(4);
  cluster_.repaired(4);
  cluster_.run_for(std::chrono::milliseconds(200));
  EXPECT_EQ(fourth_.convergence->ready_epoch(), 0U);
  EXPECT_EQ(fourth_.wholeness->incomplete_partitions(), std::vector<Partition>{4});
}

TEST_F(TakeoverByRounds, WhatIsLostAgainIsTakenOverAgain) {
  cluster_.repaired(4);
  fourth_.wholeness->lose(4);
  cluster_.act(fourth_, [&](auto& outbox) {
    fourth_.convergence->set_view({.unreachable = {kSecond, kThird}}, cluster_.moment(), outbox);
  });
  cluster_.repaired(4);  // from n1 alone
  EXPECT_FALSE(fourth_.wholeness->is_whole(4));
}

}  // namespace
}  // namespace ringkv
