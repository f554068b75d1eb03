#include "tools/kvbench/load_generator.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>

#include "base/client_message.h"

namespace ringkv::tools {
namespace {

using Clock = LoadGenerator::Clock;

// Answers when the test says so, from a map.
class HeldStore final : public Store {
 public:
  void answer_one(const Status& status = {}) {
    auto [request, done] = std::move(waiting.front());
    waiting.pop_front();
    ClientReply reply;
    reply.status = status;
    if (auto* put = std::get_if<ClientPut>(&request.body)) {
      if (status.ok()) values[put->key] = put->value;
      reply.body = PutReceipt();
    } else {
      const std::string& key = std::get<ClientGet>(request.body).key;
      GetResult result;
      result.context = Context("seen " + key);
      if (values.contains(key)) result.values = {values[key]};
      reply.body = result;
    }
    done(std::move(reply));
  }

  std::deque<std::pair<ClientRequest, std::function<void(ClientReply)>>> waiting;
  std::map<std::string, std::string> values;

 private:
  void submit(ClientRequest request, std::function<void(ClientReply)> done) override {
    waiting.emplace_back(std::move(request), std::move(done));
  }
};

struct LoadGeneratorTest : testing::Test {
  // All counts.
  static LoadGenerator::Window always() {
    return {.from = {}, .until = Clock::now() + std::chrono::hours(1)};
  }

  LoadGenerator& make(const BenchSettings& settings, uint32_t requests) {
    return generator.emplace(store, keys, settings, requests, 1);
  }
  // No generator may end while its requests are under way.
  void TearDown() override {
    while (!store.waiting.empty()) store.answer_one(unavailable("the test ends"));
  }

  HeldStore store;
  KeySpace keys{10};
  std::optional<LoadGenerator> generator;
};

TEST_F(LoadGeneratorTest, AClosedLoopAlwaysHasAsManyUnderWay) {
  LoadGenerator& loop = make({.workload = Workload::kPut, .value_bytes = 5}, 3);
  loop.start(always(), std::nullopt, false);
  EXPECT_EQ(store.waiting.size(), 3U);
  EXPECT_FALSE(loop.next_due());

  for (int i = 0; i < 10; ++i) store.answer_one();

  EXPECT_EQ(store.waiting.size(), 3U);
  EXPECT_EQ(loop.tally().answered, 10U);
  for (const auto& [key, value] : store.values) EXPECT_EQ(value.size(), 5U);
}

TEST_F(LoadGeneratorTest, WhatFailsIsCountedByKindAndReplacedAtTheNextTurn) {
  LoadGenerator& loop = make({.workload = Workload::kGet}, 2);
  loop.start(always(), std::nullopt, false);
  store.answer_one(unavailable("no"));
  store.answer_one(unknown_outcome("perhaps"));
  EXPECT_TRUE(store.waiting.empty());

  loop.top_up();
  EXPECT_EQ(store.waiting.size(), 2U);

  const Tally tally = loop.tally();
  EXPECT_EQ(tally.answered, 0U);
  EXPECT_EQ(tally.errors, 1U);
  EXPECT_EQ(tally.unknown, 1U);
  EXPECT_EQ(tally.latency_us.count(), 0U);
}

TEST_F(LoadGeneratorTest, AGetThatFindsNothingIsAMiss) {
  LoadGenerator& loop = make({.workload = Workload::kGet}, 1);
  loop.start(always(), std::nullopt, false);

  store.answer_one();

  EXPECT_EQ(loop.tally().answered, 1U);
  EXPECT_EQ(loop.tally().misses, 1U);
}

TEST_F(LoadGeneratorTest, ReadModifyWriteReplacesWhatItSawAndCountsOnce) {
  LoadGenerator& loop = make({.workload = Workload::kYcsbF}, 1);
  loop.start(always(), std::nullopt, false);
  const auto next_put = [this] { return std::get_if<ClientPut>(&store.waiting.front().first.body); };
  uint64_t gets = 0;
  uint64_t puts = 0;
  for (int i = 0; i < 100 || next_put() != nullptr; ++i) {
    const ClientPut* put = next_put();
    if (put != nullptr) {
      EXPECT_EQ(put->context, "seen " + put->key);
    }
    ++(put != nullptr ? puts : gets);
    store.answer_one();
  }

  EXPECT_GT(puts, 10U);
  EXPECT_EQ(loop.tally().answered, gets);
}

// What follows a stall is sent at once, and has waited since it was to start.
TEST_F(LoadGeneratorTest, AtARateLatencyCountsFromTheIntendedStart) {
  LoadGenerator& paced = make({.workload = Workload::kPut}, 1);
  const Clock::time_point long_ago = Clock::now() - std::chrono::seconds(100);
  paced.start(always(), Pace(1, long_ago), false);  // 100 are due, one may be under way
  EXPECT_EQ(store.waiting.size(), 1U);

  store.answer_one();
  store.answer_one();
  store.answer_one();

  EXPECT_EQ(paced.tally().answered, 3U);
  EXPECT_GE(paced.tally().latency_us.quantile_us(0), 98'000'000U);
}

TEST_F(LoadGeneratorTest, AtARateNothingIsSentBeforeItsTime) {
  LoadGenerator& paced = make({.workload = Workload::kPut}, 8);
  const Clock::time_point start = Clock::now() + std::chrono::hours(1);
  paced.start({.from = {}, .until = start}, Pace(1000, start), false);

  paced.top_up();

  EXPECT_TRUE(store.waiting.empty());
  EXPECT_EQ(paced.next_due(), start);
}

TEST_F(LoadGeneratorTest, WhatWasDueAndNeverSentIsInTheLatencies) {
  LoadGenerator& paced = make({.workload = Workload::kPut}, 1);
  const Clock::time_point now = Clock::now();
  paced.start({.from = {}, .until = now}, Pace(1, now - std::chrono::seconds(10)), false);
  store.answer_one(unavailable("no"));
  paced.stop();

  const Tally tally = paced.tally();
  EXPECT_EQ(tally.errors, 1U);
  EXPECT_EQ(tally.unsent, 9U);
  EXPECT_EQ(tally.answered, 0U);
  EXPECT_EQ(tally.latency_us.count(), 9U);
  EXPECT_NEAR(static_cast<double>(tally.latency_us.max_us()), 9e6, 1e6);
}

TEST_F(LoadGeneratorTest, TheWarmUpDoesntCount) {
  LoadGenerator& loop = make({.workload = Workload::kPut}, 1);
  const Clock::time_point later = Clock::now() + std::chrono::hours(1);
  loop.start({.from = later, .until = later}, std::nullopt, true);

  store.answer_one();

  EXPECT_EQ(loop.tally().answered, 0U);
  EXPECT_EQ(loop.take_second().answered, 1U);
  EXPECT_EQ(loop.take_second().answered, 0U);
}

}  // namespace
}  // namespace ringkv::tools
