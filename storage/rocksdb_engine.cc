#include "storage/rocksdb_engine.h"

#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>

#include <array>
#include <atomic>
#include <optional>
#include <utility>

#include "base/text.h"
#include "storage/lost_ranges.h"
#include "storage/rocksdb_log.h"
#include "storage/rocksdb_open.h"
#include "storage/rocksdb_set_aside.h"
#include "storage/rocksdb_tuning.h"

namespace ringkv {
namespace {

using Handles = std::vector<rocksdb::ColumnFamilyHandle*>;

rocksdb::Slice slice(std::string_view bytes) { return {bytes.data(), bytes.size()}; }
std::string_view view(const rocksdb::Slice& bytes) { return {bytes.data(), bytes.size()}; }

// A database that is open, and the handles that must go before it. Its first family is RocksDB's own.
struct OpenDatabase {
  OpenDatabase() = default;
  OpenDatabase(OpenDatabase&& other) noexcept
      : database(std::move(other.database)), handles(std::exchange(other.handles, {})) {}
  OpenDatabase& operator=(OpenDatabase&&) = delete;
  ~OpenDatabase() {
    for (rocksdb::ColumnFamilyHandle* handle : handles) database->DestroyColumnFamilyHandle(handle);
  }

  std::unique_ptr<rocksdb::DB> database;
  Handles handles;
};

class RocksdbBatch final : public Batch {
 public:
  explicit RocksdbBatch(const Handles& handles) : handles_(handles) {}

  void put(Family family, std::string_view key, std::string_view value) override {
    keep(batch_.Put(handle(family), slice(key), slice(value)));
  }
  void erase(Family family, std::string_view key) override {
    keep(batch_.Delete(handle(family), slice(key)));
  }
  void erase_range(Family family, std::string_view lower, std::string_view upper) override {
    keep(batch_.DeleteRange(handle(family), slice(lower), slice(upper)));
  }
  size_t bytes() const override { return batch_.GetDataSize(); }
  bool empty() const override { return batch_.Count() == 0; }

  // Why the batch does not hold all that was put: it grew past RocksDB's limit of 4 GiB.
  const rocksdb::Status& status() const { return status_; }
  rocksdb::WriteBatch& contents() { return batch_; }
  void clear() {
    batch_.Clear();
    status_ = rocksdb::Status::OK();
  }

 private:
  rocksdb::ColumnFamilyHandle* handle(Family family) const {
    return handles_[static_cast<size_t>(family) + 1];
  }
  void keep(const rocksdb::Status& status) {
    if (!status.ok() && status_.ok()) status_ = status;
  }

  const Handles& handles_;
  rocksdb::WriteBatch batch_;
  rocksdb::Status status_;
};

class RocksdbCursor final : public Cursor {
 public:
  RocksdbCursor(rocksdb::DB& database, rocksdb::ColumnFamilyHandle* family, std::string_view lower,
                std::string_view upper, const std::filesystem::path& path)
      : path_(path), upper_(upper), upper_slice_(upper_) {
    rocksdb::ReadOptions options;
    options.fill_cache = false;  // a walk over a partition would push out what clients read
    if (!upper_.empty()) options.iterate_upper_bound = &upper_slice_;
    iterator_.reset(database.NewIterator(options, family));
    iterator_->Seek(slice(lower));
  }

  bool valid() const override { return iterator_->Valid(); }
  std::string_view key() const override { return view(iterator_->key()); }
  std::string_view value() const override { return view(iterator_->value()); }
  void next() override { iterator_->Next(); }
  void skip_to(std::string_view from) override { iterator_->Seek(slice(from)); }
  Status status() const override {
    if (iterator_->status().ok()) return {};
    return rocksdb_failure("reading", path_, iterator_->status());
  }

 private:
  const std::filesystem::path& path_;
  const std::string upper_;
  const rocksdb::Slice upper_slice_;
  std::unique_ptr<rocksdb::Iterator> iterator_;
};

class RocksdbEngine final : public Engine {
 public:
  RocksdbEngine(std::filesystem::path path, OpenDatabase open, std::shared_ptr<rocksdb::Cache> block_cache)
      : path_(std::move(path)), block_cache_(std::move(block_cache)), open_(std::move(open)) {}

