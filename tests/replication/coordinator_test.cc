#include "replication/coordinator.h"

#include <gtest/gtest.h>

#include "base/limits.h"
#include "base/text.h"
#include "tests/replication/peer_fixture.h"

namespace ringkv {
namespace {

constexpr OperationId kOperation{77, 1};

TEST(Coordinator, AReceiptNamesTheNodeAndHowSafeItIs) {
  PeerFixture peer;
  const PutReceipt receipt = peer.put("k", "v");
  EXPECT_EQ(receipt.acks,
            (std::vector<Acknowledgement>{{.node = "n1", .kind = Acknowledgement::Kind::kSynced}}));
  EXPECT_EQ(receipt.epoch, 1U);
  EXPECT_FALSE(receipt.context.empty());
}

TEST(Coordinator, ABufferedPutSaysSoAndIsNotSynced) {
  PeerFixture peer;
  peer.ask(1, ClientPut{.key = "k", .value = "v", .durability = Durability::kBuffered});
  const Commit commit = peer.begin_commit();
  EXPECT_FALSE(commit.sync);
  peer.finish(commit);
  EXPECT_EQ(std::get<PutReceipt>(peer.answer(1)->body).acks[0].kind, Acknowledgement::Kind::kBuffered);
}

// Rows B87, B90: the same clean error in every request.
TEST(Coordinator, KeysAndValuesOfWrongSizesAreRefusedByName) {
  PeerFixture peer;
  peer.ask(1, ClientPut{.key = "", .value = "v"});
  peer.ask(2, ClientGet{.key = ""});
  EXPECT_EQ(peer.answer(1)->status, peer.answer(2)->status);
  EXPECT_EQ(peer.answer(1)->status.code(), StatusCode::kInvalidArgument);

  peer.ask(3, ClientPut{.key = std::string(kKeyBytesMax + 1, 'k'), .value = "v"});
  EXPECT_EQ(peer.answer(3)->status.code(), StatusCode::kTooLarge);
  peer.ask(4, ClientPut{.key = "k", .value = std::string(kValueBytesMax + 1, 'v')});
  EXPECT_EQ(peer.answer(4)->status.code(), StatusCode::kTooLarge);

  peer.put(std::string(kKeyBytesMax, 'k'), std::string(kValueBytesMax, 'v'));
  EXPECT_EQ(peer.get(std::string(kKeyBytesMax, 'k')).values[0].size(), kValueBytesMax);
}

TEST(Coordinator, AnUnknownBucketIsRefusedByName) {
  PeerFixture peer;
  peer.ask(1, ClientPut{.bucket = "nobody", .key = "k", .value = "v"});
  EXPECT_EQ(peer.answer(1)->status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(peer.answer(1)->status.message().find("nobody"), std::string::npos);
}

TEST(Coordinator, MoreAcknowledgementsThanOwnersAreRefusedAtOnce) {
  PeerFixture peer;
  peer.ask(1, ClientPut{.key = "k", .value = "v", .w = 2});
  peer.ask(2, ClientGet{.key = "k", .r = 2});
  EXPECT_EQ(peer.answer(1)->status.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(peer.answer(2)->status.code(), StatusCode::kInvalidArgument);
}

// Row B103: a context of another key, cut, or with a flipped bit.
TEST(Coordinator, ADamagedOrForeignContextIsRefusedAndNothingIsWritten) {
  PeerFixture peer;
  const std::string context = peer.put("a", "1").context.bytes();
  peer.put("b", "1");
  std::string flipped = context;
  flipped[flipped.size() / 2] = static_cast<char>(flipped[flipped.size() / 2] ^ 1);
  uint64_t request = 0;
  for (const auto& [key, wrong] : {std::pair{"b", context}, std::pair{"a", flipped},
                                   std::pair{"a", context.substr(0, context.size() - 1)}}) {
    peer.ask(++request, ClientPut{.key = key, .value = "2", .context = wrong});
    ASSERT_NE(peer.answer(request), nullptr);
    EXPECT_EQ(peer.answer(request)->status.code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(peer.get(key).values, std::vector<std::string>{"1"});
  }
}

TEST(Coordinator, APutThatMayHaveBeenWrittenEndsAsUnknownWithItsOperation) {
  PeerFixture peer;
  peer.ask(1, ClientPut{.key = "k", .value = "v", .operation = kOperation});
  peer.now += std::chrono::seconds(5);
  peer.tick();
  ASSERT_NE(peer.answer(1), nullptr);
  EXPECT_EQ(peer.answer(1)->status.code(), StatusCode::kUnknownOutcome);
  const std::string name = to_text(OperationName{kOperation, peer.fixture.store->actor().boot});
  EXPECT_NE(peer.answer(1)->status.message().find(name), std::string::npos);
}

TEST(Coordinator, AGetPastItsDeadlineIsUnavailable) {
  PeerFixture peer;
  peer.fixture.disk.set_blocking_share(1, 1);
  peer.ask(1, ClientGet{.key = "k"});
  peer.now += std::chrono::seconds(5);
  peer.tick();
  ASSERT_NE(peer.answer(1), nullptr);
  EXPECT_EQ(peer.answer(1)->status.code(), StatusCode::kUnavailable);
  peer.read_disk();  // too late: nobody is answered twice
  EXPECT_EQ(peer.answers.size(), 1U);
}

// An operation id applies at most once (I5).
TEST(Coordinator, ARetryOfTheSameOperationIsAnsweredAndNotStampedAgain) {
  PeerFixture peer;
  ClientPut put{.key = "k", .value = "v", .operation = kOperation};
  peer.ask(1, put);
  put.first_tried = peer.fixture.store->actor().boot;
  peer.ask(2, put);  // the first is still under way
  peer.commit();
  peer.ask(3, put);  // decided
  for (const uint64_t request : {1, 2, 3}) {
    ASSERT_NE(peer.answer(request), nullptr) << request;
    EXPECT_TRUE(peer.answer(request)->status.ok());
    EXPECT_EQ(std::get<PutReceipt>(peer.answer(request)->body).acks,
              std::get<PutReceipt>(peer.answer(1)->body).acks);
  }
  EXPECT_EQ(peer.fixture.read("k").context.vector.counter_of(peer.fixture.store->actor()), 1U);
}

TEST(Coordinator, ARetryOfAnUnknownOutcomeLearnsItFromTheRecord) {
  PeerFixture peer;
  ClientPut put{.key = "k", .value = "v", .operation = kOperation};
  peer.ask(1, put);
  peer.now += std::chrono::seconds(5);
  peer.tick();
  ASSERT_EQ(peer.answer(1)->status.code(), StatusCode::kUnknownOutcome);
  put.first_tried = peer.fixture.store->actor().boot;
  peer.ask(2, put);
  ASSERT_NE(peer.answer(2), nullptr);
  EXPECT_EQ(peer.answer(2)->status.code(), StatusCode::kUnknownOutcome);
  peer.commit();
  peer.ask(3, put);
  ASSERT_NE(peer.answer(3), nullptr);
  EXPECT_TRUE(peer.answer(3)->status.ok());
}

// A receipt's context goes into the writer's next put. It must not cover siblings that he may not have seen.
TEST(Coordinator, AReceiptHasNoContextWhereSiblingsStayed) {
  PeerFixture peer;
  EXPECT_FALSE(peer.put("k", "1", "").context.empty());
  EXPECT_TRUE(peer.put("k", "2", "").context.empty());
  EXPECT_FALSE(peer.put("k", "3", peer.get("k").context.bytes()).context.empty());
}

TEST(Coordinator, ARetryThatNeverArrivedBeforeIsAFirstTryWhereItWasSentFirst) {
  PeerFixture peer;
  peer.ask(1, ClientPut{.key = "k",
                        .value = "v",
                        .operation = kOperation,
                        .first_tried = peer.fixture.store->actor().boot});
  peer.commit();
  EXPECT_TRUE(peer.answer(1)->status.ok());
}

TEST(Coordinator, ARetryAfterARestartFindsItsVersionInTheRecord) {
  PeerFixture peer;
  ClientPut put{.key = "k", .value = "v", .operation = kOperation};
  peer.ask(1, put);
  peer.commit();
  put.first_tried = peer.fixture.store->actor().boot;
  peer.restart();
  peer.ask(2, put);
  ASSERT_NE(peer.answer(2), nullptr);
  EXPECT_TRUE(peer.answer(2)->status.ok());
  EXPECT_EQ(peer.get("k").values, std::vector<std::string>{"v"});
}

TEST(Coordinator, ARetryAfterARestartThatFindsNothingIsUnknownAndNeverStamped) {
  PeerFixture peer;
  ClientPut put{
      .key = "k", .value = "v", .operation = kOperation, .first_tried = peer.fixture.store->actor().boot};
  peer.restart();
  peer.ask(1, put);
  ASSERT_NE(peer.answer(1), nullptr);
  EXPECT_EQ(peer.answer(1)->status.code(), StatusCode::kUnknownOutcome);
  EXPECT_TRUE(peer.get("k").values.empty());
}

TEST(Coordinator, ARefusedOperationMayBeTriedAgain) {
  PeerFixture peer;
  for (size_t i = 0; i < kSiblingsMax; ++i) peer.put("k", std::to_string(i), "");
  peer.ask(1, ClientPut{.key = "k", .value = "v", .context = "", .operation = kOperation});
  EXPECT_EQ(peer.answer(1)->status.code(), StatusCode::kTooManySiblings);
  peer.put("k", "one");
  const Boot boot = peer.fixture.store->actor().boot;
  peer.ask(2,
           ClientPut{.key = "k", .value = "v", .context = "", .operation = kOperation, .first_tried = boot});
  peer.commit();
  ASSERT_NE(peer.answer(2), nullptr);
  EXPECT_TRUE(peer.answer(2)->status.ok());
}

// An operation id stays good for one put, however late it is repeated.
TEST(Coordinator, AnOperationThatIsRepeatedAfterItWasForgottenIsNotStampedAgain) {
  PeerFixture peer;
  ClientPut put{.key = "k", .value = "one", .operation = kOperation};
  peer.ask(1, put);
  peer.commit();
  peer.now += std::chrono::seconds(70);
  peer.tick();
  peer.put("k", "two");
  put.first_tried = peer.fixture.store->actor().boot;
  peer.ask(2, put);
  ASSERT_NE(peer.answer(2), nullptr);
  EXPECT_EQ(peer.answer(2)->status.code(), StatusCode::kUnknownOutcome);
  EXPECT_EQ(peer.get("k").values, std::vector<std::string>{"two"});
}

TEST(Coordinator, AnOperationIdOfAnotherKeyIsRefused) {
  PeerFixture peer;
  ClientPut put{.key = "w1", .value = "x", .operation = kOperation};
  peer.ask(1, put);
  peer.commit();
  put.key = "w2";
  put.first_tried = peer.fixture.store->actor().boot;
  peer.ask(2, put);
  ASSERT_NE(peer.answer(2), nullptr);
  EXPECT_EQ(peer.answer(2)->status.code(), StatusCode::kInvalidArgument);
}

TEST(Coordinator, ATtlThatWouldWrapAroundIsRefused) {
  PeerFixture peer;
  for (const uint64_t ttl_ms : {~uint64_t{0}, uint64_t{1} << 63, kTtlMillisecondsMax + 1}) {
    peer.ask(++peer.last_request, ClientPut{.key = "k", .value = "v", .ttl_ms = ttl_ms});
    EXPECT_EQ(peer.answer(peer.last_request)->status.code(), StatusCode::kInvalidArgument);
  }
  peer.ask(1, ClientPut{.key = "k", .value = "v", .ttl_ms = kTtlMillisecondsMax});
  peer.commit();
  EXPECT_EQ(peer.get("k").values.size(), 1U);
}

TEST(Coordinator, WhatTheStoreHoldsForItsDiskCountsAgainstNewRequests) {
  PeerFixture peer;
  peer.backlog_bytes = size_t{64} << 20;
  peer.ask(1, ClientPut{.key = "k", .value = "v"});
  ASSERT_NE(peer.answer(1), nullptr);
  EXPECT_EQ(peer.answer(1)->status.code(), StatusCode::kOverloaded);
}

TEST(Coordinator, AScansPrefixAndCursorAreNoLongerThanAKey) {
  PeerFixture peer;
  peer.ask(1, ClientScan{.prefix = std::string(kKeyBytesMax + 1, 'k')});
  EXPECT_EQ(peer.answer(1)->status.code(), StatusCode::kTooLarge);
  peer.ask(2, ClientScan{.after = base64(std::string(100'000, 'k'))});
  EXPECT_EQ(peer.answer(2)->status.code(), StatusCode::kTooLarge);
  peer.ask(3, ClientScan{.after = "not base64!"});
  EXPECT_EQ(peer.answer(3)->status.code(), StatusCode::kInvalidArgument);
}

// The retry overtook its first try, which lay in another connection, and was told that nothing was written.
TEST(Coordinator, AFirstTryThatComesAfterItsRetryWasRefusedIsRefusedToo) {
  PeerFixture peer;
  ClientPut put{.key = "k", .value = "v", .operation = kOperation};
  ClientPut retry = put;
  retry.first_tried = peer.fixture.store->actor().boot;
  peer.coordinator->refuse_puts("the disk is full");
  peer.ask(1, retry);
  EXPECT_EQ(peer.answer(1)->status.code(), StatusCode::kOutOfSpace);
  peer.coordinator->take_puts();
  peer.ask(2, put);
  ASSERT_NE(peer.answer(2), nullptr);
  EXPECT_FALSE(peer.answer(2)->status.ok());
  EXPECT_TRUE(peer.get("k").values.empty());
}

TEST(Coordinator, WhatDoesNotFitIsOverloadedAndNothingIsWritten) {
  PeerFixture peer;  // takes 100 at once
  for (uint64_t i = 1; i <= 101; ++i) peer.ask(i, ClientPut{.key = "k" + std::to_string(i), .value = "v"});
  EXPECT_EQ(peer.answer(100), nullptr);
  ASSERT_NE(peer.answer(101), nullptr);
  EXPECT_EQ(peer.answer(101)->status.code(), StatusCode::kOverloaded);
  peer.commit();
  EXPECT_TRUE(peer.get("k101").values.empty());
  EXPECT_EQ(peer.coordinator->under_way(), 0U);
}

// Row B80.
TEST(Coordinator, WithTheDiskNearlyFullPutsAreRefusedAndDeletesTaken) {
  PeerFixture peer;
  peer.put("k", "v");
  peer.coordinator->refuse_puts("the disk of n1 is nearly full");
  peer.ask(1, ClientPut{.key = "k", .value = "v2"});
  EXPECT_EQ(peer.answer(1)->status.code(), StatusCode::kOutOfSpace);
  peer.remove("k");
  EXPECT_TRUE(peer.get("k").values.empty());
  peer.coordinator->take_puts();
  peer.put("k", "v3");
  EXPECT_EQ(peer.get("k").values, std::vector<std::string>{"v3"});
}

// A retry must not hear "nothing was written" of an operation that may have been.
TEST(Coordinator, ARetryIsAnsweredFromTheTableEvenWhenPutsAreRefused) {
  PeerFixture peer;
  ClientPut put{.key = "k", .value = "v", .operation = kOperation};
  peer.ask(1, put);
  peer.commit();
  peer.coordinator->refuse_puts("full");
  put.first_tried = peer.fixture.store->actor().boot;
  peer.ask(2, put);
  EXPECT_TRUE(peer.answer(2)->status.ok());
}

TEST(Coordinator, ARetryWhoseRecordCanNotBeReadIsUnknownHoweverItFails) {
  PeerFixture peer;
  ClientPut put{
      .key = "k", .value = "v", .operation = kOperation, .first_tried = peer.fixture.store->actor().boot};
  peer.restart();
  peer.fixture.disk.set_blocking_share(1, 1);
  peer.ask(1, put);
  peer.fixture.disk.fail(DiskCall::kGet, 1, DiskError::kInputOutput);
  peer.read_disk();
  EXPECT_EQ(peer.answer(1)->status.code(), StatusCode::kUnknownOutcome);

  peer.ask(2, put);
  peer.now += std::chrono::seconds(5);
  peer.tick();
  EXPECT_EQ(peer.answer(2)->status.code(), StatusCode::kUnknownOutcome);

  for (uint64_t i = 10; i < 110; ++i) peer.ask(i, ClientGet{.key = "other"});
  peer.ask(3, put);
  EXPECT_EQ(peer.answer(3)->status.code(), StatusCode::kUnknownOutcome);
}

TEST(Coordinator, WhenTheStoreFailsPutsAreUnknownAndGetsUnavailable) {
  PeerFixture peer;
  peer.ask(1, ClientPut{.key = "k", .value = "v", .operation = kOperation});
  peer.fixture.disk.set_blocking_share(1, 1);
  peer.ask(2, ClientGet{.key = "other"});
  MessageOutbox outbox;
  peer.coordinator->fail_all(unavailable("the disk failed"), peer.now, outbox);
  peer.carry(outbox);
  EXPECT_EQ(peer.answer(1)->status.code(), StatusCode::kUnknownOutcome);
  EXPECT_EQ(peer.answer(2)->status.code(), StatusCode::kUnavailable);
  EXPECT_EQ(peer.coordinator->under_way(), 0U);
}

TEST(Coordinator, ExplainShowsTokenPartitionAndEveryVersion) {
  PeerFixture peer;
  peer.put("a", "1");
  peer.put("a", "2", "");
  peer.ask(1, ClientExplain{.key = "a"});
  const auto& explanation = std::get<Explanation>(peer.answer(1)->body);
  EXPECT_EQ(explanation.token, 0x86f7e437faa5a7fcULL);
  EXPECT_EQ(explanation.partition, 0x8U);
  ASSERT_EQ(explanation.replicas.size(), 1U);
  EXPECT_TRUE(explanation.replicas[0].alive);
  EXPECT_EQ(explanation.replicas[0].versions.size(), 2U);
  EXPECT_EQ(explanation.would_answer, std::vector<std::string>{"found"});
}

TEST(Coordinator, LocalGetOfANodeThatIsNoMemberIsRefused) {
  PeerFixture peer;
  peer.ask(1, ClientLocalGet{.node = "n9", .key = "k"});
  EXPECT_EQ(peer.answer(1)->status.code(), StatusCode::kInvalidArgument);
}

TEST(Coordinator, ATtlEndsAValueByTheClock) {
  PeerFixture peer;
  peer.ask(1, ClientPut{.key = "k", .value = "v", .ttl_ms = 1000});
  peer.commit();
  EXPECT_EQ(peer.get("k").values.size(), 1U);
  peer.wall_now += 1'000'000;
  EXPECT_TRUE(peer.get("k").values.empty());
}

TEST(Coordinator, EveryRequestIsAnsweredOnce) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(seed);
    SeededRandom random(seed);
    PeerFixture peer;
    peer.fixture.disk.set_blocking_share(0.3, seed);
    uint64_t asked = 0;
    for (int step = 0; step < 300; ++step) {
      const std::string key = "k" + std::to_string(random.below(5));
      switch (random.below(6)) {
        case 0:
          peer.ask(++asked, ClientGet{.key = key});
          break;
        case 1:
          peer.ask(++asked, ClientPut{.key = key, .value = "v"});
          break;
        case 2:
          peer.ask(++asked, ClientPut{.key = key, .value = "v", .context = ""});
          break;
        case 3:
          peer.read_disk();
          break;
        case 4:
          if (peer.fixture.store->has_staged()) peer.commit();
          break;
        default:
          peer.now += std::chrono::milliseconds(random.below(500));
          peer.tick();
      }
    }
    peer.now += std::chrono::seconds(10);
    for (int i = 0; i < 20; ++i) {
      peer.read_disk();
      if (peer.fixture.store->has_staged()) peer.commit();
      peer.tick();
    }
    EXPECT_EQ(peer.answers.size(), asked);
    EXPECT_EQ(peer.coordinator->under_way(), 0U);
    EXPECT_EQ(peer.replica->waiting(), 0U);
  }
}

}  // namespace
}  // namespace ringkv
