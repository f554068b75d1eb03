// What a replica's floor says of records that arrive, of absent keys, and of what may go.
#include <gtest/gtest.h>

#include "replication/replica.h"
#include "tests/replication/disk_reads.h"
#include "tests/replication/peer_fixture.h"
#include "tests/storage/sample_records.h"
#include "tests/storage/store_fixture.h"

namespace ringkv {
namespace {

using sample::context;
using sample::kB;
using sample::kC;
using sample::tombstone;
using sample::value;
using Values = std::vector<std::string>;

constexpr NodeId kSelf{1};
constexpr NodeId kOther{2};
constexpr Time kNow{std::chrono::seconds(10)};
constexpr Time kDeadline{std::chrono::seconds(20)};
constexpr WallMicros kWallNow = 1'000'000'000;

class ReplicaFloor : public testing::Test {
 protected:
  ReplicaFloor() { restart(); }

  void restart() {
    replica_ = std::make_unique<Replica>(
        Replica::Settings{.self = kSelf, .placement = {.partitions = kTestPartitions}}, ring_,
        *fixture_.store, hints_, wholeness_);
    waiting_.clear();
    sent_.clear();
    reads_.clear();
    slices_.clear();
  }

  static SharedBytes bytes(const Record& record) {
    const RecordHasher hasher(std::string(32, 's'));
    auto bytes = std::make_shared<std::string>();
    encode_record(record, hasher.hash(StoreFixture::place("k").digest, record), content_bytes("k", record),
                  *bytes);
    return bytes;
  }
  static Record record_of(Version version, std::vector<Dot> seen = {}) {
    seen.push_back(version.dot);
    return {context(seen, version.time), {std::move(version)}};
  }
  static Record bare(const std::vector<Dot>& seen) { return {context(seen), {}}; }

  // In the partition of "k", up to here.
  void raise_floor(const std::vector<Dot>& up_to, const std::vector<Dot>& erased = {}) {
    fixture_.store->raise_floor(StoreFixture::place("k").partition, context(up_to),
                                erased.empty() ? CausalContext() : context(erased));
    fixture_.store->require_sync();
  }

  void merge(const Record& record, std::shared_ptr<const Floor> floor = nullptr, bool sync = true) {
    MessageOutbox outbox;
    replica_->on(kOther,
                 ReplicaPut{.request = ++request_,
                            .key = "k",
                            .record = bytes(record),
                            .source = Source::kAntiEntropy,
                            .sync = sync,
                            .deadline = kDeadline,
                            .floor = std::move(floor)},
                 kNow, kWallNow, outbox);
    carry(outbox);
  }
  void stamp(const std::string& bytes, std::optional<CausalContext> seen = std::nullopt) {
    MessageOutbox outbox;
    replica_->on(StampPut{.request = ++request_,
                          .place = StoreFixture::place("k"),
                          .key = "k",
                          .value = bytes,
                          .context = std::move(seen),
                          .deadline = kDeadline},
                 kNow, kWallNow, outbox);
    carry(outbox);
  }
  void erase(WallMicros wall_now = kWallNow) {
    MessageOutbox outbox;
    const Place place = StoreFixture::place("k");
    replica_->on(EraseRecord{place, place.storage_key}, kNow, wall_now, outbox);
    carry(outbox);
  }
  void ask(ReplicaGet get) {
    get.request = ++request_;
    get.key = "k";
    get.deadline = kDeadline;
    MessageOutbox outbox;
    replica_->on(kOther, std::move(get), kNow, outbox);
    carry(outbox);
  }
  void scan(bool with_floors = false) {
    MessageOutbox outbox;
    replica_->on(kOther,
                 ReplicaScan{.request = ++request_,
                             .partitions = {StoreFixture::place("k").partition},
                             .records_max = 100,
                             .with_floors = with_floors,
                             .deadline = kDeadline},
                 kNow, outbox);
    carry(outbox);
  }

