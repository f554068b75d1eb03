// One node's records: read the newest or the committed state of a key, stage a new one, hand batches to the
// disk.
//
// Every change is staged into the open batch: the record, its leaf (as part of the batch's one journal entry)
// and this life's counter, so that after kill -9 leaves and floors are exact without reading data. While one
// batch is being committed elsewhere the next is gathered; groups form by themselves. What is staged or under
// way is pinned in memory, so that a stamp always sees every earlier one (newest), while gets see only what
// is committed.
//
// Loop thread. What must wait for the disk is read from the engine by a worker.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/outbox.h"
#include "base/token.h"
#include "storage/engine.h"
#include "storage/floor_table.h"
#include "storage/leaf_journal.h"
#include "storage/leaf_table.h"
#include "storage/place.h"
#include "storage/record_codec.h"
#include "storage/record_hash.h"
#include "storage/recovery.h"
#include "storage/version_cache.h"

namespace ringkv {

// A batch on its way to the disk.
struct Commit {
  BatchNumber number = 0;
  bool sync = false;
  std::unique_ptr<Batch> batch;
  std::vector<KeyIdentity> keys;
  size_t bytes = 0;
};

class RecordStore {
 public:
  struct Settings {
    std::string secret;        // of the ring description
    uint64_t cache_bytes = 0;  // for heads of records
  };

  RecordStore(Engine& engine, RecoveredStore recovered, const Settings& settings);

  // The newest head of a key, staged ones included; one of an absent key is empty. Nothing: only the disk
  // knows.
  Result<std::optional<RecordHead>> newest_head(const Place& place);

  // The head of the committed record, where memory knows it. Nothing: it must be read.
  std::optional<RecordHead> committed_head(const Place& place);

  // The bytes of a key's record as the engine shows them: committed, unless the key is being written.
  Result<Lookup> read_cached(const Place& place, std::string& bytes) const;

  // The batch that must be committed before the key's committed state is its newest; 0: it is.
  BatchNumber pending(const Place& place) const;

  // The batch under way that holds the key, or 0. The engine may show what is being written before it is
  // synced.
  BatchNumber being_written(const Place& place) const;

  // The next dot of this life. Each is used once.
  Dot next_dot() { return {actor_, ++counter_}; }
  const Actor& actor() const { return actor_; }
  uint64_t counter() const { return counter_; }  // of the last dot

  // All dots up to here in this partition have been merged here, staged ones included: of this life its
  // present counter, of its earlier ones their last, of others what rounds have raised. Closed lives aren't
  // listed.
  Floor floor(Partition partition) const;
  bool floor_covers(Partition partition, const Dot& dot) const;  // closed lives too
  // Those of which nothing is lacking there.
  const std::vector<Actor>& closed(Partition partition) const { return floors_.closed(partition); }
  // The part of an absent record's context that it must not forget (storage/floor_table.h).
  const CausalContext& erased(Partition partition) const { return floors_.erased(partition); }
  // This node's own lives alone: what is merged here, whatever the partition; but not in limited ones.
  Floor own_lives() const;
  const FloorTable& floors() const { return floors_; }

  // Behind all that is staged, in the same order on disk. Raises highest_time() too. `closed`: of which
  // nothing is lacking there, where the floor comes from; meant for a limited partition.
  void raise_floor(Partition partition, const Floor& floor, const CausalContext& erased,
                   const std::vector<Actor>& closed = {});
  void raise_floors(const std::vector<Partition>& partitions, const Floor& floor);  // in order
  void close_lives(const std::vector<Actor>& ended);
  void reset_floor(Partition partition);

  // All of the partition goes: records, digests and floor; it is limited from now on (storage/floor_table.h).
  // Nobody may be reading or writing there. `own_lives`: no later than the node has last stamped there.
  void drop(Partition partition, const VersionVector& own_lives);
  // Until that is committed what was there can still be read, and nothing may be written there.
  bool is_dropping(Partition partition) const { return dropping_.contains(partition); }

