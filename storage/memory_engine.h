// The engine for tests and simulation, and the disk beneath it. The disk outlives engines: destroying an
// engine is kill -9, crash() is a power cut, and a new engine on the same disk is a restart.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "storage/engine.h"
#include "storage/lost_ranges.h"

namespace ringkv {

// What can fail: appending a batch, making it durable (a synced write, a flush), reading (get, seek).
enum class DiskCall : uint8_t { kWrite, kSync, kGet };
enum class DiskError : uint8_t { kInputOutput, kNoSpace };

struct DiskSpace {
  uint64_t free_bytes = 1ULL << 40;
  uint64_t size_bytes = 1ULL << 40;
};

// One put, or with no value one erase, or of all keys below `upper`.
struct MemoryChange {
  Family family;
  std::string key;
  std::optional<std::string> value;
  std::optional<std::string> upper = {};
};
using MemoryChanges = std::vector<MemoryChange>;

class MemoryCursor;
class MemoryDisk;

// As open_rocksdb: of damaged files of Family::kMeta it says CORRUPTION.
Result<OpenedEngine> open_memory(MemoryDisk& disk, OpenMode mode = OpenMode::kPlain);

class MemoryDisk {
 public:
  MemoryDisk() = default;
  MemoryDisk(const MemoryDisk&) = delete;
  MemoryDisk& operator=(const MemoryDisk&) = delete;

  // The nth such call from now (1: the next one) fails, and no other. A batch whose append failed is gone.
  // One whose sync failed is in the log all the same: unseen by the engine that failed, there for the next
  // one.
  void fail(DiskCall call, uint64_t nth, DiskError error);

  // This share of look-ups of get_cached would block.
  void set_blocking_share(double share, uint64_t seed);

  void set_space(DiskSpace space);

  // A power cut: of the batches that were not synced, in order, only a random number of the first survive.
  // `torn`: of the next one a part was written, with garbage behind it, so that the next engine calls its log
  // damaged. No engine may be open; nor for wipe().
  void crash(Random& random, bool torn = false);

  // As an empty directory.
  void wipe();

  // What is there of these keys now (both included) stands in a table file that is damaged: reading any of
  // it, or walking over it, answers CORRUPTION until an engine is opened with kSetDamagedAside, which loses
  // it. What is put there later stands elsewhere.
  void damage(Family family, std::string first, std::string last);
  // Of such a file one block alone can't be read: the first entry that isn't below `at`, and all up to the
  // next one. False: there is none, and nothing is damaged. The whole file is lost with it.
  bool damage_block(Family family, std::string first, std::string last, std::string_view at);

  // A backup, or a copied directory: all that the next engine would find here, synced. Faults aren't copied,
  // damage is.
  std::unique_ptr<MemoryDisk> copy() const;

  size_t unsynced_batches() const;

 private:
  friend class MemoryEngine;
  friend class MemoryCursor;
  friend Result<OpenedEngine> open_memory(MemoryDisk& disk, OpenMode mode);

  using Table = std::map<std::string, std::string, std::less<>>;

  struct PlannedFault {
    uint64_t calls_left;
    DiskError error;
  };

  struct DamagedFile {
    OpenedEngine::LostRange range;
    std::string unreadable_first;  // keys, both included
    std::string unreadable_last;
    std::set<std::string, std::less<>> put_since;
  };

  Table& table(Family family) { return tables_[static_cast<size_t>(family)]; }
  DamagedFile new_damaged_file(Family family, std::string first, std::string last);
  std::optional<DiskError> fault_of(DiskCall call);
  MemoryChange exchange(MemoryChange change);  // applies it; returns what takes it back
  void apply(MemoryChanges changes);
  void erase_range(const MemoryChange& range, MemoryChanges& undo);
  void replay_unseen();
  Result<LostRanges> damaged_ranges() const;
  void drop_damaged();
  std::string take_log_damage();
  struct Way {
    std::string_view from;
    std::string_view to;  // empty: the end
    bool to_is_seen = false;
  };

  // CORRUPTION where a read of the key, or a walk, comes across a damaged file.
  Status check_key(Family family, std::string_view key) const;
  Status check_walk(Family family, const Way& way) const;

  mutable std::mutex mutex_;  // engines may be read on any thread
  std::array<Table, kFamilies> tables_;
  std::deque<MemoryChanges> undo_;     // for each batch that was not synced: how to take it back
  std::vector<MemoryChanges> unseen_;  // in the log, after a failed sync
  std::vector<MemoryCursor*> cursors_;
  std::array<std::optional<PlannedFault>, 3> faults_;
  bool engine_open_ = false;
  double blocking_share_ = 0;
  SeededRandom blocking_random_{0};
  DiskSpace space_;
  std::vector<DamagedFile> damaged_;
  uint64_t files_damaged_ = 0;  // ever: names them
  std::string log_damage_;      // told by the next opening
};

// Cursors see the tables as they were when the cursor was made, exactly: a key that is changed later, in the
// part that a cursor has yet to walk, leaves its old value with that cursor. A cursor that lives while
// nothing is written costs nothing.
class MemoryEngine final : public Engine {
 public:
  // One engine at a time on a disk, which outlives it.
  explicit MemoryEngine(MemoryDisk& disk);
  ~MemoryEngine() override;

  std::unique_ptr<Batch> new_batch() override;
  Status write(Batch& batch, bool sync) override;
  Result<Lookup> get(Family family, std::string_view key, std::string& value) override;
  Result<Lookup> get_cached(Family family, std::string_view key, std::string& value) override;
  std::unique_ptr<Cursor> seek(Family family, std::string_view lower, std::string_view upper) override;
  Status flush() override;
  Status reclaim(Family, std::string_view, std::string_view) override { return {}; }
  void stop_reclaiming() override {}
  uint64_t disk_free_bytes() const override;
  uint64_t disk_size_bytes() const override;
  std::map<std::string, uint64_t> statistics() const override;

 private:
  friend class MemoryCursor;

  Result<Lookup> look_up(Family family, std::string_view key, std::string& value);
  Status fence(Status why);
  Status fenced() const;

  MemoryDisk& disk_;
  std::optional<Status> failed_;  // the first failure to write
};

}  // namespace ringkv
