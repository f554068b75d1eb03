// How a replica takes what other nodes send it: records to merge, digests to answer.
#include <gtest/gtest.h>

#include "replication/replica.h"
#include "tests/replication/peer_fixture.h"
#include "tests/storage/sample_records.h"
#include "tests/storage/store_fixture.h"

namespace ringkv {
namespace {

using sample::context;
using sample::kB;
using sample::kC;
using sample::record_of;
using sample::value;
using Values = std::vector<std::string>;

constexpr NodeId kSelf{1};
constexpr NodeId kOther{2};
constexpr Time kNow{std::chrono::seconds(10)};
constexpr Time kDeadline{std::chrono::seconds(20)};
constexpr size_t kHeldBytesMax = 100'000;

class ReplicaMerge : public testing::Test {
 protected:
  ReplicaMerge() { restart(); }

  void restart() {
    replica_ = std::make_unique<Replica>(
        Replica::Settings{
            .self = kSelf, .placement = {.partitions = kTestPartitions}, .held_bytes_max = kHeldBytesMax},
        ring_, *fixture_.store, hints_, wholeness_);
    waiting_.clear();
    sent_.clear();
    reads_.clear();
  }

  void merge(const Record& record, Source source = Source::kPut, bool sync = true) {
    send(ReplicaPut{.request = ++request_,
                    .key = "k",
                    .record = StoreFixture::encoded("k", record),
                    .source = source,
                    .sync = sync,
                    .deadline = kDeadline});
  }
  void send(ReplicaPut put) {
    MessageOutbox outbox;
    replica_->on(kOther, std::move(put), kNow, 1, outbox);
    carry(outbox);
  }
  ReplicaGetReply get(bool digest) {
    MessageOutbox outbox;
    replica_->on(kOther,
                 ReplicaGet{.request = ++request_, .key = "k", .digest = digest, .deadline = kDeadline}, kNow,
                 outbox);
    return std::get<ReplicaGetReply>(outbox.envelopes().at(0).message);
  }

  void carry(MessageOutbox& outbox) {
    for (MessageOutbox::Envelope& envelope : outbox.envelopes()) {
      if (auto* read = std::get_if<ReadRecord>(&envelope.message)) {
        reads_.push_back(std::move(*read));
      } else {
        (envelope.after_records ? waiting_ : sent_).push_back(std::move(envelope.message));
      }
    }
  }
  bool begin_commit() {
    if (!fixture_.store->has_staged()) return false;
    commit_ = fixture_.store->take();
    return true;
  }
  void finish_commit() {
    ASSERT_TRUE(fixture_.engine->write(*commit_.batch, commit_.sync).ok());
    fixture_.store->committed(commit_);
    for (Message& message : std::exchange(waiting_, {})) sent_.push_back(std::move(message));
    MessageOutbox outbox;
    replica_->on_committed(commit_.number, kNow, 1, outbox);
    carry(outbox);
  }
  void commit() {
    while (begin_commit()) finish_commit();
  }

  // The status of the last acknowledgement; nothing: none has been sent.
  std::optional<StatusCode> acknowledged() {
    for (const Message& message : sent_) {
      const auto* ack = std::get_if<ReplicaPutAck>(&message);
      if (ack != nullptr && ack->request == request_) return ack->status.code();
    }
    return std::nullopt;
  }

