// The power goes at any moment: of files the bytes are gone that weren't synced, and of directories the
// entries that were made, renamed or erased since the directory was synced.
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <mutex>

#include "tests/storage/rocksdb_files.h"

namespace ringkv {
namespace {

namespace fs = std::filesystem;

// Knows what is safe. Each file's bytes stand in `inodes` too, by a number, whatever becomes of its name.
class ForgetfulFileSystem final : public rocksdb::FileSystemWrapper {
 public:
  ForgetfulFileSystem(fs::path inodes, int changes_left, fs::path left_behind)
      : FileSystemWrapper(rocksdb::FileSystem::Default()),
        inodes_(std::move(inodes)),
        changes_left_(changes_left),
        left_behind_(std::move(left_behind)) {
    fs::create_directories(inodes_);
  }
  const char* Name() const override { return "ForgetfulFileSystem"; }

  bool power_was_cut() const { return changes_left_ < 0; }
  uint64_t entries_lost() const { return entries_lost_; }

  rocksdb::IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* file,
                                    rocksdb::IODebugContext* context) override {
    std::unique_ptr<rocksdb::FSWritableFile> inner;
    rocksdb::IOStatus status = FileSystemWrapper::NewWritableFile(name, options, &inner, context);
    if (!status.ok()) return status;
    const std::lock_guard lock(mutex_);
    const uint64_t inode = entries_[name] = ++last_inode_;
    fs::create_hard_link(name, inode_path(inode));
    *file = std::make_unique<File>(*this, inode, std::move(inner));
    on_change();
    return status;
  }
  rocksdb::IOStatus RenameFile(const std::string& from, const std::string& to,
                               const rocksdb::IOOptions& options, rocksdb::IODebugContext* context) override {
    rocksdb::IOStatus status = FileSystemWrapper::RenameFile(from, to, options, context);
    if (!status.ok()) return status;
    const std::lock_guard lock(mutex_);
    if (const auto at = entries_.find(from); at != entries_.end()) {
      entries_[to] = at->second;
      entries_.erase(from);
    }
    on_change();
    return status;
  }
  rocksdb::IOStatus DeleteFile(const std::string& name, const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* context) override {
    rocksdb::IOStatus status = FileSystemWrapper::DeleteFile(name, options, context);
    const std::lock_guard lock(mutex_);
    if (status.ok()) entries_.erase(name);
    on_change();
    return status;
  }
  rocksdb::IOStatus NewDirectory(const std::string& name, const rocksdb::IOOptions& options,
                                 std::unique_ptr<rocksdb::FSDirectory>* directory,
                                 rocksdb::IODebugContext* context) override {
    std::unique_ptr<rocksdb::FSDirectory> inner;
    rocksdb::IOStatus status = FileSystemWrapper::NewDirectory(name, options, &inner, context);
    if (status.ok()) *directory = std::make_unique<Directory>(*this, std::move(inner));
    return status;
  }

 private:
  struct File final : rocksdb::FSWritableFileOwnerWrapper {
    File(ForgetfulFileSystem& owner, uint64_t number, std::unique_ptr<rocksdb::FSWritableFile> inner)
        : FSWritableFileOwnerWrapper(std::move(inner)), system(owner), inode(number) {}
    using FSWritableFileOwnerWrapper::Append;
    rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions& options,
                             rocksdb::IODebugContext* context) override {
      written += data.size();
      return FSWritableFileOwnerWrapper::Append(data, options, context);
    }
    rocksdb::IOStatus Sync(const rocksdb::IOOptions& options, rocksdb::IODebugContext* context) override {
      const uint64_t safe = written;
      return system.synced(inode, safe, FSWritableFileOwnerWrapper::Sync(options, context));
    }
    rocksdb::IOStatus Fsync(const rocksdb::IOOptions& options, rocksdb::IODebugContext* context) override {
      const uint64_t safe = written;
      return system.synced(inode, safe, FSWritableFileOwnerWrapper::Fsync(options, context));
    }
    ForgetfulFileSystem& system;
    const uint64_t inode;
    uint64_t written = 0;
  };
  struct Directory final : rocksdb::FSDirectoryWrapper {
    Directory(ForgetfulFileSystem& owner, std::unique_ptr<rocksdb::FSDirectory> inner)
        : FSDirectoryWrapper(std::move(inner)), system(owner) {}
    rocksdb::IOStatus Fsync(const rocksdb::IOOptions& options, rocksdb::IODebugContext* context) override {
      system.sync_entries();
      return FSDirectoryWrapper::Fsync(options, context);
    }
    rocksdb::IOStatus FsyncWithDirOptions(const rocksdb::IOOptions& options, rocksdb::IODebugContext* context,
                                          const rocksdb::DirFsyncOptions& which) override {
      system.sync_entries();
      return FSDirectoryWrapper::FsyncWithDirOptions(options, context, which);
    }
    ForgetfulFileSystem& system;
  };

