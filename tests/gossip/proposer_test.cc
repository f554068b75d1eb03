#include "gossip/proposer.h"

#include <gtest/gtest.h>

#include "base/ring_description.h"
#include "gossip/acceptor.h"
#include "tests/gossip/agreement_sample.h"

namespace ringkv {
namespace {

using namespace agreement_sample;

using std::chrono::milliseconds;

// A proposes "ring of 5"; its first ballot is of round 1.
struct Fixture {
  explicit Fixture(const std::vector<NodeId>& voters = {kA, kB, kC})
      : proposer(voter(kA), ring_of(voters), [this](NodeId node) { return known.at(node); }, random,
                 {.description = "ring of 5", .deadline = now + std::chrono::seconds(5)}) {
    proposer.start(now, outbox);
  }

  template <class Answer>
  void answer(const Answer& message) {
    outbox.clear();
    proposer.on(message.voter.node, message, now, outbox);
  }
  void pass(Duration duration) {
    now += duration;
    outbox.clear();
    proposer.tick(now, outbox);
  }
  // Loses the first ballot to a later one and waits for the next.
  void refuse_first_for(const Ballot& later) {
    Promise refused = promise(kB, ballot(1));
    refused.promised = later;
    answer(refused);
    pass(milliseconds(20));
  }
  bool is_decided() const { return proposer.outcome().has_value(); }

