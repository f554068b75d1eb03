#include "gossip/epoch_register.h"

#include <gtest/gtest.h>

#include <deque>
#include <set>

#include "base/ring_description.h"
#include "tests/gossip/agreement_sample.h"

namespace ringkv {
namespace {

using namespace agreement_sample;

// Registers of A, B and C and a network in order between them; what is recorded is synced at once.
struct Fixture {
  explicit Fixture(const std::vector<NodeId>& nodes = {kA, kB, kC}) : ring(ring_of(nodes)) {
    for (const NodeId node : nodes) start(node);
  }

  void start(NodeId node) {
    Result<EpochRegister> opened = EpochRegister::open(
        voter(node), ring, disks[node], [this](NodeId other) { return known[other]; }, random);
    registers.erase(node);
    registers.emplace(node, *std::move(opened));
  }
  Status propose(NodeId node, std::string description) {
    GossipOutbox outbox;
    Status status =
        registers.at(node).propose(std::move(description), now, now + std::chrono::seconds(5), outbox);
    carry(node, outbox);
    return status;
  }
  void carry(NodeId from, GossipOutbox& outbox) {
    for (const MetaRecord& record : outbox.meta_records()) disks[from] = record.value;
    for (auto& envelope : outbox.envelopes())
      network.push_back({from, envelope.to, std::move(envelope.message)});
  }
  void deliver_all() {
    while (!network.empty()) {
      const Packet packet = std::move(network.front());
      network.pop_front();
      if (!cut.contains(packet.to) && !cut.contains(packet.from)) deliver(packet);
    }
  }
  void pass(Duration duration) {
    now += duration;
    for (auto& [node, one] : registers) {
      GossipOutbox outbox;
      one.tick(now, outbox);
      carry(node, outbox);
    }
  }
  Electorate adopted(const std::string& description) const {
    Electorate next = ring;
    ++next.epoch;
    next.digest = ring_digest(description);
    return next;
  }

  struct Packet {
    NodeId from;
    NodeId to;
    GossipMessage message;
  };

  void deliver(const Packet& packet) {
    EpochRegister& to = registers.at(packet.to);
    GossipOutbox outbox;
    if (const auto* prepare = std::get_if<Prepare>(&packet.message)) {
      to.on(packet.from, *prepare, outbox);
    } else if (const auto* accept = std::get_if<Accept>(&packet.message)) {
      to.on(packet.from, *accept, outbox);
    } else if (const auto* promise = std::get_if<Promise>(&packet.message)) {
      to.on(packet.from, *promise, now, outbox);
    } else {
      to.on(packet.from, std::get<Accepted>(packet.message), now, outbox);
    }
    carry(packet.to, outbox);
  }

