// One replica on a store whose floors the test raises, with a disk that commits and reads when it is told.
#pragma once

#include <gtest/gtest.h>

#include "replication/replica.h"
#include "tests/replication/disk_reads.h"
#include "tests/replication/peer_fixture.h"
#include "tests/storage/sample_records.h"
#include "tests/storage/store_fixture.h"

namespace ringkv {

inline constexpr NodeId kSelf{1};
inline constexpr NodeId kOther{2};
inline constexpr Time kNow{std::chrono::seconds(10)};
inline constexpr Time kDeadline{std::chrono::seconds(20)};
inline constexpr WallMicros kWallNow = 1'000'000'000;

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

  static Record bare(const std::vector<Dot>& seen) { return {sample::context(seen), {}}; }

  // In the partition of "k", up to here.
  void raise_floor(const std::vector<Dot>& up_to, const std::vector<Dot>& erased = {}) {
    fixture_.store->raise_floor(StoreFixture::place("k").partition, sample::context(up_to),
                                erased.empty() ? CausalContext() : sample::context(erased));
    fixture_.store->require_sync();
  }

  void merge(const Record& record, std::shared_ptr<const Floor> floor = nullptr, bool sync = true) {
    MessageOutbox outbox;
    replica_->on(kOther,
                 ReplicaPut{.request = ++request_,
                            .key = "k",
                            .record = StoreFixture::encoded("k", record),
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

}  // namespace ringkv
