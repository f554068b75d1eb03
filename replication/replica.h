// Serves one node's copies: the only user of its RecordStore.
//
// A key changes in two ways, a stamp and a merge, and both are serial per key: a latch covers read, decision
// and hand-over to the commit thread, so that each sees the record with all changes before it, committed or
// not. Reads see committed state only: one waits while its key is being written (the engine shows a write
// before it is synced), once. What may have to wait for the disk goes out as ReadRecord or ReadSlice and
// comes back.
//
// Of what comes from another node the place is computed here, by this node's ring.
//
// A core: no I/O, no clock of its own. Loop thread.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "replication/arrival_decision.h"
#include "replication/messages.h"
#include "replication/ring.h"
#include "replication/stamp_rules.h"
#include "replication/wholeness.h"
#include "storage/hint_store.h"
#include "storage/record_store.h"

namespace ringkv {

class Replica {
 public:
  struct Settings {
    NodeId self;
    Placement placement;
    size_t held_bytes_max = size_t{64}
                            << 20;  // of changes that wait, and of what the store holds; more: OVERLOADED
    size_t reads_max = 20'000;      // that wait for the disk at once; more: OVERLOADED
    std::string damage;             // why it isn't whole, where files were damaged: named where it refuses
  };

  // All are borrowed and outlive the replica; the ring until the next set_ring.
  Replica(const Settings& settings, const Ring& ring, RecordStore& store, const HintStore& hints,
          const Wholeness& wholeness)
      : settings_(settings), ring_(&ring), store_(store), hints_(hints), wholeness_(wholeness) {}

  // What has come by the ring before, and isn't staged yet, is refused with STALE_EPOCH: rounds that begin
  // now don't see it, and no coordinator may count on it by the lists of that ring.
  void set_ring(const Ring& ring, MessageOutbox& outbox);

  // While the disk is nearly full values from puts and read repairs are refused with this reason; deletes are
  // taken, and whatever else converges.
  void refuse_puts(std::string reason) { puts_refused_ = std::move(reason); }
  void take_puts() { puts_refused_.clear(); }

  void on(StampPut put, Time now, WallMicros wall_now, MessageOutbox& outbox);
  void on(NodeId from, ReplicaPut put, Time now, WallMicros wall_now, MessageOutbox& outbox);
  void on(NodeId from, ReplicaGet get, Time now, MessageOutbox& outbox);
  void on(NodeId from, ReplicaScan scan, Time now, MessageOutbox& outbox);
  void on(EraseRecord erase, Time now, WallMicros wall_now, MessageOutbox& outbox);
  void on(RecordRead read, Time now, WallMicros wall_now, MessageOutbox& outbox);
  void on(SliceRead read, MessageOutbox& outbox);

  // The batch and all before it are on disk.
  void on_committed(BatchNumber batch, Time now, WallMicros wall_now, MessageOutbox& outbox);

  size_t waiting() const {
    return latches_.size() + reads_.size() + gets_waiting_.size() + scans_waiting_.size() +
           answers_waiting_.size();
  }
  struct Statistics {
    uint64_t arrivals_under_floor = 0;  // records with a version that isn't held, since the floor covers it
    uint64_t refused_by_ring = 0;       // changes that waited for their key when another ring came
  };
  const Statistics& statistics() const { return statistics_; }
  size_t latched_bytes() const { return latched_bytes_; }  // of changes that wait, expired ones too

 private:
  struct Merge {
    NodeId from;
    ReplicaPut put;
    RecordOutline arriving;
    bool as_it_came = true;    // its context is the one in its bytes
    bool onto_bare = false;    // of the key nothing is held here but a context
    bool under_floor = false;  // some of it is known here by the floor alone
  };
  using Change = std::variant<StampPut, Merge, EraseRecord>;
  // Changes that wait for the first of them, which waits for the disk or for a commit.
  struct Latch {
    std::deque<Change> changes;
  };
  // What a ReadRecord is for: the first change of a latch, or a get.
  struct LatchRead {
    KeyIdentity key;
  };
  struct Get {
    NodeId from;
    ReplicaGet get;
    // Noted before the record is read, which waits for all that was staged by then: the floor claims that
    // too.
    VersionVector floor;
    bool floor_noted = false;
    // Of an inspection: hints that only the disk knows, the last of them being read first.
    std::vector<NodeId> hints_unread;
    std::vector<ReplicaGetReply::HeldHint> hints;
  };
  struct Scan {
    NodeId from;
    RequestNumber request = 0;
    std::vector<Partition> partitions;  // in order
    std::string after;
    bool with_floors = false;
    std::vector<ReplicaScanReply::PartitionFloor> floors;   // noted before the walk
    std::vector<Actor> closed;                              // then
    std::map<std::string, CausalContext> erased_meanwhile;  // by storage key: what was remembered of it
  };
  // Gets of one key whose floors were noted.
  struct NotedGets {
    size_t count = 0;
    CausalContext erased_meanwhile;
  };
  // A get that waits for a commit; with the bytes that it will answer where they were read already.
  struct WaitingGet {
    Get get;
    std::optional<std::string> bytes;
  };
  struct WaitingAnswer {
    NodeId to;
    Message message;
  };

