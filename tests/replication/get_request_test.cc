#include "replication/get_request.h"

#include <gtest/gtest.h>

#include "tests/replication/peer_fixture.h"

namespace ringkv {
namespace {

constexpr NodeId kA{1};
constexpr NodeId kB{2};
constexpr NodeId kC{3};
constexpr Time kNow{std::chrono::seconds(100)};
constexpr Duration kLongest = std::chrono::hours(1);

using Progress = GetRequest::Progress;
using Confirmation = GetRequest::Confirmation;

// What a get sees of a ring in which all can be reached.
class GetRequestTest : public testing::Test {
 protected:
  GetRequestTest() : ring_(PeerFixture::one_member()), view_(NodeId{9}, ring_, &token_of) {}

  static GetRequest get_from(std::vector<NodeId> owners, uint32_t read_quorum, uint32_t holders = 0,
                             Conflict conflict = Conflict::kSiblings) {
    return GetRequest({1, 1}, {.key = "k", .conflict = conflict},
                      {.owners = std::move(owners), .read_quorum = read_quorum, .holders = holders}, kNow);
  }

  static Record record_by(NodeId node, uint64_t counter) {
    const Actor actor{node, Boot{1}};
    Record record;
    record.context.vector.raise(actor, counter);
    record.context.highest_time = counter;
    record.versions = {{.dot = {actor, counter}, .time = counter, .value = std::to_string(counter)}};
    return record;
  }
  ReplicaGetReply whole(NodeId replica, const Record& record) const {
    ReplicaGetReply reply{.replica = replica};
    reply.record = record;
    if (!record.versions.empty()) reply.hash = view_.hasher().hash({}, record);
    return reply;
  }
  // With the floor of its replica: it has merged, or knows superseded, all up to here.
  ReplicaGetReply floored(NodeId replica, const Record& record, const std::vector<Dot>& floor = {},
                          std::vector<Actor> closed = {}) const {
    ReplicaGetReply reply = whole(replica, record);
    reply.with_floor = true;
    for (const Dot& dot : floor) reply.floor.raise(dot.actor, dot.counter);
    reply.closed = std::move(closed);
    return reply;
  }
  ReplicaGetReply digest(NodeId replica, const Record& record) const {
    ReplicaGetReply reply = whole(replica, record);
    reply.record.versions.clear();
    reply.digest = true;
    return reply;
  }
  static ReplicaGetReply failed(NodeId replica, Status why) {
    ReplicaGetReply reply{.replica = replica};
    reply.status = std::move(why);
    return reply;
  }
  std::string asked(GetRequest& get, Time now = kNow) {
    std::string text;
    for (const GetRequest::Ask& ask : get.next_asks(view_, now)) {
      text += static_cast<char>('A' + ask.node.value - 1);
      text += ask.digest ? "d " : ask.with_floor ? "f " : "w ";
    }
    return text;
  }

