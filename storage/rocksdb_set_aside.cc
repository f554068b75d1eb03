#include "storage/rocksdb_set_aside.h"

#include <rocksdb/sst_file_reader.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/ldb_cmd.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "base/text.h"

namespace ringkv {
namespace {

namespace fs = std::filesystem;

constexpr size_t kReadaheadBytes = size_t{2} << 20;

// What it takes to look at a database of which files may be damaged or gone.
rocksdb::DBOptions lenient(rocksdb::DBOptions options) {
  options.paranoid_checks = false;
  options.create_if_missing = false;
  options.create_missing_column_families = false;
  // What the log holds isn't looked at here; opening the database judges it.
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kSkipAnyCorruptedRecords;
  return options;
}

// Holds RocksDB's own lock, which what is done here doesn't take.
class DatabaseLock {
 public:
  DatabaseLock(rocksdb::Env& env, const fs::path& path) : env_(env) {
    status_ = env_.LockFile((path / "LOCK").string(), &lock_);
  }
  ~DatabaseLock() {
    if (lock_ != nullptr) env_.UnlockFile(lock_);
  }
  DatabaseLock(const DatabaseLock&) = delete;
  DatabaseLock& operator=(const DatabaseLock&) = delete;

  const rocksdb::Status& status() const { return status_; }

 private:
  rocksdb::Env& env_;
  rocksdb::FileLock* lock_ = nullptr;
  rocksdb::Status status_;
};

// Whether the reason lies in the file, and not in what only stands between it and us (descriptors, memory, a
// device that doesn't answer): such a file stays where it is.
bool is_damage(const rocksdb::Status& status) {
  if (status.IsPathNotFound() || status.IsNotFound()) return true;
  return status.IsCorruption() || status.IsNotSupported() || status.IsInvalidArgument();
}

}  // namespace

SetAside::SetAside(rocksdb::Env& env, fs::path path, const RocksdbTuning& tuning)
    : env_(env), path_(std::move(path)), damaged_(path_.parent_path() / "damaged"), tuning_(tuning) {}

Result<LostRanges> SetAside::run(OpenMode mode) {
  Result<LostRanges> lost = read_note();
  if (!lost.ok()) return lost;
  noted_ = !lost->empty();
  std::error_code error;
  if ((mode == OpenMode::kPlain && !noted_) || !fs::exists(path_ / "CURRENT", error)) return lost;

  const DatabaseLock lock(env_, path_);
  if (!lock.status().ok()) return rocksdb_failure("locking", path_, lock.status());
  const Result<std::vector<Table>> live = live_tables();
  if (!live.ok()) return live.status();
  if (mode == OpenMode::kSetDamagedAside) {
    Result<LostRanges> found = judge(*live);
    if (!found.ok()) return found.status();
    for (OpenedEngine::LostRange& range : *found) {
      const auto is_same = [&](const auto& noted) { return noted.file == range.file; };
      if (std::none_of(lost->begin(), lost->end(), is_same)) lost->push_back(std::move(range));
    }
  }
  if (lost->empty()) return lost;
  if (Status status = write_note(*lost); !status.ok()) return status;
  noted_ = true;
  if (Status status = remove(*live, *lost); !status.ok()) return status;
  return lost;
}

Result<std::vector<SetAside::Table>> SetAside::live_tables() const {
  rocksdb::DB* opened = nullptr;
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  const rocksdb::Status status = rocksdb::DB::OpenForReadOnly(lenient(tuning_.database), path_.string(),
                                                              tuning_.families, &handles, &opened);
  const std::unique_ptr<rocksdb::DB> database(opened);
  if (!status.ok()) return rocksdb_failure("looking for damaged files in", path_, status);
  std::vector<rocksdb::LiveFileMetaData> files;
  database->GetLiveFilesMetaData(&files);
  for (rocksdb::ColumnFamilyHandle* handle : handles) database->DestroyColumnFamilyHandle(handle);

  std::vector<Table> tables;
  for (const rocksdb::LiveFileMetaData& file : files) {
    const auto is_its_own = [&](const auto& family) { return family.name == file.column_family_name; };
    const auto family = std::find_if(tuning_.families.begin(), tuning_.families.end(), is_its_own);
    const auto position = family - tuning_.families.begin();
    // RocksDB's own family stays empty; were there anything in it, it would be nothing of ours.
    if (position == 0 || family == tuning_.families.end()) continue;
    tables.push_back({.number = file.file_number,
                      .bytes = file.size,
                      .name = file.relative_filename,
                      .range = {.family = static_cast<Family>(position - 1),
                                .first = file.smallestkey,
                                .last = file.largestkey,
                                .file = (damaged_ / file.relative_filename).string(),
                                .why = {}}});
  }
  return tables;
}

Result<LostRanges> SetAside::judge(const std::vector<Table>& live) const {
  LostRanges lost;
  for (const Table& table : live) {
    std::string damage = damage_of(table);
    if (damage.empty()) continue;
    if (table.range.family == Family::kMeta) {
      return corruption(cat("table file ", (path_ / table.name).string(), " is damaged (", damage,
                            "), and with it what this node knows of itself: its ring, its votes, its lives. ",
                            "Move ", path_.parent_path().string(),
                            " away and join the cluster anew under the same name, to be filled by the other ",
                            "members; or restore it from a copy"));
    }
    OpenedEngine::LostRange range = table.range;
    range.why = std::move(damage);
    lost.push_back(std::move(range));
  }
  return lost;
}

std::string SetAside::damage_of(const Table& table) const {
  const std::string file = (path_ / table.name).string();
  uint64_t bytes = 0;
  rocksdb::Status status = env_.GetFileSize(file, &bytes);
  if (status.ok() && bytes != table.bytes) return cat("it has ", bytes, " bytes, not ", table.bytes);
  if (status.ok()) {
    rocksdb::Options options;
    options.env = &env_;
    rocksdb::BlockBasedTableOptions blocks;
    blocks.no_block_cache = true;
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(blocks));
    rocksdb::SstFileReader reader(options);
    status = reader.Open(file);
    rocksdb::ReadOptions sequential;
    sequential.readahead_size = kReadaheadBytes;
    if (status.ok()) status = reader.VerifyChecksum(sequential);
  }
  return !status.ok() && is_damage(status) ? status.ToString() : "";
}

