// Puts and deletes through the coordinators of several nodes.
#include "replication/puts.h"

#include <gtest/gtest.h>

#include "tests/replication/cluster_fixture.h"

namespace ringkv {
namespace {

using Values = std::vector<std::string>;

constexpr OperationId kOperation{77, 1};

const PutReceipt& receipt_of(const ClientReply& reply) { return std::get<PutReceipt>(reply.body); }

std::set<std::string> acknowledged_by(const ClientReply& reply) {
  std::set<std::string> names;
  for (const Acknowledgement& ack : receipt_of(reply).acks) names.insert(ack.node);
  return names;
}

bool is_put_to(const ClusterFixture::Letter& letter, uint64_t node) {
  return letter.to == NodeId{node} && std::holds_alternative<ReplicaPut>(letter.message);
}

TEST(Puts, ReachEveryOwner) {
  ClusterFixture cluster(5);
  const std::string key = cluster.key_of(2);
  EXPECT_TRUE(cluster.put(2, {.key = key, .value = "v"}).status.ok());
  for (const uint64_t owner : {2, 3, 4}) EXPECT_EQ(cluster.values(owner, key), Values{"v"}) << owner;
  for (const uint64_t other : {1, 5}) EXPECT_TRUE(cluster.values(other, key).empty()) << other;
}

// W acknowledgements answer the client; the slowest replica does not matter.
TEST(Puts, SucceedOnceWriteQuorumAcknowledges) {
  ClusterFixture cluster(3);
  cluster.hold = [](const auto& letter) { return is_put_to(letter, 3); };
  const ClientReply reply = cluster.put(1, {.key = "k", .value = "v"});
  ASSERT_TRUE(reply.status.ok());
  EXPECT_EQ(acknowledged_by(reply), (std::set<std::string>{"n1", "n2"}));
  EXPECT_EQ(cluster.node(1).coordinator->under_way(), 0U);
}

TEST(Puts, LeaveForTheOthersBeforeTheOwnRecordIsOnDisk) {
  ClusterFixture cluster(3);
  cluster.auto_commit = false;
  const uint64_t request = cluster.ask(1, ClientPut{.key = "k", .value = "v"});
  EXPECT_EQ(cluster.count_in_flight<ReplicaPut>(), 2U);
  cluster.deliver_all();
  cluster.commit(cluster.node(2));
  cluster.commit(cluster.node(3));
  cluster.deliver_all();
  ASSERT_NE(cluster.answer(request), nullptr) << "the others' acknowledgements suffice";
  EXPECT_EQ(acknowledged_by(*cluster.answer(request)), (std::set<std::string>{"n2", "n3"}));
  EXPECT_FALSE(receipt_of(*cluster.answer(request)).context.empty());
}

TEST(Puts, AReplicaAcknowledgesOnlyWhatIsOnDisk) {
  ClusterFixture cluster(3);
  cluster.auto_commit = false;
  const uint64_t request = cluster.ask(1, ClientPut{.key = "k", .value = "v", .w = 3});
  cluster.deliver_all();
  cluster.commit(cluster.node(1));
  cluster.commit(cluster.node(2));
  cluster.deliver_all();
  EXPECT_EQ(cluster.answer(request), nullptr);
  cluster.commit(cluster.node(3));
  cluster.deliver_all();
  EXPECT_NE(cluster.answer(request), nullptr);
}

// Count replicas, not acknowledgements.
TEST(Puts, AnOwnerThatAcknowledgesTwiceCountsOnce) {
  ClusterFixture cluster(3);
  cluster.hold = [](const auto& letter) { return is_put_to(letter, 3); };
  const uint64_t request = cluster.ask(1, ClientPut{.key = "k", .value = "v", .w = 3});
  cluster.run();
  cluster.restore_link(1, 2);
  cluster.run();
  EXPECT_EQ(cluster.answer(request), nullptr);
}

TEST(Puts, ABufferedPutSaysSoAndIsSyncedNowhere) {
  ClusterFixture cluster(3);
  const ClientReply reply = cluster.put(1, {.key = "k", .value = "v", .durability = Durability::kBuffered});
  for (const Acknowledgement& ack : receipt_of(reply).acks) {
    EXPECT_EQ(ack.kind, Acknowledgement::Kind::kBuffered);
  }
  for (const uint64_t owner : {1, 2, 3}) {
    EXPECT_EQ(cluster.node(owner).fixture.disk.unsynced_batches(), 1U) << owner;
  }
}

TEST(Puts, WithTooFewOwnersReachableNothingIsWritten) {
  ClusterFixture cluster(3);
  cluster.see_unreachable({2, 3});
  const uint64_t request = cluster.ask(1, ClientPut{.key = "k", .value = "v"});
  EXPECT_EQ(cluster.code(request), StatusCode::kUnavailable) << "at once";
  EXPECT_NE(cluster.message(request).find("n2 and n3 can't be reached"), std::string::npos);
  EXPECT_NE(cluster.message(request).find("needs 2"), std::string::npos);
  cluster.run();
  EXPECT_TRUE(cluster.values(1, "k").empty());
  EXPECT_TRUE(cluster.in_flight.empty());
}

TEST(Puts, AreSentToOwnersThatCanNotBeReachedToo) {
  ClusterFixture cluster(3);
  cluster.see_unreachable({3});
  EXPECT_TRUE(cluster.put(1, {.key = "k", .value = "v"}).status.ok());
  EXPECT_EQ(cluster.values(3, "k"), Values{"v"}) << "it could be, after all";
}

// Row B116: an error must not say "failed" of what was written.
TEST(Puts, EndAsUnknownAtOnceWhenTooFewOwnersAreLeft) {
  ClusterFixture cluster(3);
  cluster.hold = [](const auto& letter) { return std::holds_alternative<ReplicaPut>(letter.message); };
  const uint64_t request = cluster.ask(1, ClientPut{.key = "k", .value = "v", .operation = kOperation});
  cluster.run();
  EXPECT_EQ(cluster.answer(request), nullptr);
  cluster.see_unreachable(1, {2});
  EXPECT_EQ(cluster.answer(request), nullptr);
  cluster.see_unreachable(1, {2, 3});
  EXPECT_EQ(cluster.code(request), StatusCode::kUnknownOutcome);
  const Boot boot = cluster.node(1).fixture.store->actor().boot;
  EXPECT_NE(cluster.message(request).find(to_text(OperationName{kOperation, boot})), std::string::npos);
  EXPECT_NE(cluster.message(request).find("n2: can't be reached; n3: can't be reached"), std::string::npos);
}

TEST(Puts, EndAsUnknownAtTheDeadline) {
  ClusterFixture cluster(3);
  cluster.hold = [](const auto& letter) { return std::holds_alternative<ReplicaPutAck>(letter.message); };
  const uint64_t request = cluster.ask(1, ClientPut{.key = "k", .value = "v"});
  cluster.run();
  cluster.pass(std::chrono::seconds(5));
  EXPECT_EQ(cluster.code(request), StatusCode::kUnknownOutcome);
  cluster.hold = nullptr;
  cluster.run();
  EXPECT_EQ(cluster.answered_twice, 0U);
  EXPECT_EQ(cluster.get(2, "k").values, Values{"v"});
}

TEST(Puts, TheStampingOwnersRefusalIsThePutsAndNothingIsWritten) {
  ClusterFixture cluster(3);
  CausalContext impossible;
  impossible.vector.raise(cluster.node(1).fixture.store->actor(), 1000);
  const ClientReply reply =
      cluster.put(1, {.key = "k",
                      .value = "v",
                      .context = encode_client_context(impossible, StoreFixture::place("k").token)});
  EXPECT_EQ(reply.status.code(), StatusCode::kInvalidArgument);
  for (const uint64_t owner : {1, 2, 3}) EXPECT_TRUE(cluster.values(owner, "k").empty());
}

TEST(Puts, OwnersThatHaveNoSpaceDoNotCountUnlessItIsADelete) {
  ClusterFixture cluster(3);
  cluster.put(1, {.key = "k", .value = "v"});
  for (const uint64_t full : {2, 3}) cluster.node(full).replica->refuse_puts("the disk is nearly full");
  const ClientReply reply = cluster.put(1, {.key = "k", .value = "w"});
  EXPECT_EQ(reply.status.code(), StatusCode::kUnknownOutcome);
  EXPECT_NE(reply.status.message().find("nearly full"), std::string::npos);
  EXPECT_TRUE(cluster.put(1, {.key = "k", .tombstone = true}).status.ok());
  EXPECT_TRUE(cluster.get(2, "k").values.empty());
}

// --- What a put replaces

TEST(Puts, ADeleteTakesWhatAReadQuorumHolds) {
  ClusterFixture cluster(3);
  cluster.hold = [](const auto& letter) { return is_put_to(letter, 3); };
  cluster.put(1, {.key = "k", .value = "v"});
  cluster.hold = nullptr;
  cluster.in_flight.clear();  // n3 never hears of it
  ASSERT_TRUE(cluster.stored(3, "k").versions.empty());
  EXPECT_TRUE(cluster.put(3, {.key = "k", .tombstone = true}).status.ok());
  EXPECT_TRUE(cluster.get(1, "k").values.empty());
  for (const uint64_t owner : {1, 2, 3}) EXPECT_TRUE(cluster.values(owner, "k").empty()) << owner;
}

TEST(Puts, ABlindPutTakesWhatItsCoordinatorHolds) {
  ClusterFixture cluster(3);
  cluster.hold = [](const auto& letter) { return is_put_to(letter, 3); };
  cluster.put(1, {.key = "k", .value = "unseen"});
  cluster.in_flight.clear();
  cluster.hold = nullptr;
  cluster.put(3, {.key = "k", .value = "v"});
  EXPECT_EQ(cluster.get(1, "k").values, (Values{"unseen", "v"}));
  cluster.put(1, {.key = "k", .value = "one"});
  EXPECT_EQ(cluster.get(3, "k").values, Values{"one"});
}

TEST(Puts, APutThatReadsFirstTakesWhatAReadQuorumHolds) {
  ClusterFixture cluster(3);
  cluster.hold = [](const auto& letter) { return is_put_to(letter, 3); };
  cluster.put(1, {.key = "k", .value = "old"});
  cluster.in_flight.clear();
  cluster.hold = nullptr;
  cluster.put(3, {.key = "k", .value = "new", .read_first = true});
  EXPECT_EQ(cluster.get(1, "k").values, Values{"new"});
}

TEST(Puts, APutThatCanNotReadFirstHasWrittenNothing) {
  ClusterFixture cluster(3);
  cluster.hold = [](const auto& letter) { return std::holds_alternative<ReplicaGet>(letter.message); };
  const uint64_t timed_out = cluster.ask(1, ClientPut{.key = "k", .tombstone = true});
  const uint64_t given_up = cluster.ask(1, ClientPut{.key = "k", .tombstone = true}, std::chrono::seconds(9));
  cluster.run();
  cluster.pass(std::chrono::seconds(5));
  EXPECT_EQ(cluster.code(timed_out), StatusCode::kUnavailable);
  cluster.see_unreachable(1, {2, 3});
  EXPECT_EQ(cluster.code(given_up), StatusCode::kUnavailable);
  EXPECT_NE(cluster.message(given_up).find("1 of 2"), std::string::npos);
  EXPECT_TRUE(cluster.stored(1, "k").versions.empty());
}

// One client's writes follow each other, whatever coordinator they go through.
TEST(Puts, ABlindPutReplacesWhatItsClientHasSeen) {
  ClusterFixture cluster(3);
  cluster.hold = [](const auto& letter) { return is_put_to(letter, 3); };
  const ClientReply first = cluster.put(1, {.key = "k", .value = "first"});
  cluster.in_flight.clear();
  cluster.hold = nullptr;
  EXPECT_TRUE(cluster.put(3, {.key = "k", .value = "second", .seen = first.seen}).status.ok());
  for (const uint64_t at : {1, 2, 3}) EXPECT_EQ(cluster.get(at, "k").values, Values{"second"}) << at;
}

TEST(Puts, WhatAClientHasSeenIsBoundToItsKeyLikeAContext) {
  ClusterFixture cluster(3);
  const ClientReply other = cluster.put(1, {.key = "other", .value = "v"});
  const ClientReply reply = cluster.put(1, {.key = "k", .value = "v", .seen = other.seen});
  EXPECT_EQ(reply.status.code(), StatusCode::kInvalidArgument);
}

TEST(Puts, AReceiptHasNoContextWhereSiblingsStayAndItsReplyHasSeenThem) {
  ClusterFixture cluster(3);
  cluster.put(1, {.key = "k", .value = "a"});
  const ClientReply reply = cluster.put(2, {.key = "k", .value = "b", .context = ""});
  EXPECT_TRUE(receipt_of(reply).context.empty());
  EXPECT_FALSE(reply.seen.empty());
  EXPECT_EQ(cluster.get(3, "k").values, (Values{"a", "b"}));
  cluster.put(3, {.key = "k", .value = "c", .context = reply.seen});
  EXPECT_EQ(cluster.get(1, "k").values, Values{"c"});
}

TEST(Puts, AContextOfOtherNodesStampsIsTaken) {
  ClusterFixture cluster(3);
  cluster.put(1, {.key = "k", .value = "a"});
  const GetResult seen = cluster.get(2, "k");
  EXPECT_TRUE(cluster.put(3, {.key = "k", .value = "b", .context = seen.context.bytes()}).status.ok());
  EXPECT_EQ(cluster.get(1, "k").values, Values{"b"});
}

// A node whose clock is behind would refuse a context that another has stamped, for ever.
TEST(Puts, AContextFromBeyondTheOwnClockIsTakenWhenReplicasBearWitness) {
  ClusterFixture cluster(3);
  cluster.hold = [](const auto& letter) { return is_put_to(letter, 3); };
  const ClientReply ahead = cluster.put(1, {.key = "k", .value = "a"});
  cluster.in_flight.clear();
  cluster.hold = nullptr;
  cluster.wall_now -= 600'000'000;
  const std::string context = receipt_of(ahead).context.bytes();
  EXPECT_TRUE(cluster.put(3, {.key = "k", .value = "b", .context = context}).status.ok());
  EXPECT_EQ(cluster.get(1, "k").values, Values{"b"});
}

// --- Epochs and links

TEST(Puts, GoOutAgainByTheNewRingWithTheSameDot) {
  ClusterFixture cluster(4);
  const std::string key = cluster.key_of(1);  // n1, n2, n3
  cluster.hold = [](const auto& letter) { return std::holds_alternative<ReplicaPut>(letter.message); };
  const uint64_t request =
      cluster.ask(1, ClientPut{.key = key, .value = "v", .w = 3, .operation = kOperation});
  cluster.run();
  const Ring& next = cluster.next_ring([&](RingDescription& ring) {  // n3 leaves the list
    for (uint16_t& owner : ring.owners) owner = owner == 2 ? 3 : owner;
  });
  for (const uint64_t node : {2, 3, 4}) cluster.adopt(node, next);
  cluster.adopt(1, next);
  // Those of the old epoch are refused, which is no failure.
  cluster.hold = [](const auto& letter) {
    return letter.epoch == 2 && std::holds_alternative<ReplicaPut>(letter.message);
  };
  cluster.run();
  EXPECT_EQ(cluster.answer(request), nullptr);
  cluster.hold = nullptr;
  cluster.run();
  ASSERT_NE(cluster.answer(request), nullptr);
  EXPECT_TRUE(cluster.answer(request)->status.ok());
  EXPECT_EQ(acknowledged_by(*cluster.answer(request)), (std::set<std::string>{"n1", "n2", "n4"}));
  const Dot dot = cluster.stored(1, key).versions.at(0).dot;
  EXPECT_EQ(cluster.stored(4, key).versions.at(0).dot, dot);
  EXPECT_TRUE(cluster.stored(3, key).versions.empty());
  // A retry still finds it.
  const uint64_t retry = cluster.ask(1, ClientPut{.key = key, .value = "v", .operation = kOperation});
  cluster.run();
  EXPECT_TRUE(cluster.answer(retry)->status.ok());
  EXPECT_EQ(cluster.stored(1, key).context.vector.counter_of(dot.actor), 1U);
}

TEST(Puts, AnswersToWhatWasSentByAnOlderRingDoNotCount) {
  ClusterFixture cluster(3);
  cluster.hold = [](const auto& letter) { return std::holds_alternative<ReplicaPutAck>(letter.message); };
  const uint64_t request = cluster.ask(1, ClientPut{.key = "k", .value = "v", .w = 3});
  cluster.run();
  const Ring& next = cluster.next_ring([](RingDescription&) {});
  cluster.adopt(1, next);
  cluster.hold = [](const auto& letter) { return std::holds_alternative<ReplicaPut>(letter.message); };
  cluster.run();
  EXPECT_EQ(cluster.answer(request), nullptr);
  cluster.hold = nullptr;
  cluster.adopt(2, next);
  cluster.adopt(3, next);
  cluster.run();
  EXPECT_NE(cluster.answer(request), nullptr);
}

TEST(Puts, WhatALostConnectionTookWithItIsSentAgain) {
  ClusterFixture cluster(3);
  const uint64_t request = cluster.ask(1, ClientPut{.key = "k", .value = "v", .w = 3});
  std::erase_if(cluster.in_flight, [](const auto& letter) { return letter.to == NodeId{2}; });
  cluster.run();
  EXPECT_EQ(cluster.answer(request), nullptr);
  cluster.restore_link(1, 2);
  cluster.run();
  ASSERT_NE(cluster.answer(request), nullptr);
  EXPECT_TRUE(cluster.answer(request)->status.ok());
}

TEST(Puts, ARepeatedOperationNamesWhoAcknowledgedTheFirstTry) {
  ClusterFixture cluster(3);
  cluster.hold = [](const auto& letter) { return is_put_to(letter, 2); };
  const ClientReply first = cluster.put(1, {.key = "k", .value = "v", .operation = kOperation});
  const ClientReply again = cluster.put(1, {.key = "k", .value = "v", .operation = kOperation});
  EXPECT_EQ(acknowledged_by(again), acknowledged_by(first));
  EXPECT_EQ(acknowledged_by(again), (std::set<std::string>{"n1", "n3"}));
}

// An earlier try is reported as done only where so many hold it that it can't be missed any more.
TEST(Puts, ARetryElsewhereFindsTheVersionAndMakesSureOfIt) {
  ClusterFixture cluster(3);
  cluster.hold = [](const auto& letter) { return std::holds_alternative<ReplicaPut>(letter.message); };
  cluster.ask(1, ClientPut{.key = "k", .value = "v", .operation = kOperation});
  cluster.run();
  cluster.in_flight.clear();
  cluster.hold = nullptr;
  cluster.see_unreachable(2, {3});
  const Boot boot = cluster.node(1).fixture.store->actor().boot;
  const ClientReply retry =
      cluster.put(2, {.key = "k", .value = "v", .operation = kOperation, .first_tried = boot});
  EXPECT_TRUE(retry.status.ok()) << retry.status.to_string();
  size_t holders = 0;
  for (const uint64_t owner : {1, 2, 3}) holders += cluster.values(owner, "k").size();
  EXPECT_GE(holders, 2U);
  EXPECT_EQ(cluster.get(3, "k").values, Values{"v"});
}

TEST(Puts, ARetryElsewhereThatFindsNothingIsUnknownAndNeverStamped) {
  ClusterFixture cluster(3);
  const Boot boot = cluster.node(1).fixture.store->actor().boot;
  const ClientReply retry =
      cluster.put(2, {.key = "k", .value = "v", .operation = kOperation, .first_tried = boot});
  EXPECT_EQ(retry.status.code(), StatusCode::kUnknownOutcome);
  EXPECT_TRUE(cluster.get(2, "k").values.empty());
}

}  // namespace
}  // namespace ringkv
