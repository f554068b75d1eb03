#include "replication/hint_delivery.h"

#include <gtest/gtest.h>

#include "tests/replication/cluster_fixture.h"

namespace ringkv {
namespace {

using Values = std::vector<std::string>;
using Letter = ClusterFixture::Letter;

bool is_delivery_to(const Letter& letter, uint64_t node) {
  const auto* put = std::get_if<ReplicaPut>(&letter.message);
  return put != nullptr && put->source == Source::kHint && letter.to == NodeId{node};
}

size_t deliveries_in_flight(const ClusterFixture& cluster, uint64_t node) {
  return static_cast<size_t>(
      std::count_if(cluster.in_flight.begin(), cluster.in_flight.end(),
                    [&](const Letter& letter) { return is_delivery_to(letter, node); }));
}

// n4 keeps `count` hints for n3, which is down; the keys are owned by n1, n2 and n3.
class HintDeliveryTest : public testing::Test {
 protected:
  explicit HintDeliveryTest(size_t nodes = 5) : cluster(nodes) {}

  void keep_hints(size_t count, uint64_t down = 3) {
    if (cluster.node(down).up) cluster.kill(down);
    cluster.see_unreachable({down});
    for (size_t i = 0; i < count; ++i) {
      keys.push_back(cluster.key_of(1, "k" + std::to_string(keys.size()) + "-"));
      ASSERT_TRUE(cluster.put(1, {.key = keys.back(), .value = "v"}).status.ok());
    }
  }
  void bring_back(uint64_t number) {
    cluster.start(number);
    cluster.see_unreachable({});
  }
  size_t arrived(uint64_t at) {
    size_t arrived = 0;
    for (const std::string& key : keys) arrived += cluster.values(at, key) == Values{"v"} ? 1 : 0;
    return arrived;
  }
  void pass(int ticks, Duration each = std::chrono::milliseconds(100)) {
    for (int i = 0; i < ticks; ++i) {
      cluster.pass(each);
      cluster.run();
    }
  }
  ConvergenceStatistics& statistics(uint64_t node) { return cluster.node(node).environment->statistics; }