  // Everything staged so far is on disk (or in the log) once this batch is committed; 0: it is already.
  BatchNumber last_staged() const;

  // No earlier than the hybrid time of all that was ever stamped or merged here.
  HybridTime highest_time() const { return highest_time_; }

  // Puts back what stage() left out of a context. Not the whole floor: that covers what is staged and not
  // committed yet, and who got it with a committed record would replace siblings that nobody has seen.
  void restore(CausalContext& context) const;

  // Its context is filled.
  EncodedRecord encoded(const Place& place, std::string_view key, const Record& record) const;

  // The record takes the place of the one whose head is `before` (the newest). On disk its context may be
  // stripped of what the floor covers.
  void stage(const Place& place, EncodedRecord record, const RecordHead& before);
  // A record without versions, only a context, is one like others; it has no hash and counts in no leaf.
  void stage(const MetaRecord& record);
  // The record goes: nothing of it is live and its whole context lies under the floor, or there is nothing
  // left of it. `context` is what is remembered of it in erased(), with the dots of `before`.
  void erase(const Place& place, const RecordHead& before, const CausalContext& context);
  // The index of transient records needn't name the key, unless it has become one since: then nothing
  // happens, nor where only the disk knows.
  void forget_transient(const Place& place);
  // For what shares the batches: hints.
  void stage(Family family, std::string_view key, std::string_view value);
  void stage_erasure(Family family, std::string_view key);
  // A leaf that a scrub has computed anew from data.
  void correct_leaf(LeafId id, const Leaf& leaf);

  // The open batch will be synced, and with it all that was written before; also an empty one.
  void require_sync() { open_sync_ = true; }

  // Everything committed is on disk: no buffered batch since the last synced one.
  bool is_synced() const { return synced_; }

  // The batch that is being committed; 0: none.
  BatchNumber under_way() const { return under_way_; }

  BatchNumber open_batch() const { return journal_.next_number(); }
  bool has_staged() const { return !open_batch_->empty() || open_sync_ || floors_.has_changes(); }
  size_t staged_bytes() const { return open_batch_->bytes() + under_way_bytes_; }

  // Closes the open batch for writing elsewhere. One at a time, until committed().
  Commit take();
  void committed(const Commit& commit);

  const LeafTable& leaves() const { return leaves_; }
  // The place is about to be read, or written to. Tables of many MiB miss the processor's cache at each key.
  void prefetch(const Place& place) const {
    cache_.prefetch(place.identity);
    leaves_.prefetch(place.leaf);
  }

 private:
  struct Pinned {
    RecordHead head;
    BatchNumber batch = 0;          // of the newest state
    BatchNumber earlier_batch = 0;  // of the one before, if that was under way when it was staged again
  };

  VersionVector unknown_of(const Floor& floor) const;
  void strip_for_disk(Partition partition, EncodedRecord& record) const;
  void pin(const Place& place, RecordHead head);
  void update_leaf(const Place& place, const RecordHead& before, const RecordHead& after);

  Engine& engine_;
  const RecordHasher hasher_;
  const Actor actor_;
  const Floor past_boots_;

  uint64_t counter_ = 0;  // of this life; the highest dot stamped
  HybridTime highest_time_ = 0;
  FloorTable floors_;
  LeafTable leaves_;
  LeafJournal journal_;
  VersionCache cache_;
  std::unordered_map<KeyIdentity, Pinned> pinned_;

  std::unique_ptr<Batch> open_batch_;
  std::vector<KeyIdentity> open_keys_;
  bool open_sync_ = false;
  bool synced_ = true;         // what a life finds was synced before its boot was
  BatchNumber under_way_ = 0;  // 0: none
  size_t under_way_bytes_ = 0;
  std::map<Partition, BatchNumber> dropping_;  // the batch with which it goes
};

}  // namespace ringkv
