#include "gossip/older_copy.h"

#include <gtest/gtest.h>

#include "tests/gossip/agreement_sample.h"

namespace ringkv {
namespace {

using namespace agreement_sample;

constexpr Boot kFirstLife{100};
constexpr Boot kLostLife{101};
constexpr Boot kOtherLostLife{102};
constexpr Boot kThisLife{105};

Electorate::Seat seat_of(NodeId node) { return {node, voter(node).disk}; }

// A's directory, put back as it was after its first life.
struct Fixture {
  OlderCopy copy{kA, {kFirstLife}};

  bool votes_under(uint64_t epoch) const { return copy.may_vote(kA, ring_of({kA, kB, kC}, epoch)); }
  void holds(NodeId member, uint64_t epoch, uint64_t own_epoch) {
    copy.on_ring_of(seat_of(member), 1, epoch, ring_of({kA, kB, kC}, own_epoch));
  }
  OlderCopy restarted() {
    OlderCopy next(kA, {kFirstLife, kThisLife});
    EXPECT_TRUE(next.load(copy.encode()).ok());
    return next;
  }
};

TEST(OlderCopy, IsFoundWhenAMemberRemembersALifeThatTheDirectoryLacks) {
  Fixture fixture;
  EXPECT_FALSE(fixture.copy.on_remembered({})) << "it never met this disk before";
  EXPECT_FALSE(fixture.copy.on_remembered({kFirstLife})) << "it has missed what came later";
  EXPECT_TRUE(fixture.votes_under(5));
  EXPECT_FALSE(fixture.copy.take_record().has_value());

  EXPECT_TRUE(fixture.copy.on_remembered({kFirstLife, kLostLife}));
  EXPECT_FALSE(fixture.votes_under(5));
  EXPECT_TRUE(fixture.copy.take_record().has_value());
}

// Each member remembers it, and this node may have refilled by the time when one returns.
TEST(OlderCopy, IsFoundOnceForEachCopyThatWasPutBack) {
  Fixture fixture;
  EXPECT_TRUE(fixture.copy.on_remembered({kOtherLostLife, kLostLife}));
  EXPECT_FALSE(fixture.copy.on_remembered({kOtherLostLife}));
  EXPECT_FALSE(fixture.copy.on_remembered({kLostLife, kFirstLife}));

  OlderCopy next = fixture.restarted();
  EXPECT_FALSE(next.on_remembered({kThisLife, kOtherLostLife}));
  EXPECT_TRUE(next.on_remembered({Boot{103}})) << "it was put back once more";
}

TEST(OlderCopy, VotesAgainTwoEpochsAfterTheLatestThatAMajorityHolds) {
  Fixture fixture;
  fixture.holds(kB, 5, 3);
  EXPECT_TRUE(fixture.copy.on_remembered({kLostLife}));
  fixture.holds(kC, 4, 3);
  EXPECT_FALSE(fixture.votes_under(7)) << "whose votes count in the ring of 5 isn't known yet";

  fixture.copy.on_ring(ring_of({kA, kB, kC}, 5));
  EXPECT_FALSE(fixture.votes_under(5));
  EXPECT_FALSE(fixture.votes_under(6)) << "the life that is forgotten may have proposed that itself";
  EXPECT_TRUE(fixture.votes_under(7));
}

TEST(OlderCopy, OneOfThreeIsNoMajorityAndTheCopyItselfDoesNotCount) {
  Fixture fixture;
  EXPECT_TRUE(fixture.copy.on_remembered({kLostLife}));
  fixture.holds(kB, 4, 4);
  fixture.holds(kA, 4, 4);
  fixture.copy.on_ring(ring_of({kA, kB, kC}, 6));
  EXPECT_FALSE(fixture.votes_under(9));
}

TEST(OlderCopy, WhatAMajorityHasSaidStandsOverARestart) {
  Fixture fixture;
  EXPECT_TRUE(fixture.copy.on_remembered({kLostLife}));
  fixture.holds(kB, 4, 4);
  fixture.holds(kC, 4, 4);
  OlderCopy next = fixture.restarted();
  next.on_ring_of(seat_of(kB), 1, 5, ring_of({kA, kB, kC}, 5));
  EXPECT_FALSE(next.may_vote(kA, ring_of({kA, kB, kC}, 5)));
  EXPECT_TRUE(next.may_vote(kA, ring_of({kA, kB, kC}, 6)));
}

TEST(OlderCopy, AVoterWhoseDiskWasWipedDoesNotKnowWhatHeHeld) {
  Fixture fixture;
  EXPECT_TRUE(fixture.copy.on_remembered({kLostLife}));
  fixture.holds(kB, 4, 4);
  fixture.copy.on_ring_of({kC, DiskId{77}}, 1, 4, ring_of({kA, kB, kC}, 4));
  EXPECT_FALSE(fixture.votes_under(9));
}

// What one said in an earlier life bounds nothing for those who haven't.
TEST(OlderCopy, AMajorityIsHeardInOneLife) {
  Fixture fixture;
  EXPECT_TRUE(fixture.copy.on_remembered({kLostLife}));
  fixture.holds(kB, 4, 4);
  OlderCopy next = fixture.restarted();
  next.on_ring_of(seat_of(kC), 1, 4, ring_of({kA, kB, kC}, 4));
  EXPECT_FALSE(next.may_vote(kA, ring_of({kA, kB, kC}, 9)));
}

TEST(OlderCopy, AnswersNoProposerWhoHasNotSaidYetWhatHeRemembers) {
  Fixture fixture;
  EXPECT_FALSE(fixture.copy.may_vote(kB, ring_of({kA, kB, kC}, 4)));
  fixture.holds(kB, 4, 4);
  EXPECT_TRUE(fixture.copy.may_vote(kB, ring_of({kA, kB, kC}, 4)));
  EXPECT_FALSE(fixture.copy.may_vote(kC, ring_of({kA, kB, kC}, 4)));
}

TEST(OlderCopy, VotesInALaterLineage) {
  Fixture fixture;
  EXPECT_TRUE(fixture.copy.on_remembered({kLostLife}));
  fixture.holds(kB, 9, 9);
  fixture.holds(kC, 9, 9);
  Electorate forced = ring_of({kA, kB, kC}, 2);
  forced.lineage = 2;
  EXPECT_TRUE(fixture.copy.may_vote(kA, forced));
}

TEST(OlderCopy, ItsRecordIsCorruptWhereAByteIsWrongOrMissing) {
  Fixture fixture;
  EXPECT_TRUE(fixture.copy.on_remembered({kLostLife}));
  const std::string bytes = fixture.copy.encode();
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    EXPECT_EQ(OlderCopy(kA, {}).load(damaged).code(), StatusCode::kCorruption) << i;
    if (i > 0) {
      EXPECT_EQ(OlderCopy(kA, {}).load(bytes.substr(0, i)).code(), StatusCode::kCorruption) << i;
    }
  }
}

}  // namespace
}  // namespace ringkv
