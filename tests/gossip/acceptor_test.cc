#include "gossip/acceptor.h"

#include <gtest/gtest.h>

#include <optional>

#include "tests/gossip/agreement_sample.h"

namespace ringkv {
namespace {

using namespace agreement_sample;

// A's acceptor, its disk, and what it answers to B.
struct Fixture {
  Electorate ring = ring_of({kA, kB, kC});
  std::optional<Acceptor> acceptor{Acceptor(voter(kA), {})};
  std::string disk;

  template <class Request>
  GossipOutbox ask(const Request& request) {
    GossipOutbox outbox;
    acceptor->on(kB, request, ring, outbox);
    for (const MetaRecord& record : outbox.meta_records()) disk = record.value;
    return outbox;
  }
  Promise promise_to(const Prepare& request) {
    GossipOutbox outbox = ask(request);
    return all<Promise>(outbox).at(0);
  }
  void restart() { acceptor.emplace(voter(kA), *decode_vote_record(disk)); }
};

bool only_behind_its_record(GossipOutbox& outbox) {
  return outbox.meta_records().size() == 1 && outbox.meta_records()[0].key == kAcceptorKey &&
         outbox.envelopes().size() == 1 && outbox.envelopes()[0].after_records;
}

TEST(Acceptor, PromisesAndAcceptsBehindItsRecord) {
  Fixture fixture;
  GossipOutbox promised = fixture.ask(prepare(ballot(1, kB)));
  EXPECT_TRUE(only_behind_its_record(promised));
  EXPECT_EQ(promised.envelopes()[0].to, kB);

  GossipOutbox accepted = fixture.ask(accept(ballot(1, kB), "ring of 5"));
  EXPECT_TRUE(only_behind_its_record(accepted));
  EXPECT_EQ(all<Accepted>(accepted).at(0).promised, ballot(1, kB));
}

// The first answer's record may not be on disk yet.
TEST(Acceptor, AnswersARepeatedMessageBehindARecordToo) {
  Fixture fixture;
  fixture.ask(prepare(ballot(1, kB)));
  GossipOutbox again = fixture.ask(prepare(ballot(1, kB)));
  EXPECT_TRUE(only_behind_its_record(again));

  fixture.ask(accept(ballot(1, kB), "ring of 5"));
  GossipOutbox accepted_again = fixture.ask(accept(ballot(1, kB), "ring of 5"));
  EXPECT_TRUE(only_behind_its_record(accepted_again));
}

TEST(Acceptor, RefusesAnEarlierBallotAndNamesTheLaterOne) {
  Fixture fixture;
  fixture.ask(prepare(ballot(2, kC)));

  const Promise refused = fixture.promise_to(prepare(ballot(2, kB)));
  EXPECT_EQ(refused.ballot, ballot(2, kB));
  EXPECT_EQ(refused.promised, ballot(2, kC));

  GossipOutbox outbox = fixture.ask(accept(ballot(1, kB), "too late"));
  EXPECT_EQ(all<Accepted>(outbox).at(0).promised, ballot(2, kC));
  EXPECT_TRUE(outbox.meta_records().empty());
}

TEST(Acceptor, RemembersOverARestartWhatItPromisedAndAccepted) {
  Fixture fixture;
  fixture.ask(accept(ballot(1, kB), "ring of 5"));
  fixture.ask(prepare(ballot(7, kC)));
  fixture.restart();

  EXPECT_EQ(fixture.promise_to(prepare(ballot(6, kB))).promised, ballot(7, kC));
  const Promise later = fixture.promise_to(prepare(ballot(8, kB)));
  EXPECT_EQ(later.accepted, ballot(1, kB));
  EXPECT_EQ(later.value, "ring of 5");
}

TEST(Acceptor, VotesOnlyAboutTheEpochAfterItsRing) {
  Fixture fixture;
  for (const Prepare& other :
       {Prepare{4, "digest of 3", ballot(1, kB)}, Prepare{6, "digest of 5", ballot(1, kB)},
        Prepare{5, "another ring of 4", ballot(1, kB)}, Prepare{4, "digest of 4", ballot(1, kB)}}) {
    EXPECT_TRUE(fixture.ask(other).empty());
    EXPECT_TRUE(fixture.ask(Accept{other.epoch, other.follows, other.ballot, "ring"}).empty());
  }
  EXPECT_FALSE(fixture.ask(prepare(ballot(1, kB))).empty());
}

TEST(Acceptor, HasNoVoteUntilARingNamesItsDisk) {
  Fixture fixture;
  fixture.ring.seats[0].disk = DiskId{11};  // the directory was wiped since
  EXPECT_TRUE(fixture.ask(prepare(ballot(1, kB))).empty());
  EXPECT_TRUE(fixture.ask(accept(ballot(1, kB), "ring of 5")).empty());

  fixture.ring = ring_of({kA, kB, kC}, 5);
  EXPECT_FALSE(fixture.ask(Prepare{6, "digest of 5", ballot(1, kB)}).empty());
}

TEST(Acceptor, ForgetsTheVotesAboutAnEpochWithTheFirstAboutALaterOne) {
  Fixture fixture;
  fixture.ask(accept(ballot(9, kB), "ring of 5"));

  fixture.ring = ring_of({kA, kB, kC}, 5);
  const Promise fresh = fixture.promise_to({6, "digest of 5", ballot(1, kB)});
  EXPECT_EQ(fresh.promised, ballot(1, kB));
  EXPECT_FALSE(fresh.accepted);
  EXPECT_EQ(decode_vote_record(fixture.disk)->epoch, 6U);
}

// Its ring is lost, and with it what was chosen; the votes that are left tell that there was more.
TEST(Acceptor, AbstainsWhereItsVotesAreAheadOfItsRing) {
  Fixture fixture;
  fixture.ring = ring_of({kA, kB, kC}, 6);
  fixture.ask(Prepare{7, "digest of 6", ballot(1, kB)});

  fixture.ring = ring_of({kA, kB, kC}, 4);
  EXPECT_TRUE(fixture.ask(prepare(ballot(2, kB))).empty());
}

TEST(Acceptor, VotesInALaterLineageWhateverTheEpoch) {
  Fixture fixture;
  fixture.ask(prepare(ballot(5, kB)));
  fixture.ring = ring_of({kA, kB, kC}, 2);
  fixture.ring.lineage = 2;
  EXPECT_EQ(fixture.promise_to({3, "digest of 2", ballot(1, kB)}).promised, ballot(1, kB));
}

TEST(Acceptor, TakesNoBallotAfterWhichThereIsNone) {
  Fixture fixture;
  EXPECT_TRUE(fixture.ask(prepare(ballot(kRoundMax + 1, kB))).empty());
  EXPECT_TRUE(fixture.ask(prepare(ballot(~0ULL, kB))).empty());
  EXPECT_TRUE(fixture.ask(accept(ballot(~0ULL, kB), "ring of 5")).empty());
  EXPECT_TRUE(fixture.ask(prepare(Ballot())).empty());
}

TEST(Acceptor, TakesNoDescriptionThatItCouldNotReadAgain) {
  Fixture fixture;
  EXPECT_TRUE(fixture.ask(accept(ballot(1, kB), "")).empty());
  EXPECT_TRUE(fixture.ask(accept(ballot(1, kB), std::string(kDescriptionBytesMax + 1, 'r'))).empty());

  fixture.ask(accept(ballot(1, kB), std::string(kDescriptionBytesMax, 'r')));
  EXPECT_TRUE(decode_vote_record(fixture.disk).ok());
}

VoteRecord sample_votes() {
  return {.lineage = 2,
          .epoch = 5,
          .follows = std::string(40, 'a'),
          .promised = ballot(7, kC),
          .accepted = ballot(3, kB),
          .value = "ring of 5"};
}

TEST(VoteRecord, IsReadAsItWasWritten) {
  const VoteRecord votes = sample_votes();
  EXPECT_EQ(*decode_vote_record(encode_vote_record(votes)), votes);
  EXPECT_EQ(*decode_vote_record(""), VoteRecord());
}

TEST(VoteRecord, IsCorruptWhereAByteIsWrongOrMissing) {
  const std::string bytes = encode_vote_record(sample_votes());
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    EXPECT_EQ(decode_vote_record(damaged).status().code(), StatusCode::kCorruption) << i;
    if (i > 0) {
      EXPECT_EQ(decode_vote_record(bytes.substr(0, i)).status().code(), StatusCode::kCorruption) << i;
    }
  }
  EXPECT_EQ(decode_vote_record(bytes + '\0').status().code(), StatusCode::kCorruption);
}

TEST(VoteRecord, IsCorruptWhereItContradictsItself) {
  VoteRecord accepted_more = sample_votes();
  accepted_more.accepted = ballot(8, kC);
  VoteRecord nothing_accepted = sample_votes();
  nothing_accepted.accepted = {};
  VoteRecord nothing_promised = sample_votes();
  nothing_promised.promised = {};
  for (const VoteRecord& wrong : {accepted_more, nothing_accepted, nothing_promised}) {
    EXPECT_EQ(decode_vote_record(encode_vote_record(wrong)).status().code(), StatusCode::kCorruption);
  }
}

TEST(VoteRecord, OfALaterFormatIsRefusedWithBothNumbers) {
  std::string bytes = encode_vote_record(sample_votes());
  bytes[0] = 2;
  EXPECT_EQ(decode_vote_record(bytes).status(), corruption("votes on disk: format 2, this build reads 1"));
}

}  // namespace
}  // namespace ringkv
