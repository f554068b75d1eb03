#include "replication/hint_keeper.h"

#include <gtest/gtest.h>

#include "tests/replication/cluster_fixture.h"

namespace ringkv {
namespace {

constexpr NodeId kSelf{4}, kIntended{3}, kCoordinator{1};
constexpr Actor kA{NodeId{1}, Boot{11}};
constexpr Actor kB{NodeId{2}, Boot{22}};
constexpr Moment kNow{Time(std::chrono::seconds(1)), 1'000'000'000};

CausalContext context_of(std::vector<Dot> dots) {
  CausalContext context;
  for (const Dot& dot : dots) context.vector.raise(dot.actor, dot.counter);
  context.highest_time = 100;
  return context;
}

// n4 keeps hints for n3, of puts that n1 coordinates.
class HintKeeperTest : public testing::Test {
 protected:
  explicit HintKeeperTest(uint64_t budget = 10'000) : budget_(budget) { start(); }

  void start() {
    keeper_.reset();
    environment_.reset();
    hints_.reset();
    if (std::exchange(started_, true)) fixture_.kill();
    hints_ = std::make_unique<HintStore>(*fixture_.engine, *fixture_.store, *recover_hints(*fixture_.engine));
    environment_ = std::make_unique<ConvergenceEnvironment>(
        ConvergenceSettings{
            .self = kSelf, .boot = fixture_.store->actor().boot, .hint_budget_bytes = budget_},
        ring_, *fixture_.store, *hints_, wholeness_);
    keeper_ = std::make_unique<HintKeeper>(*environment_);
  }

  // One version at each dot, the last dot's counter its time.
  SharedBytes record(const std::vector<Dot>& dots, const CausalContext& context, size_t value_bytes = 1) {
    Record record{context, {}};
    for (const Dot& dot : dots) {
      record.versions.push_back({.dot = dot, .time = dot.counter, .value = std::string(value_bytes, 'v')});
    }
    return fixture_.store->encoded(StoreFixture::place("k"), "k", record).bytes;
  }
  HintPut hint(SharedBytes record, const std::string& key = "k") {
    return {.request = ++last_request_,
            .intended = kIntended,
            .key = key,
            .record = std::move(record),
            .deadline = kNow.now + std::chrono::seconds(5)};
  }

  void keep(HintPut put) {
    MessageOutbox outbox;
    keeper_->on(kCoordinator, std::move(put), kNow, outbox);
    carry(outbox);
  }
  void cover(const CausalContext& context, const std::string& key = "k") {
    MessageOutbox outbox;
    keeper_->on({.intended = kIntended, .key = key, .context = context}, kNow, outbox);
    carry(outbox);
  }
  void carry(MessageOutbox& outbox) {
    for (MessageOutbox::Envelope& envelope : outbox.envelopes()) {
      if (auto* read = std::get_if<ReadHint>(&envelope.message)) {
        reads_.push_back(*read);
      } else if (auto* ack = std::get_if<ReplicaPutAck>(&envelope.message)) {
        (envelope.after_records ? waiting_ : acks_).push_back(*ack);
      }
    }
  }
  void commit() {
    const Commit commit = fixture_.store->take();
    ASSERT_TRUE(fixture_.engine->write(*commit.batch, commit.sync).ok());
    fixture_.store->committed(commit);
    hints_->committed(commit.number);
    for (ReplicaPutAck& ack : std::exchange(waiting_, {})) acks_.push_back(std::move(ack));
  }
  void read_disk() {
    for (const ReadHint& read : std::exchange(reads_, {})) {
      HintRead result{read.ticket, {}, *read_hint(*fixture_.engine, read.intended, read.storage_key)};
      MessageOutbox outbox;
      EXPECT_TRUE(keeper_->on(result, kNow, outbox));
      carry(outbox);
    }
  }
  StatusCode last_code() const { return acks_.empty() ? StatusCode::kNotFound : acks_.back().status.code(); }
  std::vector<Dot> kept_dots(const std::string& key = "k") {
    const std::string bytes = *read_hint(*fixture_.engine, kIntended, StoreFixture::place(key).storage_key);
    return bytes.empty() ? std::vector<Dot>() : decode_record_head(bytes)->dots;
  }
  uint64_t count() const { return hints_->total().hints; }

  const uint64_t budget_;
  Ring ring_{ClusterFixture::description(5, 3)};
  StoreFixture fixture_{kSelf};
  bool started_ = false;
  Wholeness wholeness_{kTestPartitions};
  std::unique_ptr<HintStore> hints_;
  std::unique_ptr<ConvergenceEnvironment> environment_;
  std::unique_ptr<HintKeeper> keeper_;
  std::vector<ReadHint> reads_;
  std::vector<ReplicaPutAck> waiting_;
  std::vector<ReplicaPutAck> acks_;
  RequestNumber last_request_ = 0;
};

class SmallHintBudgetTest : public HintKeeperTest {
 protected:
  SmallHintBudgetTest() : HintKeeperTest(600) {}
};

TEST_F(HintKeeperTest, AcknowledgesAHintThatIsOnDisk) {
  keep(hint(record({{kA, 1}}, context_of({{kA, 1}}))));
  EXPECT_TRUE(acks_.empty());
  EXPECT_EQ(count(), 1U);
  commit();
  ASSERT_EQ(acks_.size(), 1U);
  EXPECT_TRUE(acks_[0].status.ok());
  EXPECT_EQ(acks_[0].replica, kSelf);
  EXPECT_EQ(acks_[0].hint_for, kIntended);
  EXPECT_EQ(fixture_.disk.unsynced_batches(), 0U);
  EXPECT_EQ(kept_dots(), (std::vector<Dot>{{kA, 1}}));
}

TEST_F(HintKeeperTest, AKeyThatIsWrittenManyTimesIsOneHint) {
  for (uint64_t n = 1; n <= 1000; ++n) keep(hint(record({{kA, n}}, context_of({{kA, n}}))));
  commit();
  EXPECT_EQ(acks_.size(), 1000U);
  EXPECT_EQ(count(), 1U);
  EXPECT_EQ(kept_dots(), (std::vector<Dot>{{kA, 1000}}));
}

TEST_F(HintKeeperTest, ConcurrentVersionsAreMerged) {
  keep(hint(record({{kA, 1}}, context_of({{kA, 1}}))));
  commit();
  keep(hint(record({{kB, 1}}, context_of({{kB, 1}}))));
  commit();
  EXPECT_EQ(kept_dots(), (std::vector<Dot>{{kA, 1}, {kB, 1}}));
}

TEST_F(HintKeeperTest, InALastWriterWinsBucketTheWinnerIsKept) {
  HintPut winner = hint(record({{kA, 9}}, context_of({{kA, 9}})));
  HintPut loser = hint(record({{kB, 1}}, context_of({{kB, 1}})));
  winner.conflict = loser.conflict = Conflict::kLastWriterWins;
  keep(std::move(winner));
  keep(std::move(loser));
  commit();
  EXPECT_EQ(kept_dots(), (std::vector<Dot>{{kA, 9}}));
}

TEST_F(HintKeeperTest, WhatIsKeptAlreadyIsNotWrittenAgain) {
  const SharedBytes bytes = record({{kA, 1}}, context_of({{kA, 1}}));
  keep(hint(bytes));
  commit();
  keep(hint(bytes));
  EXPECT_EQ(acks_.size(), 2U);
  EXPECT_FALSE(fixture_.store->has_staged());
}

// An acknowledgement may not be ahead of the hint on which it rests.
TEST_F(HintKeeperTest, WhatIsOnItsWayToTheDiskIsAcknowledgedWhenItIsThere) {
  const SharedBytes bytes = record({{kA, 1}}, context_of({{kA, 1}}));
  keep(hint(bytes));
  const Commit under_way = fixture_.store->take();
  keep(hint(bytes));
  EXPECT_TRUE(acks_.empty());
  ASSERT_TRUE(fixture_.engine->write(*under_way.batch, under_way.sync).ok());
  fixture_.store->committed(under_way);
  hints_->committed(under_way.number);
  EXPECT_TRUE(acks_.empty()) << "its own batch is yet to come";
  commit();
  EXPECT_EQ(acks_.size(), 2U);
}

TEST_F(HintKeeperTest, WhatWasBufferedIsSyncedForAHintThatMustBe) {
  HintPut buffered = hint(record({{kA, 1}}, context_of({{kA, 1}})));
  buffered.sync = false;
  keep(buffered);
  commit();
  EXPECT_EQ(fixture_.disk.unsynced_batches(), 1U);
  keep(hint(buffered.record));
  EXPECT_EQ(acks_.size(), 1U);
  commit();
  EXPECT_EQ(acks_.size(), 2U);
  EXPECT_EQ(fixture_.disk.unsynced_batches(), 0U);
}

// The first write's late acknowledgement must not take the second with it (model of a merged hint).
TEST_F(HintKeeperTest, ALateAcknowledgementCancelsExactlyWhatItAcknowledges) {
  keep(hint(record({{kA, 1}}, context_of({{kA, 1}}))));
  keep(hint(record({{kA, 2}}, context_of({{kA, 2}}))));
  cover(context_of({{kA, 1}}));
  EXPECT_EQ(count(), 1U);
  cover(context_of({{kA, 2}}));
  EXPECT_EQ(count(), 0U);
  commit();
  EXPECT_TRUE(kept_dots().empty());
  EXPECT_EQ(environment_->statistics.hints_cancelled, 1U);
}

TEST_F(HintKeeperTest, OfSiblingsEachMustHaveArrived) {
  keep(hint(record({{kA, 1}, {kB, 1}}, context_of({{kA, 1}, {kB, 1}}))));
  cover(context_of({{kA, 7}}));
  EXPECT_EQ(count(), 1U);
  cover(context_of({{kA, 1}, {kB, 1}}));
  EXPECT_EQ(count(), 0U);
}

TEST_F(HintKeeperTest, ChangesOfOneHintWaitInOrderWhenOnlyTheDiskKnowsIt) {
  keep(hint(record({{kA, 1}}, context_of({{kA, 1}}))));
  commit();
  fixture_.disk.set_blocking_share(1, 7);
  keep(hint(record({{kB, 1}}, context_of({{kB, 1}}))));
  cover(context_of({{kA, 1}}));
  keep(hint(record({{kA, 2}}, context_of({{kA, 2}}))));
  EXPECT_EQ(reads_.size(), 1U);
  EXPECT_EQ(keeper_->waiting(), 3U);
  read_disk();
  EXPECT_EQ(keeper_->waiting(), 0U);
  commit();
  EXPECT_EQ(acks_.size(), 3U);
  EXPECT_EQ(kept_dots(), (std::vector<Dot>{{kA, 2}, {kB, 1}}));
}

TEST_F(HintKeeperTest, ADiskThatCanNotBeReadRefusesWhatMustBeMerged) {
  keep(hint(record({{kA, 1}}, context_of({{kA, 1}}))));
  commit();
  fixture_.disk.set_blocking_share(1, 7);
  keep(hint(record({{kB, 1}}, context_of({{kB, 1}}))));
  ASSERT_EQ(reads_.size(), 1U);
  HintRead failed{reads_[0].ticket, corruption("a damaged file"), ""};
  MessageOutbox outbox;
  EXPECT_TRUE(keeper_->on(failed, kNow, outbox));
  carry(outbox);
  EXPECT_EQ(last_code(), StatusCode::kCorruption);
  EXPECT_EQ(keeper_->waiting(), 0U);
}

TEST_F(SmallHintBudgetTest, PastTheBudgetHintsAreRefusedAndThoseThatWereAcknowledgedStay) {
  keep(hint(record({{kA, 1}}, context_of({{kA, 1}}), 400)));
  commit();
  keep(hint(record({{kB, 1}}, context_of({{kB, 1}}), 400)));  // merged it would be too large
  EXPECT_EQ(last_code(), StatusCode::kOutOfSpace);
  EXPECT_NE(acks_.back().status.message().find("for n3"), std::string::npos);
  keep(hint(record({{kB, 1}}, context_of({{kB, 1}}), 400), "other"));
  EXPECT_EQ(last_code(), StatusCode::kOutOfSpace);
  EXPECT_EQ(environment_->statistics.hints_refused, 2U);
  EXPECT_EQ(kept_dots(), (std::vector<Dot>{{kA, 1}}));

  HintPut for_another = hint(record({{kB, 1}}, context_of({{kB, 1}}), 400));
  for_another.intended = NodeId{2};
  keep(std::move(for_another));
  keep(hint(record({{kA, 2}}, context_of({{kA, 2}}), 10)));  // takes the place of a larger one
  commit();
  EXPECT_TRUE(acks_.back().status.ok());
  EXPECT_EQ(count(), 2U);
}

TEST_F(HintKeeperTest, RefusesByName) {
  const SharedBytes bytes = record({{kA, 1}}, context_of({{kA, 1}}));
  HintPut put = hint(bytes);
  put.intended = NodeId{77};
  keep(put);
  EXPECT_EQ(last_code(), StatusCode::kInvalidArgument) << "no member";
  put.intended = kSelf;
  keep(put);
  EXPECT_EQ(last_code(), StatusCode::kInvalidArgument) << "itself";
  put = hint(bytes);
  put.deadline = kNow.now;
  keep(put);
  EXPECT_EQ(last_code(), StatusCode::kUnavailable) << "too late";
  keep(hint(std::make_shared<const std::string>("nonsense")));
  EXPECT_EQ(last_code(), StatusCode::kCorruption);
  environment_->puts_refused = "the disk is nearly full";
  keep(hint(bytes));
  EXPECT_EQ(last_code(), StatusCode::kOutOfSpace);
  EXPECT_EQ(acks_.back().hint_for, kIntended);
  EXPECT_EQ(count(), 0U);
  environment_->puts_refused.clear();
  keep(hint(bytes));
  EXPECT_EQ(count(), 1U) << "takes hints again by itself";
}

TEST_F(HintKeeperTest, WhatWaitsForTheDiskIsBounded) {
  keep(hint(record({{kA, 1}}, context_of({{kA, 1}}))));
  commit();
  fixture_.disk.set_blocking_share(1, 7);
  const SharedBytes bytes = record({{kA, 2}}, context_of({{kA, 2}}));
  for (size_t i = 0; i < HintKeeper::kWaitingMax + 1; ++i) keep(hint(bytes));
  EXPECT_EQ(keeper_->waiting(), HintKeeper::kWaitingMax);
  EXPECT_EQ(last_code(), StatusCode::kOverloaded);
}

TEST_F(HintKeeperTest, NobodyHearsOfAHintThatNobodyCounts) {
  HintPut put = hint(record({{kA, 1}}, context_of({{kA, 1}})));
  put.request = 0;
  keep(put);
  commit();
  EXPECT_TRUE(acks_.empty());
  EXPECT_EQ(count(), 1U);
}

TEST_F(HintKeeperTest, HintsOutliveTheNode) {
  keep(hint(record({{kA, 1}}, context_of({{kA, 1}}))));
  commit();
  start();
  EXPECT_EQ(count(), 1U);
  cover(context_of({{kA, 1}}));
  commit();
  start();
  EXPECT_EQ(count(), 0U);
}

}  // namespace
}  // namespace ringkv