  SeededRandom random{1};
  Time now{};
  std::map<NodeId, Boot> known{{kA, boot_of(kA)}, {kB, boot_of(kB)}, {kC, boot_of(kC)}};
  GossipOutbox outbox;
  Proposer proposer;
};

TEST(Proposer, HasItsDescriptionChosenByAMajority) {
  Fixture fixture;
  EXPECT_EQ(receivers(fixture.outbox), (std::vector{kA, kB, kC}));
  EXPECT_EQ(all<Prepare>(fixture.outbox).at(1).ballot, ballot(1));
  EXPECT_EQ(all<Prepare>(fixture.outbox).at(1).follows, "digest of 4");

  fixture.answer(promise(kA, ballot(1)));
  EXPECT_TRUE(fixture.outbox.empty());
  fixture.answer(promise(kC, ballot(1)));
  EXPECT_EQ(receivers(fixture.outbox), (std::vector{kA, kB, kC}));
  EXPECT_EQ(all<Accept>(fixture.outbox).at(0).value, "ring of 5");

  fixture.answer(accepted(kA, ballot(1)));
  EXPECT_FALSE(fixture.is_decided());
  fixture.answer(accepted(kC, ballot(1)));
  ASSERT_TRUE(fixture.is_decided());
  EXPECT_TRUE(fixture.proposer.outcome()->status.ok());
  EXPECT_EQ(fixture.proposer.outcome()->epoch, 5U);
  EXPECT_EQ(fixture.proposer.outcome()->chosen, "ring of 5");
  EXPECT_EQ(fixture.proposer.outcome()->silent, std::vector{kB});
}

TEST(Proposer, GoesOnWithTheDescriptionOfTheLatestBallotThatWasAccepted) {
  Fixture fixture({kA, kB, kC, {4}, {5}});
  fixture.refuse_first_for(ballot(6, kC));
  fixture.known[{4}] = boot_of({4});

  const auto answer_with = [&fixture](NodeId from, const Ballot& accepted, const std::string& value) {
    Promise answer = promise(from, ballot(7));
    answer.accepted = accepted;
    answer.value = value;
    fixture.answer(answer);
  };
  answer_with(kB, ballot(4, kB), "B's");
  answer_with(kC, ballot(5, kC), "C's");
  answer_with({4}, ballot(3, kB), "an older one of B");
  EXPECT_EQ(all<Accept>(fixture.outbox).at(0).value, "C's");
}

TEST(Proposer, CountsAVoterOnce) {
  Fixture fixture;
  fixture.answer(promise(kB, ballot(1)));
  fixture.answer(promise(kB, ballot(1)));
  EXPECT_TRUE(fixture.outbox.empty());

  fixture.answer(promise(kC, ballot(1)));
  fixture.answer(accepted(kB, ballot(1)));
  fixture.answer(accepted(kB, ballot(1)));
  EXPECT_FALSE(fixture.is_decided());
}

TEST(Proposer, CountsNoVoteOfAnotherDiskOrLife) {
  Fixture fixture;
  fixture.answer(promise(kA, ballot(1)));

  Promise wiped = promise(kB, ballot(1));
  wiped.voter.disk = DiskId{21};
  fixture.answer(wiped);
  Promise earlier_life = promise(kB, ballot(1));
  earlier_life.voter.boot = Boot{199};
  fixture.answer(earlier_life);
  fixture.known[kB] = Boot{};  // none is known yet
  fixture.answer(promise(kB, ballot(1)));
  Promise nobody = promise(kB, ballot(1));
  nobody.voter.boot = Boot{};
  fixture.answer(nobody);
  EXPECT_TRUE(fixture.outbox.empty());

  fixture.known[kB] = boot_of(kB);
  fixture.answer(promise(kB, ballot(1)));
  EXPECT_EQ(all<Accept>(fixture.outbox).size(), 3U);
}

TEST(Proposer, CountsNoVoteThatOneNodeBringsForAnother) {
  Fixture fixture;
  fixture.answer(promise(kA, ballot(1)));
  fixture.outbox.clear();
  fixture.proposer.on(kB, promise(kC, ballot(1)), fixture.now, fixture.outbox);
  EXPECT_TRUE(fixture.outbox.empty());
}

TEST(Proposer, CountsNoVoteOfAnotherBallotOrEpoch) {
  Fixture fixture;
  fixture.answer(promise(kA, ballot(1)));
  Promise other_ballot = promise(kB, {1, kA, Boot{99}});
  fixture.answer(other_ballot);
  Promise other_epoch = promise(kB, ballot(1));
  other_epoch.epoch = 4;
  fixture.answer(other_epoch);
  EXPECT_TRUE(fixture.outbox.empty());
}

TEST(Proposer, NeedsBothOfTwoVoters) {
  Fixture fixture({kA, kB});
  fixture.answer(promise(kA, ballot(1)));
  EXPECT_TRUE(fixture.outbox.empty());
  fixture.answer(promise(kB, ballot(1)));
  fixture.answer(accepted(kA, ballot(1)));
  EXPECT_FALSE(fixture.is_decided());
  fixture.answer(accepted(kB, ballot(1)));
  EXPECT_TRUE(fixture.is_decided());
}

TEST(Proposer, PausesAtALaterBallotAndComesBackWithAStillLaterOne) {
  Fixture fixture;
  Promise refused = promise(kB, ballot(1));
  refused.promised = ballot(7, kC);
  fixture.answer(refused);
  EXPECT_TRUE(fixture.outbox.empty());
  fixture.answer(promise(kA, ballot(1)));
  fixture.answer(promise(kC, ballot(1)));
  EXPECT_TRUE(fixture.outbox.empty()) << "the ballot was given up";

  fixture.pass(milliseconds(20));
  ASSERT_EQ(all<Prepare>(fixture.outbox).size(), 3U);
  EXPECT_EQ(all<Prepare>(fixture.outbox).at(0).ballot, ballot(8));
}

TEST(Proposer, PausesWhenItsAcceptIsRefused) {
  Fixture fixture;
  fixture.answer(promise(kA, ballot(1)));
  fixture.answer(promise(kB, ballot(1)));
  Accepted refused = accepted(kB, ballot(1));
  refused.promised = ballot(2, kC);
  fixture.answer(refused);
  fixture.answer(accepted(kA, ballot(1)));
  fixture.answer(accepted(kC, ballot(1)));
  EXPECT_FALSE(fixture.is_decided());

  fixture.pass(milliseconds(20));
  EXPECT_EQ(all<Prepare>(fixture.outbox).at(0).ballot, ballot(3));
}

// Two that always paused equally long would meet again each time.
TEST(Proposer, PausesLongerTheMoreBallotsAreLostAndNeverForLong) {
  Fixture fixture;
  Duration longest_early{};
  Duration longest{};
  for (uint64_t lost = 0; lost < 8; ++lost) {
    const Ballot mine = ballot(fixture.proposer.last_round());
    Promise refused = promise(kB, mine);
    refused.promised = ballot(mine.round, kC);
    fixture.answer(refused);
    Duration pause{};
    while (fixture.outbox.empty() && pause < std::chrono::seconds(2)) {
      fixture.pass(milliseconds(1));
      pause += milliseconds(1);
    }
    ASSERT_LE(pause, milliseconds(1281));
    longest = std::max(longest, pause);
    if (lost < 3) longest_early = std::max(longest_early, pause);
  }
  EXPECT_LE(longest_early, milliseconds(81));
  EXPECT_GT(longest, milliseconds(200));
}

TEST(Proposer, AsksAgainThoseThatHaveNotAnswered) {
  Fixture fixture;
  fixture.answer(promise(kB, ballot(1)));
  fixture.pass(milliseconds(299));
  EXPECT_TRUE(fixture.outbox.empty());
  fixture.pass(milliseconds(1));
  EXPECT_EQ(receivers(fixture.outbox), (std::vector{kA, kC}));
  EXPECT_EQ(all<Prepare>(fixture.outbox).at(0).ballot, ballot(1));

  fixture.answer(promise(kA, ballot(1)));
  fixture.answer(accepted(kA, ballot(1)));
  fixture.pass(milliseconds(300));
  EXPECT_EQ(receivers(fixture.outbox), (std::vector{kB, kC}));
  EXPECT_EQ(all<Accept>(fixture.outbox).at(0).value, "ring of 5");
}

TEST(Proposer, TimesOutNamingTheVotersThatNeverAnswered) {
  Fixture fixture;
  Promise refused = promise(kB, ballot(1));
  refused.promised = ballot(2, kC);
  fixture.answer(refused);
  fixture.pass(std::chrono::seconds(5));

  ASSERT_TRUE(fixture.is_decided());
  EXPECT_EQ(fixture.proposer.outcome()->status,
            unavailable("epoch 5 was not decided in time: 1 of 3 voters answered, 2 are needed"));
  EXPECT_EQ(fixture.proposer.outcome()->silent, (std::vector{kA, kC}));
}

TEST(Proposer, SaysWhereItsDescriptionMayStillBeChosenByAnother) {
  Fixture fixture;
  fixture.answer(promise(kA, ballot(1)));
  fixture.answer(promise(kB, ballot(1)));
  fixture.pass(std::chrono::seconds(5));
  const std::string& message = fixture.proposer.outcome()->status.message();
  EXPECT_NE(message.find("some may have accepted this change"), std::string::npos) << message;
}

TEST(Proposer, IgnoresABallotAfterWhichThereIsNone) {
  Fixture fixture;
  Promise refused = promise(kB, ballot(1));
  refused.promised = ballot(~0ULL, kC);
  fixture.answer(refused);
  fixture.answer(promise(kA, ballot(1)));
  fixture.answer(promise(kC, ballot(1)));
  EXPECT_EQ(all<Accept>(fixture.outbox).size(), 3U);
}

// Else it would choose its own description over one that may have been chosen.
TEST(Proposer, CountsNoPromiseThatNamesABallotWithoutItsDescription) {
  Fixture fixture;
  Promise half = promise(kB, ballot(1));
  half.accepted = ballot(1);
  fixture.answer(half);
  fixture.answer(promise(kA, ballot(1)));
  EXPECT_TRUE(fixture.outbox.empty());
}

TEST(Proposer, EndsWhenAnotherRingOfItsEpochIsAdopted) {
  Fixture fixture;
  fixture.proposer.overtake(ring_of({kA, kB, kC}, 5));
  ASSERT_TRUE(fixture.is_decided());
  EXPECT_EQ(fixture.proposer.outcome()->status.code(), StatusCode::kUnavailable);
  EXPECT_EQ(fixture.proposer.outcome()->epoch, 5U);

  fixture.answer(promise(kA, ballot(1)));
  fixture.answer(promise(kB, ballot(1)));
  fixture.pass(milliseconds(300));
  EXPECT_TRUE(fixture.outbox.empty());
}

// Another proposer has found it at a voter and completed it.
TEST(Proposer, EndsWellWhenItsOwnRingComesFromElsewhere) {
  Fixture fixture;
  Electorate own = ring_of({kA, kB, kC}, 5);
  own.digest = ring_digest("ring of 5");
  fixture.proposer.overtake(own);
  EXPECT_TRUE(fixture.proposer.outcome()->status.ok());
  EXPECT_EQ(fixture.proposer.outcome()->chosen, "ring of 5");
}

}  // namespace
}  // namespace ringkv