  std::unique_ptr<Batch> new_batch() override { return std::make_unique<RocksdbBatch>(open_.handles); }

  Status write(Batch& batch, bool sync) override {
    if (failed_) return fenced();
    auto& own = static_cast<RocksdbBatch&>(batch);
    rocksdb::WriteOptions options;
    options.sync = sync;
    const rocksdb::Status status =
        own.status().ok() ? open_.database->Write(options, &own.contents()) : own.status();
    own.clear();
    return checked("writing", status);
  }

  Result<Lookup> get(Family family, std::string_view key, std::string& value) override {
    return look_up(rocksdb::ReadOptions(), family, key, value);
  }

  Result<Lookup> get_cached(Family family, std::string_view key, std::string& value) override {
    rocksdb::ReadOptions options;
    options.read_tier = rocksdb::kBlockCacheTier;
    return look_up(options, family, key, value);
  }

  std::unique_ptr<Cursor> seek(Family family, std::string_view lower, std::string_view upper) override {
    return std::make_unique<RocksdbCursor>(*open_.database, handle(family), lower, upper, path_);
  }

  Status flush() override {
    if (failed_) return fenced();
    return checked("flushing", open_.database->Flush(rocksdb::FlushOptions(), open_.handles));
  }

  // Range tombstones in memory would be merged into nothing.
  Status reclaim(Family family, std::string_view lower, std::string_view upper) override {
    rocksdb::Status status = open_.database->Flush(rocksdb::FlushOptions(), handle(family));
    rocksdb::CompactRangeOptions options;
    options.canceled = &reclaiming_stopped_;
    options.exclusive_manual_compaction = false;
    options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForceOptimized;
    const rocksdb::Slice first = slice(lower), end = slice(upper);
    if (status.ok()) status = open_.database->CompactRange(options, handle(family), &first, &end);
    if (status.IsIncomplete()) return unavailable("no disk is given back now: the store is to be closed");
    return status.ok() ? Status() : rocksdb_failure("giving disk back", path_, status);
  }

  void stop_reclaiming() override { reclaiming_stopped_ = true; }

  uint64_t disk_free_bytes() const override { return space().available; }
  uint64_t disk_size_bytes() const override { return space().capacity; }

  std::map<std::string, uint64_t> statistics() const override {
    using Properties = rocksdb::DB::Properties;
    static const std::pair<const char*, const std::string&> kSums[] = {
        {"memtable_bytes", Properties::kCurSizeAllMemTables},
        {"table_bytes", Properties::kLiveSstFilesSize},
        {"flush_pending", Properties::kMemTableFlushPending},
        {"compaction_pending", Properties::kCompactionPending},
        {"compaction_pending_bytes", Properties::kEstimatePendingCompactionBytes}};
    static const std::pair<const char*, const std::string&> kWholeDatabase[] = {
        {"flushes_running", Properties::kNumRunningFlushes},
        {"compactions_running", Properties::kNumRunningCompactions},
        {"background_errors", Properties::kBackgroundErrors},
        {"write_stopped", Properties::kIsWriteStopped},
        {"write_delayed_bytes_per_second", Properties::kActualDelayedWriteRate}};

    std::map<std::string, uint64_t> figures = {{"block_cache_bytes", block_cache_->GetUsage()}};
    for (const auto& [name, property] : kSums) {
      open_.database->GetAggregatedIntProperty(property, &figures[name]);
    }
    for (const auto& [name, property] : kWholeDatabase) {
      open_.database->GetIntProperty(property, &figures[name]);
    }
    return figures;
  }

 private:
  rocksdb::ColumnFamilyHandle* handle(Family family) const {
    return open_.handles[static_cast<size_t>(family) + 1];
  }

  Result<Lookup> look_up(const rocksdb::ReadOptions& options, Family family, std::string_view key,
                         std::string& value) {
    const rocksdb::Status status = open_.database->Get(options, handle(family), slice(key), &value);
    if (status.ok()) return Lookup::kFound;
    if (status.IsNotFound()) return Lookup::kAbsent;
    if (status.IsIncomplete()) return Lookup::kWouldBlock;
    return rocksdb_failure("reading", path_, status);
  }