  ClusterFixture cluster;
  std::vector<std::string> keys;
};

TEST_F(HintDeliveryTest, BringsAllHintsAsSoonAsTheNodeCanBeReached) {
  keep_hints(300);
  ASSERT_EQ(cluster.hints_at(4, 3), 300U);
  bring_back(3);
  cluster.run();
  EXPECT_EQ(arrived(3), 300U) << "at once, without a tick";
  EXPECT_EQ(cluster.hints_everywhere(), 0U);
  EXPECT_EQ(statistics(4).hints_delivered, 300U);
  EXPECT_EQ(statistics(4).hints_cancelled, 0U);
  pass(3);
  EXPECT_EQ(cluster.node(4).delivery->under_way(), 0U);
}

TEST_F(HintDeliveryTest, NothingIsSentToANodeThatCanNotBeReached) {
  keep_hints(20);
  size_t sent = 0;
  cluster.observe = [&](const Letter& letter) { sent += is_delivery_to(letter, 3) ? 1 : 0; };
  pass(100);
  EXPECT_EQ(sent, 0U);
  EXPECT_EQ(cluster.hints_at(4, 3), 20U);
}

TEST_F(HintDeliveryTest, TheWindowGrowsWhileAcknowledgementsAreQuick) {
  keep_hints(200);
  size_t most = 0;
  cluster.observe = [&](const Letter& letter) {
    if (is_delivery_to(letter, 3)) most = std::max(most, deliveries_in_flight(cluster, 3) + 1);
  };
  cluster.hold = [&](const Letter& letter) { return is_delivery_to(letter, 3); };
  bring_back(3);
  cluster.run();
  EXPECT_EQ(deliveries_in_flight(cluster, 3), 4U) << "at first";
  cluster.hold = nullptr;
  cluster.run();
  EXPECT_EQ(arrived(3), 200U);
  EXPECT_GT(most, 4U);
  EXPECT_LE(most, 128U);
}

TEST_F(HintDeliveryTest, TheWindowHalvesWhileAcknowledgementsAreSlow) {
  keep_hints(100);
  cluster.hold = [&](const Letter& letter) { return is_delivery_to(letter, 3); };
  bring_back(3);
  cluster.run();
  for (int i = 0; i < 4; ++i) {
    cluster.now += std::chrono::milliseconds(150);
    const auto held = std::exchange(cluster.hold, nullptr);
    const size_t letters = cluster.in_flight.size();
    for (size_t n = 0; n < letters; ++n) cluster.deliver(0);
    cluster.hold = held;
    cluster.run();
  }
  EXPECT_EQ(deliveries_in_flight(cluster, 3), 1U) << "never less";
}

TEST_F(HintDeliveryTest, ANodeThatIsOverloadedIsLeftInPeaceForAWhile) {
  keep_hints(10);
  cluster.hold = [&](const Letter& letter) { return is_delivery_to(letter, 3); };
  bring_back(3);
  cluster.run();
  for (const Letter& letter : std::exchange(cluster.in_flight, {})) {
    const auto* put = std::get_if<ReplicaPut>(&letter.message);
    cluster.in_flight.push_back({letter.to, letter.from, letter.epoch,
                                 ReplicaPutAck{put->request, letter.to, overloaded("busy"), {}}});
  }
  cluster.run();
  EXPECT_EQ(cluster.in_flight.size(), 0U);
  pass(9);
  EXPECT_EQ(deliveries_in_flight(cluster, 3), 0U);
  pass(1);
  EXPECT_EQ(deliveries_in_flight(cluster, 3), 2U) << "half of four";
  cluster.hold = nullptr;
  pass(1);
  EXPECT_EQ(arrived(3), 10U);
  EXPECT_EQ(cluster.hints_everywhere(), 0U);
}

// A hint that its node refuses for its own sake holds up none behind it, and is tried again later.
TEST_F(HintDeliveryTest, AHintThatIsRefusedIsPassedOver) {
  keep_hints(50);
  std::set<std::string> refused = {keys[0], keys[20]};
  cluster.hold = [&](const Letter& letter) {
    const auto* put = std::get_if<ReplicaPut>(&letter.message);
    return is_delivery_to(letter, 3) && refused.contains(put->key);
  };
  const auto refuse_held = [&] {
    for (Letter& letter : cluster.in_flight) {
      const RequestNumber number = std::get<ReplicaPut>(letter.message).request;
      letter = {letter.to, letter.from, letter.epoch,
                ReplicaPutAck{number, NodeId{3}, forbidden("not mine"), {}}};
    }
    cluster.run();
  };
  bring_back(3);
  cluster.run();
  refuse_held();
  EXPECT_EQ(arrived(3), 48U);
  EXPECT_EQ(cluster.hints_at(4, 3), 2U);
  pass(9);
  EXPECT_EQ(deliveries_in_flight(cluster, 3), 0U);
  refused.clear();
  pass(2);
  EXPECT_EQ(arrived(3), 50U);
  EXPECT_EQ(cluster.hints_everywhere(), 0U);
}

TEST_F(HintDeliveryTest, WhatWasNotAcknowledgedIsReadAgain) {
  keep_hints(50);
  size_t lost = 0;
  cluster.hold = [&](const Letter& letter) { return is_delivery_to(letter, 3); };
  bring_back(3);
  for (int i = 0; i < 3; ++i) {
    cluster.run();
    lost += cluster.in_flight.size();
    cluster.in_flight.clear();
    pass(1, std::chrono::seconds(5));  // nobody answers
    pass(10);
  }
  EXPECT_GT(lost, 4U);
  EXPECT_EQ(cluster.hints_at(4, 3), 50U);
  cluster.hold = nullptr;
  pass(100);
  EXPECT_EQ(arrived(3), 50U);
  EXPECT_EQ(cluster.hints_everywhere(), 0U);
}

// A receiver that never answers, alive or not, is waited for by its own hints only.
TEST_F(HintDeliveryTest, OneReceiversSilenceHoldsUpNobodyElsesHints) {
  keep_hints(50, 3);
  cluster.kill(2);
  cluster.see_unreachable({2, 3});
  std::vector<std::string> others;
  for (int i = 0; i < 50; ++i) {
    others.push_back(cluster.key_of(1, "other" + std::to_string(i) + "-"));
    ASSERT_TRUE(cluster.put(1, {.key = others.back(), .value = "v"}).status.ok());
  }
  cluster.start(2);
  cluster.start(3);
  cluster.hold = [](const Letter& letter) { return letter.to == NodeId{3}; };
  cluster.see_unreachable({});
  cluster.run();
  for (const std::string& key : others) EXPECT_EQ(cluster.values(2, key), Values{"v"});
  for (uint64_t node = 1; node <= 5; ++node) EXPECT_EQ(cluster.hints_at(node, 2), 0U);
  EXPECT_EQ(arrived(3), 0U);
}

TEST_F(HintDeliveryTest, StopsWhenTheReceiverIsGoneAndResumesWhenItIsBack) {
  keep_hints(200);
  size_t delivered = 0;
  cluster.hold = [&](const Letter& letter) { return is_delivery_to(letter, 3) && ++delivered > 60; };
  bring_back(3);
  cluster.run();
  const size_t before = arrived(3);
  EXPECT_GT(before, 0U);
  EXPECT_LT(before, 200U);
  cluster.kill(3);
  cluster.see_unreachable({3});
  cluster.hold = nullptr;
  size_t sent = 0;
  cluster.observe = [&](const Letter& letter) { sent += is_delivery_to(letter, 3) ? 1 : 0; };
  pass(100);
  EXPECT_EQ(sent, 0U);
  EXPECT_EQ(cluster.hints_at(4, 3), 200 - before) << "none is lost";
  bring_back(3);
  pass(2);
  EXPECT_EQ(arrived(3), 200U);
  EXPECT_EQ(cluster.hints_everywhere(), 0U);
}

// Rows of a holder killed in the middle, again and again.
TEST_F(HintDeliveryTest, GoesOnAfterEachCrashOfTheHolder) {
  keep_hints(100);
  SeededRandom random(5);
  bring_back(3);
  for (int life = 0; life < 30; ++life) {
    cluster.kill(4);
    if (random.one_in(2)) {
      cluster.close(4);
      cluster.node(4).fixture.disk.crash(random);
    }
    cluster.start(4);
    const uint64_t letters = random.below(40);
    uint64_t delivered = 0;
    cluster.hold = [&](const Letter&) { return ++delivered > letters; };
    cluster.auto_commit = random.one_in(2);
    pass(1);
    cluster.in_flight.clear();
  }
  cluster.hold = nullptr;
  cluster.auto_commit = true;
  cluster.kill(4);
  cluster.start(4);
  pass(80);
  EXPECT_EQ(arrived(3), 100U);
  EXPECT_EQ(cluster.hints_everywhere(), 0U);
}

// What is merged into a hint while it is on its way is delivered, too.
TEST_F(HintDeliveryTest, AHintThatHasGrownMeanwhileIsDeliveredAgain) {
  keep_hints(1);
  cluster.hold = [&](const Letter& letter) { return is_delivery_to(letter, 3); };
  bring_back(3);
  cluster.run();
  ASSERT_EQ(deliveries_in_flight(cluster, 3), 1U);
  cluster.see_unreachable(1, {3});
  cluster.hold = [&](const Letter& letter) { return letter.to == NodeId{3}; };
  cluster.put(1, {.key = keys[0], .value = "newer"});
  cluster.hold = [&](const Letter& letter) { return !is_delivery_to(letter, 3) && letter.to == NodeId{3}; };
  cluster.run();
  EXPECT_EQ(cluster.values(3, keys[0]), Values{"v"});
  EXPECT_EQ(cluster.hints_at(4, 3), 1U) << "what was acknowledged isn't all that it holds";
  pass(2);
  EXPECT_EQ(cluster.values(3, keys[0]), Values{"newer"});
  EXPECT_EQ(cluster.hints_everywhere(), 0U);
}

// Hints for several nodes: those of one that is still away don't count as delivered.
TEST_F(HintDeliveryTest, HintsThatAreNotLookedAtAreStillCounted) {
  keep_hints(10, 3);
  cluster.kill(2);
  cluster.see_unreachable({2, 3});
  cluster.put(1, {.key = cluster.key_of(1, "x"), .value = "v"});
  cluster.kill(4);
  cluster.start(4);
  cluster.see_unreachable({3});
  cluster.start(2);
  pass(5);
  EXPECT_EQ(cluster.hints_at(4, 2), 0U);
  EXPECT_GE(cluster.hints_at(4, 3), 10U);
}

// --- Where the intended node owns the key no longer

TEST_F(HintDeliveryTest, HintsOfAMemberThatHasLeftGoToThePresentOwners) {
  keep_hints(50);
  const Ring& next = cluster.next_ring([](RingDescription& ring) {  // n5 instead of n3
    for (uint16_t& owner : ring.owners) owner = owner == 2 ? 4 : owner;
    std::erase_if(ring.members, [](const Member& member) { return member.name == "n3"; });
    for (uint16_t& owner : ring.owners) owner -= owner > 2 ? 1 : 0;
  });
  for (const uint64_t node : {1, 2, 4, 5}) cluster.adopt(node, next);
  size_t to_n3 = 0;
  cluster.observe = [&](const Letter& letter) { to_n3 += letter.to == NodeId{3} ? 1 : 0; };
  pass(5);
  EXPECT_EQ(arrived(5), 50U);
  EXPECT_EQ(cluster.hints_everywhere(), 0U);
  EXPECT_EQ(statistics(4).hints_redirected, 50U);
  pass(3000, std::chrono::milliseconds(100));
  EXPECT_EQ(to_n3, 0U) << "nothing keeps dialling it";
}

TEST_F(HintDeliveryTest, APresentOwnerThatIsDownGetsAHintOfItsOwn) {
  keep_hints(20);
  cluster.kill(5);
  cluster.see_unreachable({3, 5});
  const Ring& next = cluster.next_ring([](RingDescription& ring) {
    for (uint16_t& owner : ring.owners) owner = owner == 2 ? 4 : owner;
  });
  for (const uint64_t node : {1, 2, 4}) cluster.adopt(node, next);
  pass(5);
  EXPECT_EQ(cluster.hints_at(4, 3), 0U) << "n3 is a member that can't be reached, and no owner";
  EXPECT_EQ(cluster.hints_at(4, 5), 20U);
  cluster.node(5).ring = &next;
  cluster.start(5);
  cluster.see_unreachable({3});
  pass(5);
  EXPECT_EQ(arrived(5), 20U);
  EXPECT_EQ(cluster.hints_everywhere(), 0U);
}

TEST_F(HintDeliveryTest, HintsOfAnAbsentMemberThatItStillOwnsStay) {
  keep_hints(20);
  const Ring& next = cluster.next_ring([](RingDescription&) {});
  for (const uint64_t node : {1, 2, 4, 5}) cluster.adopt(node, next);
  size_t slices = 0;
  cluster.observe = [&](const Letter& letter) {
    slices += std::holds_alternative<ReadHints>(letter.message) ? 1 : 0;
  };
  pass(50);
  EXPECT_EQ(cluster.hints_at(4, 3), 20U);
  EXPECT_EQ(slices, 1U) << "looked through once an epoch";
}

TEST_F(HintDeliveryTest, AHolderThatHasBecomeAnOwnerKeepsTheRecordItself) {
  keep_hints(20);
  const Ring& next = cluster.next_ring([](RingDescription& ring) {  // n4 instead of n3
    for (uint16_t& owner : ring.owners) owner = owner == 2 ? 3 : owner;
  });
  for (const uint64_t node : {1, 2, 4, 5}) cluster.adopt(node, next);
  pass(5);
  EXPECT_EQ(arrived(4), 20U);
  EXPECT_EQ(cluster.hints_everywhere(), 0U);
}

}  // namespace
}  // namespace ringkv