Status SetAside::remove(const std::vector<Table>& live, const LostRanges& lost) {
  for (const Table& table : live) {
    const auto is_it = [&](const auto& range) { return range.file == table.range.file; };
    if (std::none_of(lost.begin(), lost.end(), is_it)) continue;
    if (Status status = remove_from_manifest(table); !status.ok()) return status;
  }
  // Before RocksDB opens, which deletes what isn't live.
  for (const OpenedEngine::LostRange& range : lost) {
    const fs::path from = path_ / fs::path(range.file).filename();
    if (env_.FileExists(from.string()).IsNotFound()) continue;
    const rocksdb::Status status = env_.RenameFile(from.string(), range.file);
    if (!status.ok()) return rocksdb_failure("moving", from, status);
  }
  return sync(damaged_);
}

Status SetAside::remove_from_manifest(const Table& table) const {
  const rocksdb::Options options(lenient(tuning_.database), rocksdb::ColumnFamilyOptions());
  const std::unique_ptr<rocksdb::LDBCommand> command(rocksdb::LDBCommand::InitFromCmdLineArgs(
      {"unsafe_remove_sst_file", cat("--db=", path_.string()), std::to_string(table.number)}, options,
      rocksdb::LDBOptions(), &tuning_.families));
  command->Run();
  rocksdb::LDBCommandExecuteResult result = command->GetExecuteState();
  if (result.IsSucceed()) return {};
  return unavailable(cat("setting ", (path_ / table.name).string(), " aside: ", result.ToString()));
}

Result<LostRanges> SetAside::read_note() const {
  const std::string note = (damaged_ / "NOTE").string();
  if (env_.FileExists(note).IsNotFound()) return LostRanges();
  std::string bytes;
  const rocksdb::Status status = rocksdb::ReadFileToString(&env_, note, &bytes);
  if (!status.ok()) return rocksdb_failure("reading", note, status);
  Result<LostRanges> lost = decode_lost_ranges(bytes);
  if (!lost.ok()) return corruption(cat(note, ": ", lost.status().message()));
  return lost;
}

// After a crash at any moment the note is absent, or whole.
Status SetAside::write_note(const LostRanges& lost) const {
  rocksdb::Status status = env_.CreateDirIfMissing(damaged_.string());
  if (!status.ok()) return rocksdb_failure("creating", damaged_, status);
  if (Status synced = sync(damaged_.parent_path()); !synced.ok()) return synced;
  const std::string note = (damaged_ / "NOTE").string();
  status = rocksdb::WriteStringToFile(&env_, encode_lost_ranges(lost), note + ".new", true);
  if (status.ok()) status = env_.RenameFile(note + ".new", note);
  if (!status.ok()) return rocksdb_failure("writing", note, status);
  return sync(damaged_);
}

Status SetAside::on_remembered() {
  if (!noted_) return {};
  const fs::path note = damaged_ / "NOTE";
  const rocksdb::Status status = env_.DeleteFile(note.string());
  if (!status.ok()) return rocksdb_failure("deleting", note, status);
  return sync(damaged_);
}

Status SetAside::sync(const fs::path& directory) const {
  std::unique_ptr<rocksdb::Directory> opened;
  rocksdb::Status status = env_.NewDirectory(directory.string(), &opened);
  if (status.ok()) status = opened->Fsync();
  return status.ok() ? Status() : rocksdb_failure("syncing", directory, status);
}

}  // namespace ringkv
