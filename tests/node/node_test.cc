#include "node/node.h"

#include <gtest/gtest.h>

#include "tests/node/node_fixture.h"

namespace ringkv {
namespace {

using Values = std::vector<std::string>;

TEST(Node, FoundsItsRingOnceAndFindsItAgain) {
  NodeFixture fixture;
  ASSERT_TRUE(fixture.started.ok());
  EXPECT_EQ(fixture.node->epoch(), 1U);
  ASSERT_TRUE(fixture.put("k", "v").ok());
  EXPECT_EQ(fixture.node->epoch(), 2U);
  const std::string digest = fixture.node->life()->ring().digest();
  fixture.kill();
  fixture.start();
  EXPECT_EQ(fixture.node->life()->ring().digest(), digest);
  EXPECT_EQ(fixture.get("k"), Values{"v"});
}

TEST(Node, EachStartIsAnotherBoot) {
  NodeFixture fixture;
  const Boot first = fixture.node->life()->boot();
  fixture.kill();
  fixture.start();
  EXPECT_NE(fixture.node->life()->boot(), first);
}

TEST(Node, APutIsAnsweredWhenItsBatchIsOnDiskAndNotBefore) {
  NodeFixture fixture;
  auto reply = std::make_shared<std::optional<ClientReply>>();
  fixture.begin(ClientPut{.key = "k", .value = "v"}, reply);
  fixture.node->on_turn_end();
  EXPECT_EQ(fixture.executor.jobs.size(), 1U);
  EXPECT_FALSE(reply->has_value());
  fixture.work();
  ASSERT_TRUE(reply->has_value());
  EXPECT_TRUE((*reply)->status.ok());
}

TEST(Node, PutsOfOneMomentShareOneWrite) {
  NodeFixture fixture;
  fixture.open_ring();
  std::vector<std::shared_ptr<std::optional<ClientReply>>> replies;
  for (int i = 0; i < 50; ++i) {
    replies.push_back(std::make_shared<std::optional<ClientReply>>());
    fixture.begin(ClientPut{.key = "k" + std::to_string(i), .value = "v"}, replies.back());
  }
  const uint64_t before = fixture.node->life()->commits();
  fixture.work();
  EXPECT_EQ(fixture.node->life()->commits(), before + 1);
  for (const auto& reply : replies) EXPECT_TRUE((*reply)->status.ok());
}

// Row B82: a failed fsync: not acknowledged, and the node lives on as another boot with what reached the
// disk.
TEST(Node, AFailedSyncIsUnknownAndTheStoreIsReopened) {
  NodeFixture fixture;
  ASSERT_TRUE(fixture.put("before", "1").ok());
  const Boot boot = fixture.node->life()->boot();
  fixture.disk.fail(DiskCall::kSync, 1, DiskError::kInputOutput);
  EXPECT_EQ(fixture.put("k", "v").code(), StatusCode::kUnknownOutcome);
  EXPECT_FALSE(fixture.node->serving());
  EXPECT_EQ(fixture.put("k2", "v").code(), StatusCode::kUnavailable);

  fixture.pass(std::chrono::milliseconds(10));
  ASSERT_TRUE(fixture.node->serving());
  EXPECT_NE(fixture.node->life()->boot(), boot);
  EXPECT_EQ(fixture.get("before"), Values{"1"});
  EXPECT_TRUE(fixture.put("k2", "v").ok());
}

TEST(Node, AFailedAppendIsUnknownAndTheStoreIsReopened) {
  NodeFixture fixture;
  fixture.open_ring();
  fixture.disk.fail(DiskCall::kWrite, 1, DiskError::kNoSpace);
  EXPECT_EQ(fixture.put("k", "v").code(), StatusCode::kUnknownOutcome);
  fixture.pass(std::chrono::milliseconds(10));
  EXPECT_TRUE(fixture.get("k").empty());
  EXPECT_TRUE(fixture.put("k", "v").ok());
}

TEST(Node, AStoreThatCanNotBeReopenedYetIsTriedAgain) {
  NodeFixture fixture;
  fixture.disk.fail(DiskCall::kSync, 1, DiskError::kInputOutput);
  (void)fixture.put("k", "v");
  fixture.disk.fail(DiskCall::kGet, 1, DiskError::kInputOutput);
  fixture.pass(std::chrono::milliseconds(10));
  EXPECT_FALSE(fixture.node->serving());
  fixture.pass(std::chrono::seconds(1));
  EXPECT_TRUE(fixture.node->serving());
}

// A fenced node must not tell a client that an operation which may be on its disk was never written.
TEST(Node, WhileItIsFencedItsAnswersNameNoBoot) {
  NodeFixture fixture;
  fixture.disk.fail(DiskCall::kSync, 1, DiskError::kInputOutput);
  (void)fixture.put("k", "v");
  const ClientReply reply = fixture.ask(ClientPut{.key = "k", .value = "v"});
  EXPECT_EQ(reply.status.code(), StatusCode::kUnavailable);
  EXPECT_FALSE(reply.boot);
}

// Row B80.
TEST(Node, BelowTheDiskReservePutsAreRefusedAndTakenAgainByThemselves) {
  NodeFixture fixture(1000);
  ASSERT_TRUE(fixture.put("k", "v").ok());
  fixture.disk.set_space({.free_bytes = 999, .size_bytes = 10'000});
  fixture.pass(std::chrono::seconds(1));
  EXPECT_EQ(fixture.put("k", "v2").code(), StatusCode::kOutOfSpace);
  EXPECT_TRUE(fixture.ask(ClientPut{.key = "k", .tombstone = true}).status.ok());
  fixture.disk.set_space({.free_bytes = 2000, .size_bytes = 10'000});
  fixture.pass(std::chrono::seconds(1));
  EXPECT_TRUE(fixture.put("k", "v3").ok());
}

TEST(Node, ABucketIsThereOnceItsRingIsOnDisk) {
  NodeFixture fixture;
  auto reply = std::make_shared<std::optional<ClientReply>>();
  fixture.begin(ClientCreateBucket{{.name = "b", .conflict = "lww"}}, reply);
  EXPECT_FALSE(reply->has_value());
  EXPECT_EQ(fixture.node->epoch(), 1U);
  fixture.work();
  EXPECT_TRUE((*reply)->status.ok());
  EXPECT_EQ(fixture.node->epoch(), 2U);
  fixture.kill();
  fixture.start();
  EXPECT_EQ(fixture.node->epoch(), 2U);
  EXPECT_TRUE(fixture.ask(ClientPut{.bucket = "b", .key = "k", .value = "v"}).status.ok());
}

TEST(Node, TwoChangesOfTheRingAtOnceComeOneAfterTheOther) {
  NodeFixture fixture;
  auto first = std::make_shared<std::optional<ClientReply>>();
  auto second = std::make_shared<std::optional<ClientReply>>();
  fixture.begin(ClientCreateBucket{{.name = "a"}}, first);
  fixture.begin(ClientCreateBucket{{.name = "b"}}, second);
  fixture.work();
  EXPECT_TRUE((*first)->status.ok());
  EXPECT_TRUE((*second)->status.ok());
  EXPECT_EQ(fixture.node->epoch(), 3U);
  const ClientReply buckets = fixture.ask(ClientBuckets());
  EXPECT_EQ(std::get<std::vector<BucketInfo>>(buckets.body).size(), 3U);
}

TEST(Node, StoppingFinishesWhatWasAcceptedAndRefusesWhatComes) {
  NodeFixture fixture;
  fixture.open_ring();
  auto reply = std::make_shared<std::optional<ClientReply>>();
  fixture.begin(ClientPut{.key = "k", .value = "v"}, reply);
  bool stopped = false;
  fixture.node->stop(std::chrono::seconds(5), [&](const Status&) { stopped = true; });
  const ClientReply refused = fixture.ask(ClientGet{.key = "k"});
  EXPECT_EQ(refused.status.code(), StatusCode::kUnavailable);
  EXPECT_FALSE(refused.boot);
  fixture.pass(std::chrono::milliseconds(10));
  EXPECT_TRUE((*reply)->status.ok());
  EXPECT_TRUE(stopped);
}

TEST(Node, StoppingAnswersInTimeWhatADiskThatHangsHoldsUp) {
  NodeFixture fixture;
  fixture.open_ring();
  auto reply = std::make_shared<std::optional<ClientReply>>();
  fixture.begin(ClientPut{.key = "k", .value = "v"}, reply);
  bool stopped = false;
  fixture.node->stop(std::chrono::seconds(1), [&](const Status&) { stopped = true; });
  fixture.node->on_turn_end();  // the write is under way and doesn't come back
  fixture.clock.time += std::chrono::seconds(2);
  fixture.node->on_tick(fixture.clock.time);
  ASSERT_TRUE(reply->has_value());
  EXPECT_EQ((*reply)->status.code(), StatusCode::kUnknownOutcome);
  EXPECT_FALSE(stopped);  // something still uses the engine
  fixture.work();
  fixture.pass(std::chrono::milliseconds(10));
  EXPECT_TRUE(stopped);
}

// A first try that comes late, through a connection of the life that failed, would be stamped a second time.
TEST(Node, ClientsOfALifeThatHasFailedGreetTheNextOneAnew) {
  NodeFixture fixture;
  fixture.open_ring();
  TransportHandler& handler = fixture.node->transport_handler();
  fixture.transport.open[77] = "";
  handler.on_accepted(77, Door::kClient, "c:1");
  WireCodec codec;
  std::string hello;
  codec.encode(Hello{.client = 5}, hello);
  EXPECT_EQ(handler.on_bytes(77, hello), hello.size());
  EXPECT_TRUE(fixture.transport.open.contains(77));
  fixture.disk.fail(DiskCall::kSync, 1, DiskError::kInputOutput);
  EXPECT_EQ(fixture.put("k", "v").code(), StatusCode::kUnknownOutcome);
  EXPECT_FALSE(fixture.transport.open.contains(77));
}

// Nothing was stamped before the ring is open, so this is known.
TEST(Node, AFirstPutWhoseRingCannotBeOpenedIsNotWritten) {
  NodeFixture fixture;
  fixture.disk.fail(DiskCall::kWrite, 1, DiskError::kNoSpace);
  EXPECT_EQ(fixture.put("k", "v").code(), StatusCode::kUnavailable);
  fixture.pass(std::chrono::milliseconds(10));
  EXPECT_TRUE(fixture.get("k").empty());
  EXPECT_TRUE(fixture.put("k", "v").ok());
}

TEST(Node, FirstPutsOfOneMomentOpenTheRingOnce) {
  NodeFixture fixture;
  std::vector<std::shared_ptr<std::optional<ClientReply>>> replies;
  for (int i = 0; i < 50; ++i) {
    replies.push_back(std::make_shared<std::optional<ClientReply>>());
    fixture.begin(ClientPut{.key = "k" + std::to_string(i), .value = "v"}, replies.back());
  }
  fixture.work();
  for (const auto& reply : replies) EXPECT_TRUE((*reply)->status.ok());
  EXPECT_EQ(fixture.node->epoch(), 2U);
}

TEST(Node, StoppingRefusesWhatWaitsForTheRingToOpen) {
  NodeFixture fixture;
  auto reply = std::make_shared<std::optional<ClientReply>>();
  fixture.begin(ClientPut{.key = "k", .value = "v"}, reply);
  fixture.node->stop(std::chrono::seconds(5), [](const Status&) {});
  ASSERT_TRUE(reply->has_value());
  EXPECT_EQ((*reply)->status.code(), StatusCode::kUnavailable);
}

// The correction that it may have is of the clock before the jump.
TEST(Node, NothingIsStampedByAClockThatHasJustJumped) {
  NodeFixture fixture;
  fixture.pass(std::chrono::seconds(1));
  const WallMicros before = fixture.node->life()->moment().wall_now;
  fixture.clock.ahead += 3'600'000'000;
  fixture.clock.time += std::chrono::milliseconds(5);
  EXPECT_EQ(fixture.node->life()->moment().wall_now, before + 5'000);
  fixture.pass(std::chrono::seconds(1));
  EXPECT_EQ(fixture.node->life()->moment().wall_now, fixture.clock.wall_now());
}

TEST(Node, StatusCountsKeysAndStatisticsRequests) {
  NodeFixture fixture;
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(fixture.put("k" + std::to_string(i), "v").ok());
  const ClientReply status = fixture.ask(ClientStatus());
  EXPECT_EQ(std::get<ClusterStatus>(status.body).members[0].keys, 5U);
  EXPECT_EQ(std::get<ClusterStatus>(status.body).members[0].share, 1.0);
  const ClientReply statistics = fixture.ask(ClientStatistics());
  EXPECT_EQ(std::get<Statistics>(statistics.body).at("put.count"), 5);
  EXPECT_EQ(fixture.ask(ClientStatistics{.node = "n9"}).status.code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace ringkv