  fs::path inode_path(uint64_t inode) const { return inodes_ / std::to_string(inode); }

  rocksdb::IOStatus synced(uint64_t inode, uint64_t bytes, rocksdb::IOStatus status) {
    const std::lock_guard lock(mutex_);
    if (status.ok()) safe_bytes_[inode] = bytes;
    on_change();
    return status;
  }
  // There is one directory.
  void sync_entries() {
    const std::lock_guard lock(mutex_);
    safe_entries_ = entries_;
    on_change();
  }

  void on_change() {
    if (--changes_left_ != -1) return;
    fs::create_directories(left_behind_);
    for (const auto& [name, inode] : safe_entries_) {
      const fs::path copy = left_behind_ / fs::path(name).filename();
      fs::copy_file(inode_path(inode), copy);
      fs::resize_file(copy, safe_bytes_[inode]);
    }
    for (const auto& [name, inode] : entries_) {
      const auto safe = safe_entries_.find(name);
      entries_lost_ += safe == safe_entries_.end() || safe->second != inode ? 1 : 0;
    }
  }

  const fs::path inodes_;
  std::atomic<int> changes_left_;
  const fs::path left_behind_;
  std::mutex mutex_;
  uint64_t last_inode_ = 0;
  std::map<std::string, uint64_t> entries_;
  std::map<std::string, uint64_t> safe_entries_;
  std::map<uint64_t, uint64_t> safe_bytes_;
  uint64_t entries_lost_ = 0;
};

struct Outcome {
  uint64_t synced = 0;  // of the first keys, before the power went
  uint64_t written = 0;
  uint64_t entries_lost = 0;
  bool cut = false;
};

// Puts keys, now and then synced, and into table files.
Outcome write_until_cut(const fs::path& root, int changes) {
  constexpr uint64_t kKeys = 60;
  fs::create_directories(root / "db");
  const auto system = std::make_shared<ForgetfulFileSystem>(root / "inodes", changes, root / "left");
  const std::unique_ptr<rocksdb::Env> env = rocksdb::NewCompositeEnv(system);
  auto opened = open_rocksdb_on(*env, {.path = root / "db", .memory_bytes = 32U << 20});
  EXPECT_TRUE(opened.ok()) << opened.status().to_string();
  Outcome outcome;
  for (uint64_t key = 0; key < kKeys && !system->power_was_cut(); ++key) {
    const bool sync = key % 5 == 4;
    auto batch = opened->engine->new_batch();
    batch->put(Family::kData, numbered_key(key), numbered_value(key));
    EXPECT_TRUE(opened->engine->write(*batch, sync).ok());
    outcome.written = key + 1;
    if (key % 12 == 11) {
      EXPECT_TRUE(opened->engine->flush().ok());
    }
    const bool all_synced = sync || key % 12 == 11;
    if (all_synced && !system->power_was_cut()) outcome.synced = key + 1;
  }
  opened->engine.reset();
  outcome.cut = system->power_was_cut();
  outcome.entries_lost = system->entries_lost();
  return outcome;
}

TEST(RocksdbPowerCut, TakesNothingThatWasSyncedAtWhateverMomentItComes) {
  uint64_t entries_lost = 0, cuts = 0;
  for (int changes = 0;; ++changes) {
    SCOPED_TRACE(cat("power goes at change ", changes));
    const TempDirectory directory;
    const Outcome outcome = write_until_cut(directory.path(), changes);
    if (!outcome.cut) break;
    ++cuts;
    entries_lost += outcome.entries_lost;
    auto left = open_small_rocksdb(directory.path() / "left");
    ASSERT_TRUE(left.ok()) << left.status().to_string();
    const uint64_t found = numbered_prefix(*left->engine);
    EXPECT_GE(found, outcome.synced);
    EXPECT_LE(found, outcome.written);
    EXPECT_EQ(left->log_damage, "");
  }
  EXPECT_GT(cuts, 40U);
  EXPECT_GT(entries_lost, 10U) << "no cut came between the making of a file and its directory's sync";
}

}  // namespace
}  // namespace ringkv
