#include "node/epoch_gate.h"

#include <gtest/gtest.h>

namespace ringkv {
namespace {

constexpr NodeId kSelf{1};
constexpr NodeId kOther{2};

Ring ring_of(uint64_t epoch) {
  RingDescription ring;
  ring.epoch = epoch;
  ring.replicas = 1;
  ring.members = {{.node = kSelf, .disk = DiskId{1}, .name = "n1"},
                  {.node = kOther, .disk = DiskId{2}, .name = "n2"}};
  ring.owners.assign(4, 0);
  ring.buckets = {BucketDescription()};
  ring.secret = std::string(32, 's');
  return Ring(std::move(ring));
}

struct Gate {
  void put(uint64_t epoch) {
    gate.on_message(kOther, {1, epoch}, ring, ReplicaPut{.request = 7, .record = record}, now);
  }
  const SharedBytes record = std::make_shared<const std::string>("record");
  void take_ring(uint64_t epoch) {
    ring = ring_of(epoch);
    gate.on_ring(ring, now);
  }
  template <class Body>
  int sent_of() const {
    int count = 0;
    for (const PeerMessage& message : sent) count += std::holds_alternative<Body>(message) ? 1 : 0;
    return count;
  }

  Time now{std::chrono::hours(1)};
  Ring ring = ring_of(5);
  std::vector<PeerMessage> admitted;
  std::vector<PeerMessage> sent;
  EpochGate gate{kSelf, [this](NodeId, PeerMessage message) { admitted.push_back(std::move(message)); },
                 [this](NodeId, PeerMessage message) { sent.push_back(std::move(message)); }};
};

TEST(EpochGate, ARequestOfTheSameRingIsAdmitted) {
  Gate gate;
  gate.put(5);
  EXPECT_EQ(gate.admitted.size(), 1U);
  EXPECT_TRUE(gate.sent.empty());
}

TEST(EpochGate, ARequestOfAnOlderRingIsRefusedWithTheRing) {
  Gate gate;
  gate.put(4);
  EXPECT_TRUE(gate.admitted.empty());
  ASSERT_EQ(gate.sent.size(), 2U);
  EXPECT_EQ(std::get<RingChosen>(gate.sent[0]).epoch, 5U);
  const auto& ack = std::get<ReplicaPutAck>(gate.sent[1]);
  EXPECT_EQ(ack.request, 7U);
  EXPECT_EQ(ack.replica, kSelf);
  EXPECT_EQ(ack.status.code(), StatusCode::kStaleEpoch);
}

TEST(EpochGate, TheRingIsSentOnceForManyStaleRequests) {
  Gate gate;
  for (int i = 0; i < 100; ++i) gate.put(4);
  EXPECT_EQ(gate.sent_of<RingChosen>(), 1);
  EXPECT_EQ(gate.sent_of<ReplicaPutAck>(), 100);
}

TEST(EpochGate, ARequestOfANewerRingWaitsForIt) {
  Gate gate;
  gate.gate.look_at(kOther, {1, 6}, gate.ring, gate.now);
  gate.put(6);
  EXPECT_TRUE(gate.admitted.empty());
  EXPECT_EQ(gate.sent_of<RingWanted>(), 1);
  gate.take_ring(6);
  EXPECT_EQ(gate.admitted.size(), 1U);
}

TEST(EpochGate, WhatWaitedForARingThatWasPassedOverIsRefused) {
  Gate gate;
  gate.put(6);
  gate.take_ring(7);
  EXPECT_TRUE(gate.admitted.empty());
  EXPECT_EQ(gate.sent_of<ReplicaPutAck>(), 1);
}

TEST(EpochGate, WhatWaitsInVainIsDroppedAndCounted) {
  Gate gate;
  gate.put(6);
  gate.now += std::chrono::seconds(2);
  gate.gate.tick(gate.ring, gate.now);
  gate.take_ring(6);
  EXPECT_TRUE(gate.admitted.empty());
  EXPECT_EQ(gate.gate.statistics().dropped, 1U);
}

TEST(EpochGate, HeldRequestsAreBounded) {
  Gate gate;
  for (int i = 0; i < 20'000; ++i) gate.put(6);
  gate.take_ring(6);
  EXPECT_EQ(gate.admitted.size(), 10'000U);
  EXPECT_EQ(gate.gate.statistics().dropped, 10'000U);
}

TEST(EpochGate, WhatIsDroppedIsRefusedSoThatNobodyWaitsForIt) {
  Gate gate;
  gate.put(6);
  gate.now += std::chrono::seconds(2);
  gate.gate.tick(gate.ring, gate.now);
  ASSERT_EQ(gate.sent_of<ReplicaPutAck>(), 1);
  EXPECT_EQ(std::get<ReplicaPutAck>(gate.sent.back()).status.code(), StatusCode::kUnavailable);
}

TEST(EpochGate, HeldBytesAreBounded) {
  Gate gate;
  const auto record = std::make_shared<const std::string>(size_t{16} << 20, 'x');
  for (int i = 0; i < 10; ++i) {
    gate.gate.on_message(kOther, {1, 6}, gate.ring, ReplicaPut{.request = 7, .record = record}, gate.now);
  }
  EXPECT_EQ(gate.gate.statistics().dropped, 7U);
  EXPECT_EQ(std::get<ReplicaPutAck>(gate.sent.back()).status.code(), StatusCode::kOverloaded);
  gate.take_ring(6);
  EXPECT_EQ(gate.admitted.size(), 3U);
  gate.gate.on_message(kOther, {1, 7}, gate.ring, ReplicaPut{.request = 7, .record = record}, gate.now);
  EXPECT_EQ(gate.gate.statistics().held, 4U) << "what was admitted is held no more";
}

// Whoever handed it on looks at the epoch, and then routes it anew.
TEST(EpochGate, TheAnswerToAStaleHandOverSaysItsEpoch) {
  Gate gate;
  gate.gate.on_message(kOther, {1, 4}, gate.ring, ForwardedRequest{.request = 7}, gate.now);
  const auto& answer = std::get<ForwardedReply>(gate.sent.back());
  EXPECT_EQ(answer.reply.status.code(), StatusCode::kStaleEpoch);
  EXPECT_EQ(answer.reply.epoch, 5U);
}

TEST(EpochGate, AnswersPassWhateverTheirRing) {
  Gate gate;
  for (const uint64_t epoch : {4, 5, 6})
    gate.gate.on_message(kOther, {1, epoch}, gate.ring, ReplicaPutAck{.request = 1}, gate.now);
  EXPECT_EQ(gate.admitted.size(), 3U);
}

TEST(EpochGate, ARingIsAskedForNowAndThenOnly) {
  Gate gate;
  for (int i = 0; i < 10; ++i) gate.gate.look_at(kOther, {1, 6}, gate.ring, gate.now);
  EXPECT_EQ(gate.sent_of<RingWanted>(), 1);
  gate.now += std::chrono::milliseconds(300);
  gate.gate.look_at(kOther, {1, 6}, gate.ring, gate.now);
  EXPECT_EQ(gate.sent_of<RingWanted>(), 2);
}

TEST(EpochGate, AForcedRingComesAfterEveryEpochOfTheLineageBefore) {
  Gate gate;
  gate.gate.on_message(kOther, {2, 1}, gate.ring, ReplicaPut{.request = 1, .record = gate.record}, gate.now);
  EXPECT_TRUE(gate.admitted.empty());
  EXPECT_EQ(gate.gate.statistics().held, 1U);
}

TEST(EpochGate, AHintIsPutByTheRingLikeARecordAndItsRefusalNamesTheIntendedNode) {
  Gate gate;
  gate.gate.on_message(kOther, {1, 4}, gate.ring,
                       HintPut{.request = 7, .intended = NodeId{3}, .record = gate.record}, gate.now);
  EXPECT_TRUE(gate.admitted.empty());
  const auto& ack = std::get<ReplicaPutAck>(gate.sent.back());
  EXPECT_EQ(ack.request, 7U);
  EXPECT_EQ(ack.hint_for, NodeId{3});
  EXPECT_EQ(ack.status.code(), StatusCode::kStaleEpoch);
}

// Long outages end with many hints, and rings may have changed meanwhile.
TEST(EpochGate, HintsAndRoundsPassWhateverTheRing) {
  Gate gate;
  for (const uint64_t epoch : {4, 6}) {
    for (const Source source : {Source::kHint, Source::kAntiEntropy}) {
      gate.gate.on_message(kOther, {1, epoch}, gate.ring,
                           ReplicaPut{.request = 7, .record = gate.record, .source = source}, gate.now);
    }
    gate.gate.on_message(kOther, {1, epoch}, gate.ring, HintCovered(), gate.now);
    gate.gate.on_message(kOther, {1, epoch}, gate.ring, RoundCompare(), gate.now);
    gate.gate.on_message(kOther, {1, epoch}, gate.ring, RoundOpen(), gate.now);
    gate.gate.on_message(kOther, {1, epoch}, gate.ring, RoundWalk(), gate.now);
  }
  EXPECT_EQ(gate.admitted.size(), 12U);
  EXPECT_TRUE(gate.sent.empty());
}

TEST(EpochGate, WhatALifeHadSentIsNotAdmittedOnceAnotherIsMet) {
  Gate gate;
  gate.put(6);
  gate.gate.forget(NodeId{3});
  gate.gate.forget(kOther);
  gate.take_ring(6);
  EXPECT_TRUE(gate.admitted.empty());
  EXPECT_EQ(gate.gate.statistics().dropped, 1U);
}

}  // namespace
}  // namespace ringkv
