// Requests that go through a node that can't serve them itself.
#include "replication/forwards.h"

#include <gtest/gtest.h>

#include "tests/replication/cluster_fixture.h"

namespace ringkv {
namespace {

using Values = std::vector<std::string>;

constexpr OperationId kOperation{77, 1};

template <class Body>
bool is(const ClusterFixture::Letter& letter) {
  return std::holds_alternative<Body>(letter.message);
}

TEST(Forwards, APutGoesOnceToTheFirstOwnerThatCanBeReached) {
  ClusterFixture cluster(5);
  const std::string key = cluster.key_of(1);
  const ClientReply reply = cluster.put(5, {.key = key, .value = "v"});
  EXPECT_TRUE(reply.status.ok());
  EXPECT_EQ(reply.boot, cluster.node(1).fixture.store->actor().boot);
  EXPECT_TRUE(cluster.values(5, key).empty());

  cluster.see_unreachable({1});
  EXPECT_EQ(cluster.put(5, {.key = key, .value = "w"}).boot, cluster.node(2).fixture.store->actor().boot);
  EXPECT_EQ(cluster.node(5).coordinator->under_way(), 0U);
}

TEST(Forwards, WithoutAnOwnerInReachNothingIsWritten) {
  ClusterFixture cluster(5);
  cluster.see_unreachable({1, 2, 3});
  const uint64_t request = cluster.ask(5, ClientPut{.key = cluster.key_of(1), .value = "v"});
  EXPECT_EQ(cluster.code(request), StatusCode::kUnavailable);
  EXPECT_NE(cluster.message(request).find("n1, n2 and n3"), std::string::npos);
}

// L6: a full disk stays so for good, and the others are enough.
TEST(Forwards, APutThatAnOwnerHasNoRoomForGoesToTheNextOne) {
  ClusterFixture cluster(5);
  const std::string key = cluster.key_of(1);
  cluster.node(1).coordinator->refuse_puts("the disk of n1 is nearly full");
  const ClientReply reply = cluster.put(5, {.key = key, .value = "v", .operation = kOperation});
  EXPECT_TRUE(reply.status.ok());
  EXPECT_EQ(reply.boot, cluster.node(2).fixture.store->actor().boot);
  EXPECT_EQ(cluster.node(5).coordinator->under_way(), 0U);

  for (const uint64_t owner : {2, 3}) cluster.node(owner).coordinator->refuse_puts("no room either");
  EXPECT_EQ(cluster.put(5, {.key = key, .value = "w"}).status.code(), StatusCode::kOutOfSpace);
}

TEST(Forwards, TheOwnersRefusalComesBackAsItIs) {
  ClusterFixture cluster(5);
  cluster.see_unreachable(1, {2, 3});
  const ClientReply reply = cluster.put(5, {.key = cluster.key_of(1), .value = "v", .primary = true});
  EXPECT_EQ(reply.status.code(), StatusCode::kUnavailable);
  EXPECT_NE(reply.status.message().find("n2 and n3 can't be reached"), std::string::npos);
}

TEST(Forwards, ARetryWaitsForTheSameOutcome) {
  ClusterFixture cluster(5);
  const ClientPut put{.key = cluster.key_of(1), .value = "v", .operation = kOperation};
  cluster.hold = is<ForwardedReply>;
  const uint64_t first = cluster.ask(5, put);
  cluster.run();
  const uint64_t retry = cluster.ask(5, put);
  cluster.hold = nullptr;
  cluster.run();
  for (const uint64_t request : {first, retry}) {
    ASSERT_NE(cluster.answer(request), nullptr);
    EXPECT_TRUE(cluster.answer(request)->status.ok());
  }
  const ClientReply later = cluster.put(5, put);
  EXPECT_TRUE(later.status.ok());
  const Actor actor = cluster.node(1).fixture.store->actor();
  EXPECT_EQ(cluster.stored(1, put.key).context.vector.counter_of(actor), 1U);
}

TEST(Forwards, ARefusedOperationMayBeTriedAgainThroughTheSameNode) {
  ClusterFixture cluster(5);
  const ClientPut put{.key = cluster.key_of(1),
                      .value = "v",
                      .operation = kOperation,
                      .first_tried = cluster.node(5).fixture.store->actor().boot};
  for (const uint64_t owner : {1, 2, 3})
    cluster.node(owner).coordinator->refuse_puts("the disk is nearly full");
  EXPECT_EQ(cluster.put(5, put).status.code(), StatusCode::kOutOfSpace);
  cluster.node(1).coordinator->take_puts();
  EXPECT_TRUE(cluster.put(5, put).status.ok());
}

TEST(Forwards, WhatBecameOfAPutWhoseOwnerIsLostIsNotKnown) {
  ClusterFixture cluster(5);
  cluster.hold = is<ForwardedReply>;
  const std::string key = cluster.key_of(1);
  const uint64_t request = cluster.ask(5, ClientPut{.key = key, .value = "v", .operation = kOperation});
  cluster.run();
  cluster.see_unreachable(5, {1});
  EXPECT_EQ(cluster.code(request), StatusCode::kUnknownOutcome);
  EXPECT_NE(cluster.message(request).find("n1"), std::string::npos);
  cluster.hold = nullptr;
  cluster.run();
  EXPECT_EQ(cluster.answered_twice, 0U);

  // Asked again it is found where it was applied.
  cluster.see_unreachable(5, {});
  EXPECT_TRUE(cluster.put(5, {.key = key, .value = "v", .operation = kOperation}).status.ok());
}

TEST(Forwards, AtItsDeadlineAPutIsOfUnknownOutcome) {
  ClusterFixture cluster(5);
  cluster.hold = is<ForwardedRequest>;
  const uint64_t request = cluster.ask(5, ClientPut{.key = cluster.key_of(1), .value = "v"});
  cluster.pass(std::chrono::seconds(5));
  EXPECT_EQ(cluster.code(request), StatusCode::kUnknownOutcome);
  EXPECT_EQ(cluster.node(5).coordinator->under_way(), 0U);
}

TEST(Forwards, AfterALostConnectionANamedPutIsAskedAboutAndNeverStampedTwice) {
  ClusterFixture cluster(5);
  const std::string key = cluster.key_of(1);
  const uint64_t request = cluster.ask(5, ClientPut{.key = key, .value = "v", .operation = kOperation});
  cluster.hold = is<ForwardedReply>;
  cluster.run();
  std::erase_if(cluster.in_flight, is<ForwardedReply>);  // lost with the connection
  cluster.hold = nullptr;
  cluster.restore_link(5, 1);
  cluster.run();
  ASSERT_NE(cluster.answer(request), nullptr);
  EXPECT_TRUE(cluster.answer(request)->status.ok());
  const Actor actor = cluster.node(1).fixture.store->actor();
  EXPECT_EQ(cluster.stored(1, key).context.vector.counter_of(actor), 1U);
}

TEST(Forwards, AfterALostConnectionAnotherLifeOfTheOwnerDoesNotTakeItForAFirstTry) {
  ClusterFixture cluster(5);
  const std::string key = cluster.key_of(1);
  const uint64_t request = cluster.ask(5, ClientPut{.key = key, .value = "v", .operation = kOperation});
  cluster.in_flight.clear();
  cluster.kill(1);
  cluster.start(1);
  cluster.restore_link(5, 1);
  cluster.run();
  EXPECT_EQ(cluster.code(request), StatusCode::kUnknownOutcome);
  EXPECT_TRUE(cluster.values(1, key).empty());
}

TEST(Forwards, APutWithoutANameIsUnknownOnceItsConnectionIsLost) {
  ClusterFixture cluster(5);
  const uint64_t request = cluster.ask(5, ClientPut{.key = cluster.key_of(1), .value = "v"});
  cluster.in_flight.clear();
  cluster.restore_link(5, 1);
  EXPECT_EQ(cluster.code(request), StatusCode::kUnknownOutcome);
}

TEST(Forwards, ANodeThatIsNoOwnerSendsAForwardedPutBack) {
  ClusterFixture cluster(5);
  MessageOutbox outbox;
  const Arrival arrival{.requester = {.request = 9, .forwarded_by = NodeId{4}},
                        .deadline = cluster.now + std::chrono::seconds(5),
                        .now = cluster.now};
  cluster.node(5).coordinator->on(
      arrival, ForwardedRequest{9, {.body = ClientPut{.key = cluster.key_of(1), .value = "v"}}, {}}, outbox);
  ASSERT_EQ(outbox.envelopes().size(), 1U);
  EXPECT_EQ(outbox.envelopes()[0].to, NodeId{4});
  const auto& reply = std::get<ForwardedReply>(outbox.envelopes()[0].message);
  EXPECT_EQ(reply.request, 9U);
  EXPECT_EQ(reply.reply.status.code(), StatusCode::kStaleEpoch);
}

TEST(Forwards, APutThatMetANewerRingIsRoutedByItOnceItIsHere) {
  ClusterFixture cluster(5);
  const std::string key = cluster.key_of(1);
  const Ring& next = cluster.next_ring([](RingDescription& ring) {  // n1's partitions go to n5
    for (uint16_t& owner : ring.owners) owner = owner == 0 ? 4 : owner;
  });
  for (const uint64_t node : {1, 2, 3, 4}) cluster.adopt(node, next);
  const uint64_t first = cluster.ask(5, ClientPut{.key = key, .value = "v", .operation = kOperation});
  const uint64_t retry = cluster.ask(5, ClientPut{.key = key, .value = "v", .operation = kOperation});
  cluster.run();
  EXPECT_EQ(cluster.answer(first), nullptr);
  cluster.adopt(5, next);
  cluster.run();
  for (const uint64_t request : {first, retry}) {
    ASSERT_NE(cluster.answer(request), nullptr);
    EXPECT_TRUE(cluster.answer(request)->status.ok()) << cluster.message(request);
  }
  EXPECT_EQ(cluster.values(5, key), Values{"v"});
  EXPECT_EQ(cluster.stored(5, key).versions.size(), 1U);
}

// As the shell hands on what only one node can answer.
TEST(Forwards, AQuestionToANodeByNameIsHandedOnAndUnavailableWhereItCanNotBeReached) {
  ClusterFixture cluster(3);
  const auto forward = [&](uint64_t request) {
    MessageOutbox outbox;
    const Arrival arrival{
        .requester = {1, request}, .deadline = cluster.now + std::chrono::seconds(5), .now = cluster.now};
    cluster.node(1).coordinator->forward(arrival, {.body = ClientStatistics{.node = "n2"}}, NodeId{2},
                                         outbox);
    return std::move(outbox.envelopes().front().message);
  };
  const Message asked = forward(1000);
  ASSERT_TRUE(std::holds_alternative<ForwardedRequest>(asked));
  MessageOutbox outbox;
  ForwardedReply reply{std::get<ForwardedRequest>(asked).request, {}};
  reply.reply.body = Statistics{{"keys", 7}};
  cluster.node(1).coordinator->on(reply, cluster.now, cluster.wall_now, outbox);
  const auto& answer = std::get<ClientAnswer>(outbox.envelopes().at(0).message);
  EXPECT_EQ(answer.requester.request, 1000U);
  EXPECT_EQ(std::get<Statistics>(answer.reply.body).at("keys"), 7);

  cluster.see_unreachable({2});
  const Message refused = forward(1001);
  EXPECT_EQ(std::get<ClientAnswer>(refused).reply.status.code(), StatusCode::kUnavailable);
}

}  // namespace
}  // namespace ringkv