  SeededRandom random{1};
  Time now{};
  Electorate ring;
  std::map<NodeId, Boot> known{{kA, boot_of(kA)}, {kB, boot_of(kB)}, {kC, boot_of(kC)}};
  std::map<NodeId, std::string> disks;
  std::map<NodeId, EpochRegister> registers;
  std::deque<Packet> network;
  std::set<NodeId> cut;
};

TEST(EpochRegister, OneVoterChoosesByMessagesToItself) {
  Fixture fixture({kA});
  fixture.known.clear();  // of others; a node knows itself
  ASSERT_TRUE(fixture.propose(kA, "ring of 5").ok());
  EXPECT_TRUE(fixture.registers.at(kA).proposing());
  EXPECT_FALSE(fixture.registers.at(kA).take_outcome().has_value());

  fixture.deliver_all();
  EXPECT_FALSE(fixture.registers.at(kA).proposing());
  const auto outcome = fixture.registers.at(kA).take_outcome();
  ASSERT_TRUE(outcome.has_value());
  EXPECT_TRUE(outcome->status.ok());
  EXPECT_EQ(outcome->epoch, 5U);
  EXPECT_EQ(outcome->chosen, "ring of 5");
  EXPECT_TRUE(outcome->silent.empty());
  EXPECT_FALSE(fixture.registers.at(kA).take_outcome().has_value()) << "once";
}

TEST(EpochRegister, OneProposalOfANodeAtATime) {
  Fixture fixture;
  ASSERT_TRUE(fixture.propose(kA, "ring of 5").ok());
  EXPECT_EQ(fixture.propose(kA, "another").code(), StatusCode::kUnavailable);

  fixture.deliver_all();
  EXPECT_EQ(fixture.propose(kA, "another").code(), StatusCode::kUnavailable) << "its outcome isn't taken";
  EXPECT_EQ(fixture.registers.at(kA).take_outcome()->chosen, "ring of 5");
  EXPECT_TRUE(fixture.propose(kA, "another").ok());
}

TEST(EpochRegister, WhatAMajorityHasAcceptedIsChosenWhoeverProposesNext) {
  Fixture fixture;
  fixture.cut = {kC};
  ASSERT_TRUE(fixture.propose(kA, "A's ring").ok());
  fixture.deliver_all();
  ASSERT_EQ(fixture.registers.at(kA).take_outcome()->silent, std::vector{kC});

  fixture.cut = {kA};
  ASSERT_TRUE(fixture.propose(kC, "C's ring").ok());
  fixture.deliver_all();
  fixture.pass(std::chrono::milliseconds(50));  // its first ballot was too early
  fixture.deliver_all();
  const auto outcome = fixture.registers.at(kC).take_outcome();
  ASSERT_TRUE(outcome.has_value());
  EXPECT_TRUE(outcome->status.ok());
  EXPECT_EQ(outcome->chosen, "A's ring");
}

TEST(EpochRegister, AVoterThatStartsAgainKeepsItsPromises) {
  Fixture fixture;
  fixture.cut = {kC};
  ASSERT_TRUE(fixture.propose(kA, "A's ring").ok());
  fixture.deliver_all();
  fixture.start(kB);

  fixture.cut = {kA};
  ASSERT_TRUE(fixture.propose(kC, "C's ring").ok());
  fixture.deliver_all();
  fixture.pass(std::chrono::milliseconds(50));
  fixture.deliver_all();
  EXPECT_EQ(fixture.registers.at(kC).take_outcome()->chosen, "A's ring");
}

TEST(EpochRegister, NeverUsesABallotTwice) {
  Fixture fixture;
  fixture.cut = {kB, kC};
  ASSERT_TRUE(fixture.propose(kA, "first").ok());
  const Ballot first = std::get<Prepare>(fixture.network.front().message).ballot;
  fixture.deliver_all();
  fixture.pass(std::chrono::seconds(5));
  ASSERT_EQ(fixture.registers.at(kA).take_outcome()->status.code(), StatusCode::kUnavailable);

  ASSERT_TRUE(fixture.propose(kA, "second").ok());
  EXPECT_GT(std::get<Prepare>(fixture.network.front().message).ballot, first);
}

TEST(EpochRegister, VotesOnNoBallotOfAnotherLife) {
  Fixture fixture;
  GossipOutbox outbox;
  EpochRegister& voter_b = fixture.registers.at(kB);
  const Ballot earlier_life{9, kA, Boot{99}};
  voter_b.on(kA, prepare(earlier_life), outbox);
  voter_b.on(kA, accept(earlier_life, "ring of 5"), outbox);
  voter_b.on(kC, prepare(ballot(9, kA)), outbox);
  voter_b.on(kC, accept(ballot(9, kA), "ring of 5"), outbox);
  fixture.known[kA] = Boot{};
  voter_b.on(kA, prepare({9, kA, Boot{}}), outbox);
  voter_b.on(kA, prepare(ballot(9, kA)), outbox);
  EXPECT_TRUE(outbox.empty());

  fixture.known[kA] = boot_of(kA);
  voter_b.on(kA, prepare(ballot(9, kA)), outbox);
  EXPECT_FALSE(outbox.empty());
}

// It asks again once the ring has reached the one that was behind.
TEST(EpochRegister, AVoterThatIsOneEpochBehindVotesWhenItHasTheRing) {
  Fixture fixture({kA, kB});
  fixture.registers.at(kA).adopt(fixture.adopted("ring of 5"));
  ASSERT_TRUE(fixture.propose(kA, "ring of 6").ok());
  fixture.deliver_all();
  fixture.registers.at(kB).adopt(fixture.adopted("ring of 5"));
  fixture.pass(std::chrono::milliseconds(300));
  fixture.deliver_all();
  EXPECT_EQ(fixture.registers.at(kA).take_outcome()->chosen, "ring of 6");
}

TEST(EpochRegister, AdoptingALaterRingEndsAProposal) {
  Fixture fixture;
  ASSERT_TRUE(fixture.propose(kA, "mine").ok());
  fixture.registers.at(kA).adopt(fixture.ring);
  EXPECT_TRUE(fixture.registers.at(kA).proposing()) << "that is no later one";

  fixture.registers.at(kA).adopt(fixture.adopted("another's"));
  EXPECT_FALSE(fixture.registers.at(kA).proposing());
  EXPECT_EQ(fixture.registers.at(kA).take_outcome()->status.code(), StatusCode::kUnavailable);
  fixture.network.clear();

  ASSERT_TRUE(fixture.propose(kA, "next").ok());
  EXPECT_EQ(std::get<Prepare>(fixture.network.front().message).epoch, 6U);
  EXPECT_EQ(std::get<Prepare>(fixture.network.front().message).follows, ring_digest("another's"));
}

TEST(EpochRegister, ItsOwnRingThatComesFromElsewhereIsASuccess) {
  Fixture fixture;
  ASSERT_TRUE(fixture.propose(kA, "mine").ok());
  fixture.registers.at(kA).adopt(fixture.adopted("mine"));
  const auto outcome = fixture.registers.at(kA).take_outcome();
  EXPECT_TRUE(outcome->status.ok());
  EXPECT_EQ(outcome->chosen, "mine");
}

TEST(EpochRegister, RefusesADescriptionThatNoVoterWouldAccept) {
  Fixture fixture;
  const Status status = fixture.propose(kA, std::string(kDescriptionBytesMax + 1, 'r'));
  EXPECT_EQ(status.code(), StatusCode::kTooLarge);
  EXPECT_FALSE(fixture.registers.at(kA).proposing());
}

TEST(EpochRegister, DoesNotOpenOnADamagedRecord) {
  Fixture fixture;
  const Result<EpochRegister> opened =
      EpochRegister::open(voter(kA), fixture.ring, "damaged", boot_of, fixture.random);
  EXPECT_EQ(opened.status().code(), StatusCode::kCorruption);
}

}  // namespace
}  // namespace ringkv