  void carry(MessageOutbox& outbox) {
    for (MessageOutbox::Envelope& envelope : outbox.envelopes()) {
      if (auto* read = std::get_if<ReadRecord>(&envelope.message)) {
        reads_.push_back(std::move(*read));
      } else if (auto* read = std::get_if<ReadSlice>(&envelope.message)) {
        slices_.push_back(std::move(*read));
      } else {
        (envelope.after_records ? waiting_ : sent_).push_back(std::move(envelope.message));
      }
    }
  }
  void read_disk() {
    for (const ReadRecord& read : std::exchange(reads_, {})) {
      MessageOutbox outbox;
      replica_->on(read_from(*fixture_.engine, read), kNow, kWallNow, outbox);
      carry(outbox);
    }
    for (const ReadSlice& read : std::exchange(slices_, {})) answer(read_from(*fixture_.engine, read));
  }
  void answer(SliceRead read) {
    MessageOutbox outbox;
    replica_->on(std::move(read), outbox);
    carry(outbox);
  }
  void begin_commit() { commit_ = fixture_.store->take(); }
  void finish_commit() {
    ASSERT_TRUE(fixture_.engine->write(*commit_.batch, commit_.sync).ok());
    fixture_.store->committed(commit_);
    for (Message& message : std::exchange(waiting_, {})) sent_.push_back(std::move(message));
    MessageOutbox outbox;
    replica_->on_committed(commit_.number, kNow, kWallNow, outbox);
    carry(outbox);
  }
  void commit() {
    while (fixture_.store->has_staged()) {
      begin_commit();
      finish_commit();
    }
  }

  // The last of them; nothing: none has been sent.
  template <class Body>
  const Body* last() const {
    const Body* found = nullptr;
    for (const Message& message : sent_) {
      if (const auto* body = std::get_if<Body>(&message)) found = body;
    }
    return found;
  }
  bool acknowledged() const {
    const auto* ack = last<ReplicaPutAck>();
    return ack != nullptr && ack->request == request_ && ack->status.ok();
  }
  const ReplicaGetReply& reply() const { return *last<ReplicaGetReply>(); }
  Record stored() { return fixture_.read("k"); }
  bool is_absent() { return stored() == Record(); }
  bool is_in_index() { return !transient_slice(*fixture_.engine, {})->entries.empty(); }

