// Serves one node's copies: the only user of its RecordStore.
//
// Stamps are serial per key: a latch covers read, decision and hand-over to the commit thread, so that each
// stamp sees the record with all stamps before it, committed or not. Gets see committed state only: one waits
// while its key is being written (the engine shows a write before it is synced), once. What may have to wait
// for the disk goes out as ReadRecord and comes back as on(RecordRead).
//
// A core: no I/O, no clock of its own. Loop thread.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <unordered_map>
#include <vector>

#include "replication/messages.h"
#include "storage/record_store.h"

namespace ringkv {

inline constexpr size_t kSiblingsMax = 100;
inline constexpr uint64_t kRecordBytesMax = uint64_t{64} << 20;

class Replica {
 public:
  Replica(NodeId self, RecordStore& store) : self_(self), store_(store) {}

  void on(StampPut put, Time now, WallMicros wall_now, MessageOutbox& outbox);
  void on(ReplicaGet get, Time now, MessageOutbox& outbox);
  void on(RecordRead read, Time now, WallMicros wall_now, MessageOutbox& outbox);

  // The batch and all before it are on disk.
  void on_committed(BatchNumber batch, Time now, WallMicros wall_now, MessageOutbox& outbox);

  size_t waiting() const { return latches_.size() + reads_.size() + gets_waiting_.size(); }
  size_t latched_bytes() const { return latched_bytes_; }  // of stamps that wait, expired ones too

 private:
  // Stamps that wait for the first of them, which waits for the disk or for a commit.
  struct Latch {
    std::deque<StampPut> stamps;
  };
  // What a ReadRecord is for: the first stamp of a latch, or a get.
  struct StampRead {
    KeyIdentity key;
  };
  // A get that waits for a commit; with the bytes that it will answer where they were read already.
  struct WaitingGet {
    ReplicaGet get;
    std::optional<std::string> bytes;
  };
  using ReadPurpose = std::variant<StampRead, ReplicaGet>;

  enum class Step : uint8_t { kDone, kWaits };
  // What is known of the key beyond the store's memory: bytes just read from disk ("" absent), or nothing.
  Step try_stamp(StampPut& put, const std::string* bytes, Time now, WallMicros wall_now,
                 MessageOutbox& outbox);
  Step wait_for_read(const Place& place, Time deadline, ReadPurpose purpose, MessageOutbox& outbox);
  void stamp(StampPut& put, const RecordHead& head, const Record* record, WallMicros wall_now,
             MessageOutbox& outbox);
  void run_latch(const KeyIdentity& key, const std::string* bytes, Time now, WallMicros wall_now,
                 MessageOutbox& outbox);
  void answer_get(const ReplicaGet& get, const Status& status, std::string_view bytes, MessageOutbox& outbox);
  void refuse(const StampPut& put, Status status, MessageOutbox& outbox);

  const NodeId self_;
  RecordStore& store_;
  std::unordered_map<KeyIdentity, Latch> latches_;
  size_t latched_bytes_ = 0;
  std::unordered_map<uint64_t, ReadPurpose> reads_;  // by ticket
  uint64_t last_ticket_ = 0;
  std::multimap<BatchNumber, WaitingGet> gets_waiting_;
  std::multimap<BatchNumber, KeyIdentity> latches_waiting_;
};

}  // namespace ringkv