  static const Place& place_of_change(const Change& change);
  static Time deadline_of(const Change& change);
  static size_t bytes_of(const Change& change);
  static bool needs_values(const StampPut& put, const RecordHead& newest);
  static bool needs_values(const Merge& merge, const RecordHead& newest);
  static bool needs_values(const EraseRecord&, const RecordHead& newest) {
    return newest.content_bytes > 0;  // values that may have expired
  }

  void take(Change change, Time now, WallMicros wall_now, MessageOutbox& outbox);
  enum class Step : uint8_t { kDone, kWaits };
  // What is known of the key beyond the store's memory: bytes just read from disk ("" absent), or nothing.
  Step try_change(Change& change, const std::string* bytes, Time now, WallMicros wall_now,
                  MessageOutbox& outbox);
  Step wait_for_read(const Change& change, MessageOutbox& outbox);
  void read(ReadRecord what, std::variant<LatchRead, Get> purpose, MessageOutbox& outbox);
  void run_latch(const KeyIdentity& key, const std::string* bytes, Time now, WallMicros wall_now,
                 MessageOutbox& outbox);

  // `held` is given where needs_values() said so.
  void apply(StampPut& put, const RecordHead& newest, const Record* held, WallMicros wall_now,
             MessageOutbox& outbox);
  void apply(Merge& merge, const RecordHead& newest, const Record* held, MessageOutbox& outbox);
  void apply(const EraseRecord& erase, const RecordHead& newest, const Record* held, WallMicros wall_now,
             MessageOutbox& outbox);
  void stage(const Merge& merge, EncodedRecord record, const RecordHead& newest, MessageOutbox& outbox);
  void erase(const Place& place, const RecordHead& newest, const CausalContext& context);
  // A floor on either side speaks of this key too: contexts are raised by what it changes here.
  void apply_floors(Merge& merge, RecordHead& newest);
  bool tells_nothing(Merge& merge, const RecordHead& newest) const;
  bool is_under_floor(Partition partition, const RecordHead& head) const;
  void acknowledge_unchanged(const Merge& merge, MessageOutbox& outbox);
  void refuse(const StampPut& put, Status status, MessageOutbox& outbox);
  void refuse(const Merge& merge, Status status, MessageOutbox& outbox);
  void refuse(const EraseRecord&, const Status&, MessageOutbox&) {}
  void refuse_change(const Change& change, const Status& status, MessageOutbox& outbox);
  Status check_space(const Merge& merge, const RecordHead& newest) const;

  void find_hints(Get& waiting) const;
  void begin(Get waiting, MessageOutbox& outbox);
  void on_hint_read(Get waiting, const RecordRead& read, MessageOutbox& outbox);
  void answer_or_read(Get waiting, MessageOutbox& outbox);
  bool answered_from_memory(const Get& get, MessageOutbox& outbox);
  Status not_whole() const;
  void answer(const Get& get, const Status& status, std::string_view bytes, MessageOutbox& outbox);
  void answer(NodeId to, BatchNumber after, Message message, MessageOutbox& outbox);

  Status check_owned(const Place& place, std::string_view key) const;
  Status check_still_routed(const Change& change) const;
  void inspect(const Get& get, ReplicaGetReply& reply) const;
  void note_floors(Scan& scan) const;
  void add_floor(const Get& get, ReplicaGetReply& reply);

  const Settings settings_;
  const Ring* ring_;
  RecordStore& store_;
  const HintStore& hints_;
  const Wholeness& wholeness_;
  std::string puts_refused_;

  std::unordered_map<KeyIdentity, Latch> latches_;
  size_t latched_bytes_ = 0;
  Statistics statistics_;
  std::unordered_map<uint64_t, std::variant<LatchRead, Get>> reads_;  // by ticket
  std::unordered_map<uint64_t, Scan> scans_;                          // by ticket
  std::unordered_map<KeyIdentity, NotedGets> noted_;
  uint64_t last_ticket_ = 0;
  std::multimap<BatchNumber, WaitingGet> gets_waiting_;
  std::multimap<BatchNumber, ReadSlice> scans_waiting_;
  std::multimap<BatchNumber, WaitingAnswer> answers_waiting_;
  std::multimap<BatchNumber, KeyIdentity> latches_waiting_;
};

}  // namespace ringkv