  Status checked(std::string_view what, const rocksdb::Status& status) {
    if (status.ok()) return {};
    failed_ = rocksdb_failure(what, path_, status);
    return *failed_;
  }

  Status fenced() const {
    return unavailable(
        cat("nothing is written to ", path_.string(),
            " until it has been opened again, because of an earlier failure: ", failed_->message()));
  }

  std::filesystem::space_info space() const {
    std::error_code error;
    const std::filesystem::space_info info = std::filesystem::space(path_, error);
    return error ? std::filesystem::space_info{} : info;
  }

  const std::filesystem::path path_;
  const std::shared_ptr<rocksdb::Cache> block_cache_;
  const OpenDatabase open_;
  std::atomic<bool> reclaiming_stopped_ = false;
  std::optional<Status> failed_;  // the first failure to write; writing thread
};

rocksdb::Status open_database(const RocksdbOptions& options, const RocksdbTuning& tuning,
                              rocksdb::WALRecoveryMode mode, OpenDatabase& open) {
  rocksdb::DBOptions database_options = tuning.database;
  database_options.wal_recovery_mode = mode;
  rocksdb::DB* database = nullptr;
  const rocksdb::Status status =
      rocksdb::DB::Open(database_options, options.path.string(), tuning.families, &open.handles, &database);
  open.database.reset(database);
  return status;
}

// A database without CURRENT is none to RocksDB: it would make a new one and delete the files of the old.
Status check_presence(const RocksdbOptions& options) {
  std::error_code error;
  if (std::filesystem::exists(options.path / "CURRENT", error)) return {};
  bool remains = !options.may_create;
  for (const auto& entry : std::filesystem::directory_iterator(options.path, error)) {
    const std::string extension = entry.path().extension().string();
    remains = remains || extension == ".sst" || extension == ".log";
  }
  if (!remains) return {};
  return corruption(cat("opening ", options.path.string(),
                        ": its CURRENT file is gone, and with it the data: restore ",
                        options.path.parent_path().string(), " from a copy, or move it away to begin anew"));
}

}  // namespace

Result<OpenedEngine> open_rocksdb_on(rocksdb::Env& env, const RocksdbOptions& options, OpenMode mode) {
  if (Status status = check_presence(options); !status.ok()) return status;
  const RocksdbTuning tuning = tune_rocksdb(env, options);
  SetAside set_aside(env, options.path, tuning);
  const Result<LostRanges> found = set_aside.run(mode);
  if (!found.ok()) return found.status();
  OpenDatabase open;
  // The strictest mode refuses torn tails too, so that nothing RocksDB would tolerate goes by unseen; only
  // then are the logs read to tell the torn from the damaged.
  rocksdb::Status status =
      open_database(options, tuning, rocksdb::WALRecoveryMode::kAbsoluteConsistency, open);
  std::string damage;
  if (status.IsCorruption()) {
    const JudgedLogs judged = judge_logs(options.path);
    damage = judged.damage;
    if (judged.verdict == LogVerdict::kWhole) damage = cat("RocksDB refused its log: ", status.ToString());
    status = open_database(options, tuning, rocksdb::WALRecoveryMode::kPointInTimeRecovery, open);
  }
  if (!status.ok()) return rocksdb_failure("opening", options.path, status);
  auto engine = std::make_unique<RocksdbEngine>(options.path, std::move(open), tuning.block_cache);
  if (!damage.empty()) {
    const Status flushed = engine->flush();
    if (!flushed.ok()) return flushed;
  }
  Result<LostRanges> lost = remember_lost_ranges(*engine, *found);
  if (!lost.ok()) return lost.status();
  if (Status remembered = set_aside.on_remembered(); !remembered.ok()) return remembered;
  return OpenedEngine{std::move(engine), std::move(damage), *std::move(lost)};
}

Result<OpenedEngine> open_rocksdb(const RocksdbOptions& options, OpenMode mode) {
  return open_rocksdb_on(*rocksdb::Env::Default(), options, mode);
}

}  // namespace ringkv
