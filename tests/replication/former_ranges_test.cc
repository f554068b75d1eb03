// Data of partitions that moved away: who has pulled them, and when they go.
#include "replication/former_ranges.h"

#include <gtest/gtest.h>

#include "tests/replication/round_fixture.h"

namespace ringkv {
namespace {

using std::chrono::seconds;

// N = 3 of four nodes, and n1 leaves. Partitions 0, 4, 8 and 12 are of n1, n2 and n3; at the end of the
// change of n2, n3 and n4. Of twelve n1 is an owner.
constexpr uint32_t kOfFirst = 12;

RingDescription before() {
  RingDescription description = RoundFixture::description(4, 3);
  description.open = true;
  return description;
}
RingDescription begun() {
  RingDescription description = before();
  description.change = {.members = description.members, .owners = description.owners, .replicas = 3};
  for (uint16_t& owner : description.change->owners) owner = owner == 0 ? 1 : owner;
  ++description.epoch;
  return description;
}
RingDescription finished() {
  RingDescription description = begun();
  description.owners = description.change->owners;
  description.change.reset();
  description.epoch += 2;
  return description;
}

class FormerRangesTest : public testing::Test {
 protected:
  FormerRangesTest() {
    for (int i = 0; keys_.size() < 8; ++i) {
      std::string key = "k" + std::to_string(i);
      if (RoundFixture::place(key).partition % 4 == 0) keys_.push_back(key);
    }
    cluster_.set_ring(rest_);
    for (size_t i = 0; i < keys_.size(); ++i) cluster_.put(i % 3 + 1, keys_[i], "v");
    cluster_.run();
    for (const uint64_t number : {1, 2, 3}) cluster_.repaired(number);
  }

  void move() {
    cluster_.set_ring(begun_);
    cluster_.repaired(4);
    cluster_.set_ring(finished_);
  }
  const FormerRanges& former(uint64_t number) { return cluster_.node(number).convergence->former(); }
  bool holds_any(uint64_t number) {
    return std::any_of(keys_.begin(), keys_.end(),
                       [&](const std::string& key) { return !cluster_.values(number, key).empty(); });
  }

  const Ring rest_{before()};
  const Ring begun_{begun()};
  const Ring finished_{finished()};
  RoundFixture cluster_{{.nodes = 4, .round_interval = Duration(), .replicas = 3, .drop_grace = seconds(60)}};
  std::vector<std::string> keys_;
};

TEST_F(FormerRangesTest, GoOnceAllOwnersHaveThemAndTheGraceHasPassed) {
  EXPECT_EQ(former(1).partitions(), 0U);
  move();
  EXPECT_EQ(former(1).partitions(), kOfFirst);
  EXPECT_EQ(former(1).untaken(), kOfFirst);
  EXPECT_EQ(former(2).partitions(), 0U);
  cluster_.run_for(seconds(10));
  EXPECT_EQ(former(1).untaken(), 0U);
  EXPECT_TRUE(holds_any(1));
  for (const std::string& key : keys_) {
    for (const uint64_t owner : {2, 3, 4}) EXPECT_EQ(cluster_.values(owner, key).size(), 1U) << key;
  }
  cluster_.run_for(seconds(60));
  EXPECT_FALSE(holds_any(1));
  EXPECT_EQ(former(1).partitions(), 0U);
  EXPECT_EQ(former(1).dropped(), kOfFirst);
  cluster_.kill(1);
  cluster_.start(1);
}

TEST_F(FormerRangesTest, StayWhileAnOwnerHasNotPulledThem) {
  move();
  cluster_.hold = [](const auto& letter) { return letter.to == NodeId{3} || letter.from == NodeId{3}; };
  cluster_.run_for(seconds(100));
  EXPECT_EQ(former(1).untaken(), kOfFirst);
  EXPECT_TRUE(holds_any(1));
}

// What the owner had taken may be lost with its life.
TEST_F(FormerRangesTest, AnOwnersNextLifePullsThemAgain) {
  move();
  cluster_.run_for(seconds(10));
  cluster_.kill(3);
  cluster_.start(3);
  EXPECT_EQ(former(1).untaken(), kOfFirst);
}

// It was an owner when it took them: its next life, which owns them no more, isn't waited for.
TEST_F(FormerRangesTest, GoAlsoWhenOneThatHasTakenThemOwnsThemNoMoreAndBeginsAnew) {
  move();
  cluster_.run_for(seconds(10));
  ASSERT_EQ(former(1).untaken(), 0U);
  RingDescription description = finished_.description();
  description.replicas = 2;
  ++description.epoch;
  const Ring fewer(description);
  cluster_.set_ring(fewer);
  cluster_.kill(4);
  cluster_.start(4);
  cluster_.run_for(seconds(80));
  // n4, which doesn't know of that ring here, is an owner of these, and has yet to say that it has them
  // still.
  EXPECT_EQ(former(1).partitions(), kOfFirst - 4);
}

TEST_F(FormerRangesTest, ACancelledTakeoverGoesToo) {
  cluster_.set_ring(begun_);
  cluster_.repaired(4);
  RingDescription cancelled = before();
  cancelled.epoch = begun_.epoch() + 1;
  const Ring ring(cancelled);
  cluster_.set_ring(ring);
  EXPECT_EQ(former(4).partitions(), 4U);
  cluster_.run_for(seconds(80));
  EXPECT_EQ(former(4).partitions(), 0U);
  EXPECT_FALSE(holds_any(4));
}

// n1 takes back what it has dropped: what it had stamped there itself counts as news, and nothing is lost.
TEST_F(FormerRangesTest, WhatWasDroppedCanComeBack) {
  move();
  cluster_.run_for(seconds(80));
  ASSERT_FALSE(holds_any(1));
  RingDescription description = before();
  description.epoch = finished_.epoch() + 1;
  description.change = {.members = description.members, .owners = description.owners, .replicas = 3};
  description.owners = finished_.description().owners;
  const Ring begun_back(description);
  cluster_.set_ring(begun_back);
  EXPECT_EQ(cluster_.node(1).wholeness->incomplete(), kOfFirst);
  cluster_.repaired(1);
  cluster_.run_for(seconds(1));
  EXPECT_EQ(cluster_.node(1).convergence->ready_epoch(), begun_back.epoch());
  for (const std::string& key : keys_) {
    EXPECT_EQ(cluster_.values(1, key), std::vector<std::string>{"v"}) << key;
    EXPECT_FALSE(cluster_.node(1).store->floors().is_limited(RoundFixture::place(key).partition)) << key;
  }
}

// A round of its own would claim what it has dropped.
TEST_F(FormerRangesTest, NothingIsClaimedOfWhatWasDroppedUntilItIsBack) {
  move();
  cluster_.run_for(seconds(80));
  const Actor first = cluster_.node(1).store->actor();
  const Partition partition = RoundFixture::place(keys_[0]).partition;
  EXPECT_EQ(cluster_.node(1).store->floor(partition).vector.counter_of(first), 0U);
  EXPECT_GT(cluster_.node(2).store->floor(partition).vector.counter_of(first), 0U);
}

}  // namespace
}  // namespace ringkv