  const Record record_ = record_by(kA, 7);
  Ring ring_;
  RingView view_;
};

TEST_F(GetRequestTest, AsksAsManyAsItNeedsOneOfThemForTheRecord) {
  GetRequest get = get_from({kA, kB, kC}, 1, 2);
  EXPECT_EQ(asked(get), "Aw Bd ");
  EXPECT_EQ(asked(get), "");
}

TEST_F(GetRequestTest, AnEqualDigestIsAnAnswer) {
  GetRequest get = get_from({kA, kB, kC}, 2, 2);
  asked(get);
  get.on_reply(digest(kB, record_), kNow);
  EXPECT_EQ(get.progress(view_, kNow), Progress::kWaits) << "a digest alone is none";
  get.on_reply(whole(kA, record_), kNow);
  EXPECT_EQ(get.progress(view_, kNow), Progress::kResolved);
  get.resolve(view_.hasher());
  EXPECT_EQ(get.record(), record_);
  EXPECT_TRUE(get.next_repairs(view_).empty());
  EXPECT_EQ(get.confirmation(view_, kNow), Confirmation::kConfirmed);
}

TEST_F(GetRequestTest, EqualDigestsMayKnowMoreContext) {
  GetRequest get = get_from({kA, kB}, 2, 2);
  asked(get);
  ReplicaGetReply reply = digest(kB, record_);
  reply.record.context.vector.raise({kC, Boot{1}}, 3);
  get.on_reply(std::move(reply), kNow);
  get.on_reply(whole(kA, record_), kNow);
  get.progress(view_, kNow);
  get.resolve(view_.hasher());
  EXPECT_EQ(get.record().context.vector.counter_of({kC, Boot{1}}), 3U);
}

TEST_F(GetRequestTest, ADifferentDigestHasItsRecordFetchedAndItsOwnersRepaired) {
  GetRequest get = get_from({kA, kB, kC}, 2, 2);
  asked(get);
  const Record other = record_by(kB, 8);
  get.on_reply(whole(kA, record_), kNow);
  get.on_reply(digest(kB, other), kNow);
  EXPECT_EQ(asked(get), "Af Bf ") << "any of them may have dropped what another shows";
  EXPECT_EQ(asked(get), "");
  get.on_reply(floored(kB, other), kNow);
  EXPECT_EQ(get.progress(view_, kNow), Progress::kWaits);
  get.on_reply(floored(kA, record_), kNow);
  ASSERT_EQ(get.progress(view_, kNow), Progress::kResolved);
  get.resolve(view_.hasher());
  EXPECT_EQ(get.record().versions.size(), 2U);
  EXPECT_EQ(get.hash(), view_.hasher().hash({}, get.record()));
  EXPECT_EQ(get.next_repairs(view_), (std::vector<NodeId>{kA, kB}));
  get.on_repaired(kA, {});
  EXPECT_EQ(get.confirmation(view_, kNow), Confirmation::kWaits);
  get.on_repaired(kB, {});
  EXPECT_EQ(get.confirmation(view_, kNow), Confirmation::kConfirmed);
}

TEST_F(GetRequestTest, DigestsThatAgreeWaitForTheRecordThatIsOnItsWay) {
  GetRequest get = get_from({kA, kB, kC}, 3, 3);
  asked(get);
  const Record other = record_by(kB, 8);
  get.on_reply(digest(kB, other), kNow);
  get.on_reply(digest(kC, other), kNow);
  EXPECT_EQ(asked(get), "") << "the record that is on its way may be theirs";
  get.on_reply(whole(kA, record_), kNow);
  EXPECT_EQ(asked(get), "Af Bf Cf ");
}

// ---- What one owner has dropped and another still holds

TEST_F(GetRequestTest, WhatIsUnderAnOwnersFloorAndNotHeldThereIsSuperseded) {
  GetRequest get = get_from({kA, kB}, 2, 2);
  asked(get);
  get.on_reply(whole(kA, {}), kNow);
  get.on_reply(digest(kB, record_), kNow);
  EXPECT_EQ(asked(get), "Af Bf ");
  get.on_reply(floored(kA, {}, {{{kA, Boot{1}}, 9}, {{kC, Boot{1}}, 100}}), kNow);
  get.on_reply(floored(kB, record_), kNow);
  ASSERT_EQ(get.progress(view_, kNow), Progress::kResolved);
  get.resolve(view_.hasher());
  EXPECT_TRUE(get.record().versions.empty());
  EXPECT_EQ(get.record().context.vector, record_.context.vector) << "no more than the versions at hand";
  EXPECT_EQ(get.hash(), Hash128());
  EXPECT_EQ(get.next_repairs(view_), std::vector<NodeId>{kB}) << "with a context alone";
  EXPECT_EQ(get.confirmation(view_, kNow), Confirmation::kWaits);
  get.on_repaired(kB, {});
  EXPECT_EQ(get.confirmation(view_, kNow), Confirmation::kConfirmed);
}

TEST_F(GetRequestTest, WhatIsAboveItsFloorTheOwnerHasNotSeenYet) {
  GetRequest get = get_from({kA, kB}, 2, 2);
  asked(get);
  get.on_reply(whole(kA, {}), kNow);
  get.on_reply(digest(kB, record_), kNow);
  asked(get);
  get.on_reply(floored(kA, {}, {{{kA, Boot{1}}, 6}}), kNow);
  get.on_reply(floored(kB, record_), kNow);
  ASSERT_EQ(get.progress(view_, kNow), Progress::kResolved);
  get.resolve(view_.hasher());
  EXPECT_EQ(get.record().versions, record_.versions);
  EXPECT_EQ(get.next_repairs(view_), std::vector<NodeId>{kA});
}

TEST_F(GetRequestTest, OfAClosedLifeAllIsUnderTheFloor) {
  GetRequest get = get_from({kA, kB}, 2, 2);
  asked(get);
  get.on_reply(whole(kA, {}), kNow);
  get.on_reply(digest(kB, record_), kNow);
  asked(get);
  get.on_reply(floored(kA, {}, {}, {{kA, Boot{1}}}), kNow);
  get.on_reply(floored(kB, record_), kNow);
  get.progress(view_, kNow);
  get.resolve(view_.hasher());
  EXPECT_TRUE(get.record().versions.empty());
}

TEST_F(GetRequestTest, AVersionThatItsOwnerHoldsIsNotSupersededByItsFloor) {
  GetRequest get = get_from({kA, kB}, 2, 2);
  asked(get);
  get.on_reply(whole(kA, record_), kNow);
  get.on_reply(digest(kB, {}), kNow);
  asked(get);
  get.on_reply(floored(kA, record_, {{{kA, Boot{1}}, 9}}), kNow);
  get.on_reply(floored(kB, {}), kNow);
  get.progress(view_, kNow);
  get.resolve(view_.hasher());
  EXPECT_EQ(get.record().versions, record_.versions);
}

// Owner C agrees with A, but what they have may be what B has dropped.
TEST_F(GetRequestTest, AllThatHaveAnsweredAreAskedForTheirFloorsAndLaterOnesAtOnce) {
  GetRequest get = get_from({kA, kB, kC}, 2, 2);
  asked(get);
  get.on_reply(whole(kA, record_), kNow);
  get.on_reply(digest(kB, {}), kNow);
  EXPECT_EQ(asked(get), "Af Bf ");
  get.on_reply(failed(kB, unavailable("gone")), kNow);
  EXPECT_EQ(asked(get), "Cd ") << "they don't differ any more";
  get.on_reply(digest(kC, {}), kNow);
  EXPECT_EQ(asked(get), "Cf ") << "one is on its way already";
}

TEST_F(GetRequestTest, AnAnswerWithoutItsFloorDoesNotCountWhereAnswersDiffer) {
  GetRequest get = get_from({kA, kB}, 2, 2);
  asked(get);
  get.on_reply(whole(kA, record_), kNow);
  get.on_reply(digest(kB, {}), kNow);
  asked(get);
  get.on_reply(whole(kA, record_), kNow);  // comes twice
  get.on_reply(floored(kB, {}), kNow);
  EXPECT_EQ(get.progress(view_, kNow), Progress::kWaits);
  EXPECT_FALSE(get.readable());
}

// Nobody's later quorum may miss the delete: who doesn't know of it isn't one of its holders.
TEST_F(GetRequestTest, AnOwnerThatHasNeverHeardOfADeletedKeyDoesNotConfirmItsDelete) {
  GetRequest get = get_from({kA, kB}, 2, 2);
  asked(get);
  const Record deleted{record_.context, {}};
  get.on_reply(whole(kA, deleted), kNow);
  get.on_reply(digest(kB, {}), kNow);
  EXPECT_EQ(asked(get), "Af Bf ") << "its floor may know";
  get.on_reply(floored(kA, deleted), kNow);
  get.on_reply(floored(kB, {}), kNow);
  ASSERT_EQ(get.progress(view_, kNow), Progress::kResolved);
  get.resolve(view_.hasher());
  EXPECT_EQ(get.next_repairs(view_), std::vector<NodeId>{kB});
  EXPECT_EQ(get.confirmation(view_, kNow), Confirmation::kWaits);
  get.on_repaired(kB, {});
  EXPECT_EQ(get.confirmation(view_, kNow), Confirmation::kConfirmed);
}

// Else each read would repair it anew: it keeps nothing that its floor says already.
TEST_F(GetRequestTest, AnOwnerThatKnowsOfADeleteByItsFloorConfirmsIt) {
  GetRequest get = get_from({kA, kB}, 2, 2);
  asked(get);
  const Record deleted{record_.context, {}};
  get.on_reply(whole(kA, deleted), kNow);
  get.on_reply(digest(kB, {}), kNow);
  asked(get);
  get.on_reply(floored(kA, deleted), kNow);
  get.on_reply(floored(kB, {}, {{{kA, Boot{1}}, 7}}), kNow);
  ASSERT_EQ(get.progress(view_, kNow), Progress::kResolved);
  get.resolve(view_.hasher());
  EXPECT_TRUE(get.next_repairs(view_).empty());
  EXPECT_EQ(get.confirmation(view_, kNow), Confirmation::kConfirmed);
}

TEST_F(GetRequestTest, OfAKeyThatNobodyKnowsIsConfirmedAtOnce) {
  GetRequest get = get_from({kA, kB}, 2, 2);
  asked(get);
  get.on_reply(whole(kA, {}), kNow);
  get.on_reply(digest(kB, {}), kNow);
  ASSERT_EQ(get.progress(view_, kNow), Progress::kResolved);
  get.resolve(view_.hasher());
  EXPECT_TRUE(get.next_repairs(view_).empty());
  EXPECT_EQ(get.confirmation(view_, kNow), Confirmation::kConfirmed);
}

TEST_F(GetRequestTest, OfAnLwwBucketKeepsTheLatest) {
  GetRequest get = get_from({kA, kB}, 2, 2, Conflict::kLastWriterWins);
  asked(get);
  get.on_reply(floored(kA, record_by(kA, 7)), kNow);
  get.on_reply(floored(kB, record_by(kB, 8)), kNow);
  get.progress(view_, kNow);
  get.resolve(view_.hasher());
  ASSERT_EQ(get.record().versions.size(), 1U);
  EXPECT_EQ(get.record().versions[0].value, "8");
  EXPECT_EQ(get.next_repairs(view_), std::vector<NodeId>{kA});
}

TEST_F(GetRequestTest, AFailureIsMadeUpForByTheNextOwner) {
  GetRequest get = get_from({kA, kB, kC}, 2, 2);
  asked(get);
  get.on_reply(failed(kA, corruption("table 7")), kNow);
  EXPECT_EQ(asked(get), "Cw ");
  EXPECT_EQ(get.progress(view_, kNow), Progress::kWaits);
  get.on_reply(failed(kB, unavailable("isn't whole yet")), kNow);
  EXPECT_EQ(get.progress(view_, kNow), Progress::kImpossible);
}

TEST_F(GetRequestTest, WhatAllFailedWithAlikeIsItsFailure) {
  GetRequest get = get_from({kA}, 1);
  asked(get);
  get.on_reply(failed(kA, corruption("table 7")), kNow);
  EXPECT_EQ(get.failure(view_, "can't be read").code(), StatusCode::kCorruption);

  GetRequest mixed = get_from({kA, kB}, 2);
  asked(mixed);
  mixed.on_reply(failed(kA, corruption("table 7")), kNow);
  EXPECT_EQ(mixed.failure(view_, "can't be read").code(), StatusCode::kUnavailable);
}

TEST_F(GetRequestTest, ALateOwnerIsJoinedByAnotherAndStillCountsWhenItAnswers) {
  GetRequest get = get_from({kA, kB, kC}, 2, 2);
  asked(get);
  get.on_reply(digest(kB, record_), kNow);
  EXPECT_FALSE(get.mark_late(kNow, [](NodeId) { return kLongest; }));
  EXPECT_TRUE(get.mark_late(kNow, [](NodeId) { return Duration(0); }));
  EXPECT_EQ(asked(get), "Bw Cd ") << "the record elsewhere, and somebody in place of the late one";
  get.on_reply(whole(kA, record_), kNow);
  EXPECT_EQ(get.progress(view_, kNow), Progress::kResolved);
}

TEST_F(GetRequestTest, WaitsForConfirmationOnlySoLong) {
  GetRequest get = get_from({kA, kB, kC}, 1, 2);
  asked(get);
  get.on_reply(whole(kA, record_), kNow);
  EXPECT_EQ(get.progress(view_, kNow), Progress::kWaits);
  const Time later = kNow + GetRequest::kConfirmationPatience;
  EXPECT_EQ(get.next_alarm(view_, [](NodeId) { return kLongest; }), later);
  EXPECT_EQ(get.progress(view_, later), Progress::kResolved);
  get.resolve(view_.hasher());
  EXPECT_EQ(get.confirmation(view_, later), Confirmation::kUnconfirmed);
}

TEST_F(GetRequestTest, AReplyThatComesTwiceCountsOnce) {
  GetRequest get = get_from({kA, kB}, 2);
  asked(get);
  get.on_reply(whole(kA, record_), kNow);
  get.on_reply(whole(kA, record_), kNow);
  EXPECT_EQ(get.progress(view_, kNow), Progress::kWaits);
}

TEST_F(GetRequestTest, ANodeThatWasNotAskedDoesNotCount) {
  GetRequest get = get_from({kA, kB}, 1);
  asked(get);
  get.on_reply(whole(kC, record_), kNow);
  EXPECT_EQ(get.progress(view_, kNow), Progress::kWaits);
}

TEST_F(GetRequestTest, ALatencyIsThatOfAReplyThatWasWaitedFor) {
  GetRequest get = get_from({kA, kB}, 1);
  asked(get);
  EXPECT_EQ(get.on_reply(whole(kA, record_), kNow + std::chrono::milliseconds(3)),
            std::chrono::milliseconds(3));
  EXPECT_EQ(get.on_reply(whole(kA, record_), kNow + std::chrono::milliseconds(4)), std::nullopt);
}

// ---- while the ring changes: gets ask n1, n2 and n3; the other list is of n2, n3 and n4

class GetRequestOnTwoListsTest : public GetRequestTest {
 protected:
  static GetRequest get() {
    return GetRequest({1, 1}, {.key = "k"},
                      {.owners = {NodeId{1}, NodeId{2}, NodeId{3}},
                       .read_quorum = 2,
                       .holders = 2,
                       .other_list = {NodeId{2}, NodeId{3}, NodeId{4}},
                       .other_holders = 2},
                      kNow);
  }
  // n1 and n2 hold the same, n3 doesn't answer.
  GetRequest read_from_two() {
    GetRequest get = this->get();
    get.next_asks(view_, kNow);
    const Record record = record_by(NodeId{1}, 1);
    get.on_reply(whole(NodeId{1}, record), kNow);
    get.on_reply(whole(NodeId{2}, record), kNow);
    get.on_failure(NodeId{3}, unavailable("down"));
    EXPECT_EQ(get.progress(view_, kNow), GetRequest::Progress::kResolved);
    get.resolve(view_.hasher());
    return get;
  }
};

TEST_F(GetRequestOnTwoListsTest, OwnersOnBothListsAreAskedUntilTheOtherOneHasEnoughToo) {
  GetRequest get = this->get();
  std::vector<NodeId> asked;
  for (const GetRequest::Ask& ask : get.next_asks(view_, kNow)) asked.push_back(ask.node);
  EXPECT_EQ(asked, (std::vector<NodeId>{NodeId{1}, NodeId{2}, NodeId{3}}));
}

TEST_F(GetRequestOnTwoListsTest, WhatTooFewOfTheOtherListHoldIsWrittenToIt) {
  GetRequest get = read_from_two();
  EXPECT_EQ(get.confirmation(view_, kNow), GetRequest::Confirmation::kWaits);
  EXPECT_EQ(get.next_repairs(view_), std::vector<NodeId>{NodeId{4}});
  get.on_repaired(NodeId{4}, {});
  EXPECT_EQ(get.confirmation(view_, kNow), GetRequest::Confirmation::kConfirmed);
}

TEST_F(GetRequestOnTwoListsTest, IsUnconfirmedWhereTheOtherListCannotHoldIt) {
  GetRequest get = read_from_two();
  get.next_repairs(view_);
  get.on_repaired(NodeId{4}, unavailable("down"));
  EXPECT_EQ(get.confirmation(view_, kNow), GetRequest::Confirmation::kUnconfirmed);
}

// There is nothing that could be held.
TEST_F(GetRequestOnTwoListsTest, AnAbsentKeyIsConfirmedWithoutTheOtherList) {
  GetRequest get = this->get();
  get.next_asks(view_, kNow);
  get.on_reply(whole(NodeId{1}, {}), kNow);
  get.on_reply(whole(NodeId{2}, {}), kNow);
  get.on_failure(NodeId{3}, unavailable("down"));
  ASSERT_EQ(get.progress(view_, kNow), GetRequest::Progress::kResolved);
  get.resolve(view_.hasher());
  EXPECT_TRUE(get.next_repairs(view_).empty());
  EXPECT_EQ(get.confirmation(view_, kNow), GetRequest::Confirmation::kConfirmed);
}

}  // namespace
}  // namespace ringkv
