#include "replication/transfer_pace.h"

#include <gtest/gtest.h>

#include "tests/replication/round_fixture.h"

namespace ringkv {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Second = TransferPace::Second;

constexpr uint64_t kMB = 1'000'000;

// A second of requests with this p99 while somebody takes so much in.
Second second_of(uint64_t p99_us, uint64_t taken_in) {
  return {.requests = 1000, .p99_us = p99_us, .most_taken_in = taken_in};
}

// What is let through in so many seconds where answers are of this size.
uint64_t let_through(TransferPace& pace, uint64_t answer_bytes, int how_many_seconds) {
  uint64_t bytes = 0;
  Time now = Time(seconds(100));
  pace.may_ask(now);
  for (const Time end = now + seconds(how_many_seconds); now < end; now += milliseconds(10)) {
    while (pace.may_ask(now)) {
      pace.settle(pace.reserve(), answer_bytes, 0);
      bytes += answer_bytes;
    }
    EXPECT_GT(pace.may_ask_at(now), now);
  }
  return bytes;
}

TEST(TransferPace, ALimitIsKeptToWhateverTheSizeOfAnswers) {
  for (const uint64_t answer_bytes : {1'000U, 100'000U, 250'000U}) {
    TransferPace pace;
    pace.on_second({.limit = 5 * kMB});
    const auto bytes = static_cast<double>(let_through(pace, answer_bytes, 10));
    EXPECT_NEAR(bytes, 50e6, 3e6) << answer_bytes;
  }
}

TEST(TransferPace, ALimitIsHeldWithinBounds) {
  for (const uint64_t limit : {uint64_t{1}, ~uint64_t{0}, uint64_t{1} << 63}) {
    TransferPace pace;
    pace.on_second({.limit = limit});
    EXPECT_GE(pace.bytes_per_second(), TransferPace::kLeastLimit);
    EXPECT_LE(pace.bytes_per_second(), TransferPace::kMost);
    Time now(seconds(100));
    pace.may_ask(now);
    pace.settle(pace.reserve(), 10'000, 0);
    bool may_ask = false;
    for (int i = 0; i < 80 && !may_ask; ++i) may_ask = pace.may_ask(now += seconds(1));
    EXPECT_TRUE(may_ask) << limit;
  }
}

TEST(TransferPace, WhatIsGivenUpIsGivenBack) {
  TransferPace pace;
  pace.on_second({.limit = 1024});
  const Time now(seconds(100));
  for (int i = 0; i < 50; ++i) pace.give_back(pace.reserve());
  EXPECT_TRUE(pace.may_ask(now));
}

TEST(TransferPace, EachRecordCostsMoreThanItsBytes) {
  TransferPace pace;
  pace.settle(pace.reserve(), 1000, 10);
  pace.on_second({});
  EXPECT_EQ(pace.taken_in(), 1000 + 10 * kTransferCostOfRecord);
}

// Forty questions at once mustn't bring forty answers' worth of debt unforeseen.
TEST(TransferPace, QuestionsUnderWayAreReckonedWith) {
  TransferPace pace;
  pace.on_second({.limit = kMB});
  for (int i = 0; i < 50; ++i) pace.settle(pace.reserve(), 100'000, 0);
  const Time now(seconds(1000));
  pace.may_ask(now);
  Time later = now;
  while (!pace.may_ask(later)) later += milliseconds(10);
  size_t asked = 0;
  while (pace.may_ask(later) && asked < 40) pace.reserve(), ++asked;
  EXPECT_LE(asked, 3U);
}

TEST(TransferPace, GrowsWhileRequestsAreAsQuickAsBefore) {
  TransferPace pace;
  for (int i = 0; i < 30; ++i) pace.on_second(second_of(3'000, 0));
  EXPECT_EQ(pace.bytes_per_second(), TransferPace::kFirst);
  for (int i = 0; i < 5; ++i) pace.on_second(second_of(4'000, pace.bytes_per_second()));
  EXPECT_GE(pace.bytes_per_second(), 100 * kMB);
  EXPECT_FALSE(pace.is_strained());
}

TEST(TransferPace, GrowsNoFurtherThanWhatIsMadeUseOf) {
  TransferPace pace;
  for (int i = 0; i < 20; ++i) pace.on_second(second_of(1'000, 30 * kMB));
  EXPECT_EQ(pace.bytes_per_second(), 60 * kMB);
}

TEST(TransferPace, FallsBelowWhatMadeRequestsSlowAndThenGrowsCarefully) {
  TransferPace pace;
  for (int i = 0; i < 30; ++i) pace.on_second(second_of(3'000, 0));
  pace.on_second(second_of(4'000, 10 * kMB));
  pace.on_second(second_of(9'000, 15 * kMB));
  EXPECT_TRUE(pace.is_strained());
  EXPECT_EQ(pace.bytes_per_second(), 9 * kMB);
  pace.on_second(second_of(4'000, 9 * kMB));
  EXPECT_FALSE(pace.is_strained());
  EXPECT_EQ(pace.bytes_per_second(), 9'900'000U);
  for (int i = 0; i < 3; ++i) pace.on_second(second_of(50'000, 2 * kMB));
  EXPECT_EQ(pace.bytes_per_second(), TransferPace::kLeast) << "or nothing would end";
}

TEST(TransferPace, WhatTheLeastPaceDoesntCureIsNotItsFault) {
  TransferPace pace;
  for (int i = 0; i < 30; ++i) pace.on_second(second_of(4'000, 0));
  for (int i = 0; i < 8; ++i) pace.on_second(second_of(12'000, 2 * kMB));
  pace.on_second(second_of(13'000, 2 * kMB));
  EXPECT_FALSE(pace.is_strained());
  EXPECT_GT(pace.bytes_per_second(), TransferPace::kLeast);
  pace.on_second(second_of(21'000, 8 * kMB));
  EXPECT_TRUE(pace.is_strained()) << "slower still";
  for (int i = 0; i < 8; ++i) pace.on_second(second_of(30'000, 2 * kMB));
  EXPECT_TRUE(pace.is_strained()) << "that is learned once";
  pace.on_second(second_of(4'000, 0));
  pace.on_second(second_of(12'000, 2 * kMB));
  EXPECT_TRUE(pace.is_strained()) << "and for these transfers alone";
}

TEST(TransferPace, SlowRequestsWithoutTransfersAreTheirOwn) {
  TransferPace pace;
  for (int i = 0; i < 60; ++i) pace.on_second(second_of(500'000, 0));
  EXPECT_FALSE(pace.is_strained());
  pace.on_second(second_of(700'000, 10 * kMB));
  EXPECT_FALSE(pace.is_strained()) << "as slow as ever";
}

TEST(TransferPace, NobodyTakesInMoreThanAnyMemberBears) {
  TransferPace pace;
  Second second{.least_of_others = 3 * kMB, .most_taken_in = 20 * kMB};
  pace.on_second(second);
  EXPECT_EQ(pace.bytes_per_second(), 3 * kMB);
  second.limit = 50 * kMB;
  pace.on_second(second);
  EXPECT_EQ(pace.bytes_per_second(), 50 * kMB) << "the operator knows better";
}

TEST(TransferPace, FewRequestsSayNothing) {
  TransferPace pace;
  pace.on_second(
      {.requests = TransferPace::kRequestsEnough - 1, .p99_us = 900'000, .most_taken_in = 9 * kMB});
  EXPECT_FALSE(pace.is_strained());
}

// ---- In rounds

TEST(TransferPace, RoundsKeepToItAndEnd) {
  RoundFixture cluster(2, Duration{});
  for (int i = 0; i < 400; ++i) cluster.put(1, "k" + std::to_string(i), std::string(10'000, 'v'));
  cluster.run();
  RoundFixture::Node& second = cluster.node(2);
  second.convergence->pace_transfers({.limit = kMB});
  const uint64_t request = cluster.repair(2);
  const Time began = cluster.now;
  while (!cluster.answers.contains(request) && cluster.now < began + seconds(60))
    cluster.run_for(milliseconds(10), milliseconds(10));
  const auto took = cluster.now - began;
  EXPECT_GE(took, milliseconds(3'000)) << "4 MB at 1 MB a second, less a burst";
  EXPECT_LE(took, milliseconds(6'000));
  EXPECT_EQ(std::get<RepairReport>(cluster.answers[request].body).differences, 400U);
}

TEST(TransferPace, WhatIsUnderWayIsReportedWithThePace) {
  RoundFixture cluster(2, Duration{});
  for (int i = 0; i < 400; ++i) cluster.put(1, "k" + std::to_string(i), std::string(10'000, 'v'));
  cluster.run();
  RoundFixture::Node& second = cluster.node(2);
  second.convergence->pace_transfers({.limit = kMB});
  cluster.repair(2);
  cluster.run_for(seconds(2), milliseconds(10));
  cluster.act(second, [&](auto& outbox) {
    second.convergence->on(Arrival{.requester = {1, 77}, .now = cluster.now}, ClientTransfers(), outbox);
  });
  const auto& report = std::get<TransferReport>(cluster.answers[77].body);
  EXPECT_EQ(report.node, "n2");
  EXPECT_EQ(report.bytes_per_second, kMB);
  EXPECT_EQ(report.limit, kMB);
  ASSERT_EQ(report.transfers.size(), 1U);
  const TransferInfo& transfer = report.transfers[0];
  EXPECT_EQ(transfer.from, "n1");
  EXPECT_EQ(transfer.to, "n2");
  EXPECT_EQ(transfer.partitions, kTestPartitions);
  EXPECT_LT(transfer.partitions_done, transfer.partitions);
  EXPECT_NEAR(transfer.seconds, 2, 0.2);
}

}  // namespace
}  // namespace ringkv