  StoreFixture fixture_;
  Ring ring_{PeerFixture::one_member()};
  HintStore hints_{*fixture_.engine, *fixture_.store, RecoveredHints()};
  Wholeness wholeness_{kTestPartitions};
  std::unique_ptr<Replica> replica_;
  RequestNumber request_ = 0;
  std::vector<Message> sent_;
  std::vector<Message> waiting_;
  std::vector<ReadRecord> reads_;
  std::vector<ReadSlice> slices_;
  Commit commit_;
};

// ---- Arrivals

TEST_F(ReplicaFloor, AVersionUnderItThatIsNotHeldIsSupersededAndWritesNothing) {
  raise_floor({{kB, 5}});
  commit();
  merge(record_of(value({kB, 5}, "old")));
  EXPECT_TRUE(acknowledged());
  EXPECT_FALSE(fixture_.store->has_staged());
  EXPECT_TRUE(is_absent());
}

TEST_F(ReplicaFloor, AVersionAboveItIsTaken) {
  raise_floor({{kB, 5}});
  merge(record_of(value({kB, 6}, "new")));
  commit();
  EXPECT_EQ(sample::values_of(stored()), Values{"new"});
  EXPECT_EQ(stored().context, context({{kB, 6}})) << "the floor isn't carried on";
}

TEST_F(ReplicaFloor, OfSeveralThatArriveOnlyThoseUnderItFall) {
  raise_floor({{kB, 5}});
  Record both = record_of(value({kB, 4}, "old"));
  both.versions.push_back(value({kC, 1}, "new"));
  both.context.vector.raise(kC, 1);
  merge(both);
  commit();
  EXPECT_EQ(sample::values_of(stored()), Values{"new"});
  EXPECT_TRUE(stored().context.covers({kB, 4}));
}

TEST_F(ReplicaFloor, AVersionUnderItThatIsHeldStays) {
  merge(record_of(value({kB, 4}, "v")));
  raise_floor({{kB, 5}});
  commit();
  merge(record_of(value({kC, 1}, "w")));
  commit();
  EXPECT_EQ(sample::values_of(stored()), (Values{"v", "w"}));
  merge(record_of(value({kB, 4}, "v")));
  EXPECT_TRUE(acknowledged());
  EXPECT_FALSE(fixture_.store->has_staged());
}

TEST_F(ReplicaFloor, OfAClosedLifeAllIsUnderIt) {
  fixture_.store->close_lives({kB});
  merge(record_of(value({kB, 1'000'000}, "late")));
  commit();
  EXPECT_TRUE(acknowledged());
  EXPECT_TRUE(is_absent());
}

// Row B45: whatever of a context the own floor covers is no news.
TEST_F(ReplicaFloor, AContextThatItCoversIsNoReasonToWriteEqualContentAgain) {
  merge(record_of(value({kB, 1}, "v")));
  commit();
  const Record wider = record_of(value({kB, 1}, "v"), {{kC, 7}});
  raise_floor({{kC, 7}});
  commit();
  merge(wider);
  EXPECT_TRUE(acknowledged());
  EXPECT_FALSE(fixture_.store->has_staged());
  merge(record_of(value({kB, 1}, "v"), {{kC, 8}}));
  commit();
  EXPECT_TRUE(stored().context.covers({kC, 8})) << "that is news";
}

// A put that was acknowledged since a floor says that it is superseded counts as held.
TEST_F(ReplicaFloor, IsOnDiskBeforeAnAcknowledgementStandsOnIt) {
  for (const bool sync : {true, false}) {
    const uint64_t counter = sync ? 5 : 7;
    raise_floor({{kB, counter}});
    begin_commit();
    merge(record_of(value({kB, counter}, "old")), nullptr, sync);
    EXPECT_FALSE(acknowledged()) << sync;
    merge(bare({{kB, counter}}), nullptr, sync);
    EXPECT_FALSE(acknowledged()) << sync;
    finish_commit();
    commit();
    EXPECT_TRUE(acknowledged()) << sync;
  }
}

// ---- Records without versions

TEST_F(ReplicaFloor, ABareContextDropsWhatItCoversAndIsRemembered) {
  merge(record_of(value({kB, 1}, "v")));
  merge(bare({{kB, 1}}));
  commit();
  EXPECT_TRUE(acknowledged());
  EXPECT_TRUE(stored().versions.empty());
  EXPECT_TRUE(stored().context.covers({kB, 1}));
  EXPECT_EQ(fixture_.store->leaves().at(StoreFixture::place("k").leaf).keys, 0U);
  EXPECT_TRUE(is_in_index());
  merge(record_of(value({kB, 1}, "v")));
  commit();
  EXPECT_TRUE(stored().versions.empty()) << "nothing brings it back";
}

TEST_F(ReplicaFloor, ABareContextLeavesWhatItDoesNotCover) {
  merge(record_of(value({kB, 1}, "b")));
  merge(record_of(value({kC, 1}, "c")));
  merge(bare({{kB, 1}}));
  commit();
  EXPECT_EQ(sample::values_of(stored()), Values{"c"});
}

TEST_F(ReplicaFloor, ABareContextOfAnAbsentKeyIsKeptUnlessTheFloorSaysSo) {
  raise_floor({{kB, 1}});
  merge(bare({{kB, 1}}));
  commit();
  EXPECT_TRUE(is_absent());
  merge(bare({{kB, 2}}));
  commit();
  EXPECT_TRUE(stored().context.covers({kB, 2}));
}

TEST_F(ReplicaFloor, WhatAMergeLeavesUnderTheFloorIsErasedAtOnce) {
  merge(record_of(value({kB, 1}, "v")));
  commit();
  raise_floor({{kB, 1}, {kC, 1}});
  merge(bare({{kB, 1}, {kC, 1}}));
  commit();
  EXPECT_TRUE(is_absent());
  EXPECT_FALSE(is_in_index());
  EXPECT_TRUE(fixture_.store->erased(StoreFixture::place("k").partition).covers({kC, 1}));
}

// ---- The floor of a round's source

TEST_F(ReplicaFloor, OfASourceDropsWhatTheSourceDoesNotHold) {
  merge(record_of(value({kB, 1}, "old")));
  commit();
  merge(record_of(value({kC, 1}, "new")), std::make_shared<const Floor>(context({{kB, 3}, {kC, 100}})));
  commit();
  EXPECT_EQ(sample::values_of(stored()), Values{"new"});
  EXPECT_EQ(stored().context.vector, context({{kB, 1}, {kC, 1}}).vector) << "and no more of it is kept";
}

TEST_F(ReplicaFloor, OfASourceLeavesWhatItHasNotSeen) {
  merge(record_of(value({kB, 4}, "own")));
  commit();
  merge(record_of(value({kC, 1}, "new")), std::make_shared<const Floor>(context({{kB, 3}, {kC, 1}})));
  commit();
  EXPECT_EQ(sample::values_of(stored()), (Values{"own", "new"}));
}

TEST_F(ReplicaFloor, OfASourceThatChangesNothingWritesNothing) {
  merge(record_of(value({kB, 4}, "v")));
  commit();
  merge(record_of(value({kB, 4}, "v")), std::make_shared<const Floor>(context({{kB, 9}, {kC, 9}})));
  EXPECT_TRUE(acknowledged());
  EXPECT_FALSE(fixture_.store->has_staged());
}

// ---- Stamps

TEST_F(ReplicaFloor, AStampCoversAllThatTheFloorKnows) {
  raise_floor({{kB, 5}, {kC, 5}});
  stamp("v");
  commit();
  EXPECT_TRUE(stored().context.covers({kB, 5}));
  EXPECT_TRUE(stored().context.covers({kC, 5})) << "another may hold it still";
  merge(record_of(value({kB, 3}, "old")));
  commit();
  EXPECT_EQ(sample::values_of(stored()), Values{"v"});
}

TEST_F(ReplicaFloor, ARecordThatArrivesForAnAbsentKeyTakesUpWhatWasErased) {
  raise_floor({{kB, 5}}, {{kB, 5}});
  merge(record_of(value({kC, 1}, "v")));
  commit();
  EXPECT_EQ(sample::values_of(stored()), Values{"v"});
  EXPECT_TRUE(stored().context.covers({kB, 5}));
}

// ---- What may go

TEST_F(ReplicaFloor, ATombstoneGoesOnceItsWholeContextIsUnderIt) {
  merge(record_of(tombstone({kB, 2}), {{kC, 3}}));
  commit();
  for (const auto& [floor, goes] : {std::pair<std::vector<Dot>, bool>{{{kB, 2}}, false}, {{{kC, 3}}, true}}) {
    raise_floor(floor);
    erase();
    commit();
    EXPECT_EQ(is_absent(), goes);
  }
  EXPECT_FALSE(is_in_index());
  EXPECT_EQ(fixture_.store->erased(StoreFixture::place("k").partition).vector,
            context({{kB, 2}, {kC, 3}}).vector);
  merge(record_of(value({kC, 3}, "old")));
  commit();
  EXPECT_TRUE(is_absent());
}

TEST_F(ReplicaFloor, AValueThatStaysIsNeverErased) {
  merge(record_of(value({kB, 1}, "v")));
  raise_floor({{kB, 1}});
  commit();
  erase(UINT64_MAX / 2);
  read_disk();
  commit();
  EXPECT_EQ(sample::values_of(stored()), Values{"v"});
}

TEST_F(ReplicaFloor, AnExpiredValueGoesOnceTheClocksOfAllSaySo) {
  Version version = value({kB, 1}, "v");
  version.expires_at_ms = 500'000;
  merge(record_of(version));
  raise_floor({{kB, 1}});
  commit();
  erase(504'999'000);
  commit();
  EXPECT_FALSE(is_absent());
  erase(505'000'000);
  commit();
  EXPECT_TRUE(is_absent());
}

// It is looked at again when its turn comes.
TEST_F(ReplicaFloor, AKeyThatWasWrittenMeanwhileStays) {
  fixture_.disk.set_blocking_share(1, 1);
  merge(record_of(tombstone({kB, 1})));
  raise_floor({{kB, 1}});
  merge(record_of(value({kB, 2}, "new"), {{kB, 1}}));
  erase();
  EXPECT_EQ(replica_->waiting(), 2U) << "the key's latch, and its read";
  read_disk();
  commit();
  read_disk();
  EXPECT_EQ(sample::values_of(stored()), Values{"new"});
  EXPECT_EQ(replica_->waiting(), 0U);
  EXPECT_EQ(replica_->latched_bytes(), 0U);
}

TEST_F(ReplicaFloor, AnAbsentKeyIsErasedForNothing) {
  raise_floor({{kB, 1}}, {{kB, 1}});
  commit();
  erase();
  EXPECT_FALSE(fixture_.store->has_staged());
}

// ---- What others are told

TEST_F(ReplicaFloor, IsToldWithTheRecordOnceAllThatItClaimsIsOnDisk) {
  stamp("v");
  raise_floor({{kC, 9}});
  ask({.with_floor = true});
  EXPECT_EQ(last<ReplicaGetReply>(), nullptr);
  commit();
  ASSERT_NE(last<ReplicaGetReply>(), nullptr);
  EXPECT_TRUE(reply().with_floor);
  EXPECT_TRUE(reply().floor.covers({kC, 9}));
  EXPECT_TRUE(reply().floor.covers({fixture_.store->actor(), 1}));
  EXPECT_EQ(sample::values_of(reply().record), Values{"v"});
  EXPECT_EQ(reply().record.context.vector.counter_of(kC), 0U) << "beside the context, not in it";
}

TEST_F(ReplicaFloor, IsNotToldUnlessItIsAskedFor) {
  raise_floor({{kC, 9}});
  commit();
  ask({});
  EXPECT_FALSE(reply().with_floor);
  EXPECT_TRUE(reply().floor.empty());
}

TEST_F(ReplicaFloor, ClosedLivesAreToldBesideIt) {
  fixture_.store->close_lives({kB});
  commit();
  ask({.with_floor = true});
  EXPECT_EQ(reply().closed, std::vector<Actor>{kB});
}

// The floor that was noted doesn't cover it yet: who held the value that was deleted would win.
TEST_F(ReplicaFloor, ARecordThatIsErasedBetweenItsFloorAndItsReadIsRemembered) {
  merge(record_of(tombstone({kB, 2}), {{kC, 3}}));
  commit();
  stamp("of another batch", context({{kC, 1}}));  // keeps the answer waiting
  fixture_.put("other", "x");
  ask({.with_floor = true});
  ASSERT_EQ(last<ReplicaGetReply>(), nullptr);
  merge(bare({{kB, 2}, {kC, 3}, {fixture_.store->actor(), 1}}));
  raise_floor({{kB, 2}, {kC, 3}});
  erase();
  commit();
  ASSERT_NE(last<ReplicaGetReply>(), nullptr);
  ASSERT_TRUE(is_absent());
  EXPECT_FALSE(reply().floor.covers({kC, 3}));
  EXPECT_TRUE(reply().record.context.covers({kC, 3}));
  EXPECT_TRUE(reply().record.context.covers({kB, 2}));

  ask({.with_floor = true});
  EXPECT_TRUE(reply().record.context.vector.empty()) << "its floor says so now";
}

TEST_F(ReplicaFloor, AScanThatAsksForFloorsIsToldThemOnceWhatTheyClaimIsOnDisk) {
  raise_floor({{kB, 5}});
  fixture_.put("other", "x");
  scan(true);
  EXPECT_TRUE(slices_.empty()) << "it waits for what is staged";
  commit();
  ASSERT_EQ(slices_.size(), 1U);
  read_disk();
  ASSERT_EQ(last<ReplicaScanReply>()->floors.size(), 1U);
  EXPECT_TRUE(last<ReplicaScanReply>()->floors[0].floor.covers({kB, 5}));
}

TEST_F(ReplicaFloor, AScanThatAsksForNoFloorWaitsForNothing) {
  raise_floor({{kB, 5}}, {{kB, 5}});
  fixture_.put("other", "x");
  scan();
  EXPECT_EQ(slices_.size(), 1U);
  read_disk();
  EXPECT_TRUE(last<ReplicaScanReply>()->floors.empty());
}

TEST_F(ReplicaFloor, ARecordThatIsErasedWhileAScanReadsIsRememberedThere) {
  merge(record_of(tombstone({kB, 2}), {{kC, 3}}));
  commit();
  scan(true);
  raise_floor({{kB, 2}, {kC, 3}});
  erase();
  commit();
  read_disk();
  const auto* reply = last<ReplicaScanReply>();
  EXPECT_FALSE(reply->floors.at(0).floor.covers({kC, 3}));
  ASSERT_EQ(reply->entries.size(), 1U);
  EXPECT_EQ(reply->entries[0].storage_key, StoreFixture::place("k").storage_key);
  const Record remembered = *decode_record(*reply->entries[0].record);
  EXPECT_TRUE(remembered.versions.empty());
  EXPECT_TRUE(remembered.context.covers({kC, 3}));
}

TEST_F(ReplicaFloor, AScanThatHasReadTheRecordBeforeItWentTellsItOnce) {
  merge(record_of(tombstone({kB, 2})));
  commit();
  scan(true);
  SliceRead read = read_from(*fixture_.engine, slices_.at(0));
  raise_floor({{kB, 2}});
  erase();
  commit();
  answer(std::move(read));
  ASSERT_EQ(last<ReplicaScanReply>()->entries.size(), 1U);
  EXPECT_EQ(decode_record(*last<ReplicaScanReply>()->entries[0].record)->versions.size(), 1U);
}

// ---- Who may ask

TEST_F(ReplicaFloor, KeysOfOthersAreForbiddenAndNamed) {
  RingDescription description = PeerFixture::one_member();
  description.members.push_back({.node = kOther, .disk = DiskId{2}, .name = "n2", .rack = "b"});
  description.owners.assign(kTestPartitions, 1);
  const Ring foreign(std::move(description));
  merge(record_of(value({kB, 1}, "v")));
  commit();
  replica_->set_ring(foreign);
  const auto is_refusal = [](const Status& status) {
    return status.code() == StatusCode::kForbidden && status.message().find('k') != std::string::npos;
  };
  merge(record_of(value({kB, 2}, "w"), {{kB, 1}}));
  EXPECT_TRUE(is_refusal(last<ReplicaPutAck>()->status));
  stamp("w");
  EXPECT_TRUE(is_refusal(last<StampPutAck>()->status));
  ask({});
  EXPECT_TRUE(is_refusal(reply().status));
  ask({.digest = true});
  EXPECT_TRUE(is_refusal(reply().status));
  EXPECT_FALSE(fixture_.store->has_staged());
  ask({.inspect = true});
  EXPECT_EQ(sample::values_of(reply().record), Values{"v"}) << "people may look";
}

// ---- Inspections

TEST_F(ReplicaFloor, AnInspectionTellsWhatATombstoneWaitsFor) {
  merge(record_of(tombstone({kB, 2}), {{kC, 3}}));
  raise_floor({{kB, 2}});
  commit();
  ask({.inspect = true});
  EXPECT_EQ(reply().blocked_by, (std::vector<Dot>{{kC, 3}}));
  raise_floor({{kC, 3}});
  commit();
  ask({.inspect = true});
  EXPECT_TRUE(reply().blocked_by.empty());
}

TEST_F(ReplicaFloor, AnInspectionOfAValueThatStaysIsBlockedByNothing) {
  merge(record_of(value({kB, 2}, "v")));
  commit();
  ask({.inspect = true});
  EXPECT_TRUE(reply().blocked_by.empty());
}

TEST_F(ReplicaFloor, AnInspectionShowsHintsFromTheDiskToo) {
  const std::string& storage_key = StoreFixture::place("k").storage_key;
  for (const uint64_t intended : {7, 8}) {
    const Record hint = record_of(value({kB, intended}, std::to_string(intended)));
    hints_.stage(NodeId{intended}, storage_key, *bytes(hint), "");
  }
  ask({.inspect = true});
  EXPECT_EQ(reply().hints.size(), 2U) << "those that are staged";
  commit();
  hints_.committed(commit_.number);
  fixture_.disk.set_blocking_share(1, 1);
  ask({.inspect = true});
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(reads_.size(), 1U) << "one after the other, then the record";
    read_disk();
  }
  ASSERT_EQ(reply().request, request_);
  ASSERT_EQ(reply().hints.size(), 2U);
  std::map<NodeId, Values> shown;
  for (const auto& hint : reply().hints) shown[hint.intended] = sample::values_of(hint.record);
  EXPECT_EQ(shown, (std::map<NodeId, Values>{{NodeId{7}, {"7"}}, {NodeId{8}, {"8"}}}));
}

}  // namespace
}  // namespace ringkv