  StoreFixture fixture_;
  Ring ring_{PeerFixture::one_member()};
  HintStore hints_{*fixture_.engine, *fixture_.store, RecoveredHints()};
  Wholeness wholeness_{kTestPartitions};
  std::unique_ptr<Replica> replica_;
  RequestNumber request_ = 0;
  std::vector<Message> sent_;
  std::vector<Message> waiting_;
  std::vector<ReadRecord> reads_;
  Commit commit_;
};

TEST_F(ReplicaMerge, IsAcknowledgedOnceItIsOnDisk) {
  merge(record_of(value({kB, 1}, "v")));
  EXPECT_FALSE(acknowledged());
  commit();
  EXPECT_EQ(acknowledged(), StatusCode::kOk);
  EXPECT_EQ(sample::values_of(fixture_.read("k")), Values{"v"});
}

TEST_F(ReplicaMerge, OfWhatIsHeldAlreadyWritesNothing) {
  const Record record = record_of(value({kB, 1}, "v"));
  merge(record);
  commit();
  merge(record);
  EXPECT_EQ(acknowledged(), StatusCode::kOk);
  EXPECT_FALSE(fixture_.store->has_staged());
}

// Its first copy may still be on its way to the disk.
TEST_F(ReplicaMerge, OfWhatIsHeldAlreadyWaitsForWhatIsUnderWay) {
  for (const bool sync : {true, false}) {
    const Record record = record_of(value({kB, sync ? 1U : 2U}, "v"), {{kB, 1}});
    merge(record, Source::kPut, sync);
    begin_commit();
    merge(record, Source::kPut, sync);
    EXPECT_FALSE(acknowledged()) << sync;
    finish_commit();
    commit();
    EXPECT_EQ(acknowledged(), StatusCode::kOk) << sync;
  }
}

// What was only buffered is not what a synced acknowledgement says.
TEST_F(ReplicaMerge, OfWhatIsHeldAlreadySyncsItWhereThatIsAskedFor) {
  const Record record = record_of(value({kB, 1}, "v"));
  merge(record, Source::kPut, false);
  commit();
  EXPECT_EQ(acknowledged(), StatusCode::kOk);
  ASSERT_EQ(fixture_.disk.unsynced_batches(), 1U);
  merge(record);
  EXPECT_FALSE(acknowledged());
  commit();
  EXPECT_EQ(acknowledged(), StatusCode::kOk);
  EXPECT_EQ(fixture_.disk.unsynced_batches(), 0U);
}

TEST_F(ReplicaMerge, OfSiblingsReadsThemOnceAllIsOnDiskAndKeepsTheOrder) {
  merge(record_of(value({kB, 1}, "b")));
  merge(record_of(value({kC, 1}, "c")));
  merge(record_of(value({kC, 2}, "c2"), {{kC, 1}}));
  commit();
  EXPECT_EQ(sample::values_of(fixture_.read("k")), (Values{"b", "c2"}));
  EXPECT_EQ(replica_->waiting(), 0U);
  EXPECT_EQ(replica_->latched_bytes(), 0U);
}

TEST_F(ReplicaMerge, ShowsHowEachVersionCame) {
  merge(record_of(value({kB, 1}, "b")), Source::kHint);
  commit();
  Record both = record_of(value({kB, 1}, "b"));
  both.versions.push_back(value({kC, 1}, "c"));
  both.context.vector.raise(kC, 1);
  merge(both, Source::kReadRepair);
  commit();
  const Record held = fixture_.read("k");
  EXPECT_EQ(held.versions.at(1).source, Source::kReadRepair);
}

// Whatever order they came in, replicas hold the same bytes to compare.
TEST_F(ReplicaMerge, HasTheSameHashByWhateverPath) {
  const Record b = record_of(value({kB, 1}, "b"));
  const Record c = record_of(value({kC, 1}, "c"));
  merge(b);
  merge(c, Source::kReadRepair);
  commit();
  const ReplicaGetReply one = get(true);
  fixture_.close();
  fixture_.disk.wipe();
  fixture_.open();
  restart();
  merge(c, Source::kAntiEntropy);
  merge(b);
  commit();
  EXPECT_EQ(get(true).hash, one.hash);
  EXPECT_EQ(get(false).hash, one.hash);
}

TEST_F(ReplicaMerge, IsNeverRefusedForTheNumberOfSiblings) {
  for (uint64_t i = 1; i <= kSiblingsMax + 20; ++i) {
    merge(record_of(value({sample::actor(7, i), 1}, std::to_string(i))));
    commit();
    ASSERT_EQ(acknowledged(), StatusCode::kOk) << i;
  }
  EXPECT_EQ(fixture_.read("k").versions.size(), kSiblingsMax + 20);
}

TEST_F(ReplicaMerge, OfMalformedOrIncompleteBytesIsRefused) {
  send({.request = ++request_,
        .key = "k",
        .record = std::make_shared<std::string>("junk"),
        .deadline = kDeadline});
  EXPECT_EQ(acknowledged(), StatusCode::kCorruption);
  Record stripped = record_of(value({kB, 1}, "v"));
  stripped.context.stripped = true;
  merge(stripped);
  EXPECT_EQ(acknowledged(), StatusCode::kCorruption);
  merge(Record());
  EXPECT_EQ(acknowledged(), StatusCode::kCorruption);
  send({.request = ++request_,
        .key = "",
        .record = StoreFixture::encoded("k", record_of(value({kB, 1}, "v"))),
        .deadline = kDeadline});
  EXPECT_EQ(acknowledged(), StatusCode::kInvalidArgument);
  EXPECT_FALSE(fixture_.store->has_staged());
}

TEST_F(ReplicaMerge, PastItsDeadlineIsRefused) {
  send({.request = ++request_,
        .key = "k",
        .record = StoreFixture::encoded("k", record_of(value({kB, 1}, "v"))),
        .deadline = kNow});
  EXPECT_EQ(acknowledged(), StatusCode::kUnavailable);
}

TEST_F(ReplicaMerge, OfMoreThanTheDiskKeepsUpWithIsOverloaded) {
  const std::string large(60'000, 'v');
  merge(record_of(value({kB, 1}, large)));
  EXPECT_FALSE(acknowledged());
  merge(record_of(value({kB, 2}, large), {{kB, 1}}));
  EXPECT_EQ(acknowledged(), StatusCode::kOverloaded);
  commit();
  merge(record_of(value({kB, 2}, large), {{kB, 1}}));
  commit();
  EXPECT_EQ(acknowledged(), StatusCode::kOk);
}

TEST_F(ReplicaMerge, ThatWaitsForItsKeyCountsAsHeldToo) {
  fixture_.disk.set_blocking_share(1, 1);
  const std::string large(60'000, 'v');
  merge(record_of(value({kB, 1}, large)));
  EXPECT_GT(replica_->latched_bytes(), large.size());
  merge(record_of(value({kC, 1}, large)));
  EXPECT_EQ(acknowledged(), StatusCode::kOverloaded);
}

TEST_F(ReplicaMerge, OfValuesIsRefusedWhereTheDiskIsNearlyFullAndOfDeletesTaken) {
  merge(record_of(value({kB, 1}, "v")));
  commit();
  replica_->refuse_puts("the disk is nearly full");
  merge(record_of(value({kB, 2}, "w"), {{kB, 1}}));
  EXPECT_EQ(acknowledged(), StatusCode::kOutOfSpace);
  merge(record_of(value({kB, 1}, "v")));
  EXPECT_EQ(acknowledged(), StatusCode::kOk) << "it is held already";
  merge(record_of(value({kC, 2}, "w"), {{kB, 1}}), Source::kHint);
  commit();
  EXPECT_EQ(acknowledged(), StatusCode::kOk) << "what converges goes on";
  merge(record_of(sample::tombstone({kB, 3}), {{kB, 1}, {kC, 2}}));
  commit();
  EXPECT_EQ(acknowledged(), StatusCode::kOk);
  replica_->take_puts();
  merge(record_of(value({kB, 4}, "x"), {{kB, 3}, {kC, 2}}));
  commit();
  EXPECT_EQ(sample::values_of(fixture_.read("k")), Values{"x"});
}

TEST_F(ReplicaMerge, OverManyLivesKeepsContextsShortAndComparesThemInFull) {
  for (int life = 0; life < 20; ++life) {
    fixture_.put("k", "old");
    ASSERT_TRUE(fixture_.commit().ok());
    fixture_.kill();
  }
  restart();
  fixture_.put("k", "own");
  ASSERT_TRUE(fixture_.commit().ok());
  ASSERT_TRUE(fixture_.read("k").context.stripped);
  const ReplicaGetReply seen = get(false);
  EXPECT_FALSE(seen.record.context.stripped);

  // Another node's write on top of all that, and a late one of the first life.
  Record next{seen.record.context, {value({kB, 1}, "next", seen.record.context.highest_time + 1)}};
  next.context.vector.raise(kB, 1);
  next.context.highest_time += 1;
  merge(next);
  commit();
  EXPECT_EQ(sample::values_of(fixture_.read("k")), Values{"next"});
  merge(record_of(value({{kSelf, Boot{1001}}, 1}, "old")));
  EXPECT_EQ(acknowledged(), StatusCode::kOk);
  EXPECT_EQ(sample::values_of(fixture_.read("k")), Values{"next"});
}

// A record that claims this life's future would have its next stamp dropped everywhere.
TEST_F(ReplicaMerge, OfARecordThatClaimsTheFutureOfThisLifeEndsItsStampsHonestly) {
  Record forged = record_of(value({kB, 1}, "v"));
  forged.context.vector.raise(fixture_.store->actor(), 1000);
  merge(forged);
  commit();
  MessageOutbox outbox;
  replica_->on(
      StampPut{
          .request = 7, .place = StoreFixture::place("k"), .key = "k", .value = "w", .deadline = kDeadline},
      kNow, 1, outbox);
  EXPECT_EQ(std::get<StampPutAck>(outbox.envelopes().at(0).message).status.code(), StatusCode::kCorruption);
}

TEST_F(ReplicaMerge, ADigestFromMemoryIsThatFromTheDisk) {
  merge(record_of(value({kB, 3}, "v"), {{kC, 2}}));
  commit();
  const ReplicaGetReply from_memory = get(true);
  fixture_.kill();
  restart();
  const ReplicaGetReply from_disk = get(true);
  EXPECT_EQ(from_memory.hash, from_disk.hash);
  EXPECT_EQ(from_memory.record.context, from_disk.record.context);
  EXPECT_TRUE(from_memory.digest && from_disk.digest);
  EXPECT_TRUE(from_disk.record.versions.empty());
  EXPECT_EQ(get(false).hash, from_disk.hash);
}

TEST_F(ReplicaMerge, ADigestIsOfWhatIsCommitted) {
  merge(record_of(value({kB, 1}, "v")));
  EXPECT_EQ(get(true).hash, Hash128());
  commit();
  EXPECT_NE(get(true).hash, Hash128());
}

TEST_F(ReplicaMerge, ReadsThatWaitHaveABound) {
  replica_ = std::make_unique<Replica>(
      Replica::Settings{.self = kSelf, .placement = {.partitions = kTestPartitions}, .reads_max = 2}, ring_,
      *fixture_.store, hints_, wholeness_);
  merge(record_of(value({kB, 1}, "v")));
  begin_commit();
  MessageOutbox outbox;
  for (RequestNumber request = 1; request <= 3; ++request) {
    replica_->on(kOther, ReplicaGet{.request = request, .key = "k", .deadline = kDeadline}, kNow, outbox);
  }
  ASSERT_EQ(outbox.envelopes().size(), 1U);
  const auto& reply = std::get<ReplicaGetReply>(outbox.envelopes()[0].message);
  EXPECT_EQ(reply.status.code(), StatusCode::kOverloaded);
}

}  // namespace
}  // namespace ringkv
