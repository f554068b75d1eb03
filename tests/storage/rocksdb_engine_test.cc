// What is RocksDB's alone: damaged table files, failing disks, memory.
#include "storage/rocksdb_engine.h"

#include <gtest/gtest.h>
#include <rocksdb/env.h>
#include <rocksdb/file_system.h>

#include <atomic>
#include <thread>

#include "storage/rocksdb_open.h"
#include "tests/storage/rocksdb_files.h"
#include "tests/storage/temp_directory.h"

namespace ringkv {
namespace {

namespace fs = std::filesystem;

// Fails appends or syncs of files with one extension, while it is told to.
class BreakableFileSystem final : public rocksdb::FileSystemWrapper {
 public:
  enum class Call : int { kNone, kAppend, kSync };

  BreakableFileSystem() : FileSystemWrapper(rocksdb::FileSystem::Default()) {}
  const char* Name() const override { return "BreakableFileSystem"; }

  void break_calls(Call call, std::string extension, rocksdb::IOStatus error) {
    extension_ = std::move(extension);
    error_ = std::move(error);
    broken_ = call;
  }
  void repair() { broken_ = Call::kNone; }

  rocksdb::IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* file,
                                    rocksdb::IODebugContext* context) override {
    std::unique_ptr<rocksdb::FSWritableFile> inner;
    rocksdb::IOStatus status = FileSystemWrapper::NewWritableFile(name, options, &inner, context);
    if (status.ok()) *file = std::make_unique<File>(*this, name, std::move(inner));
    return status;
  }

 private:
  class File final : public rocksdb::FSWritableFileOwnerWrapper {
   public:
    File(BreakableFileSystem& system, std::string name, std::unique_ptr<rocksdb::FSWritableFile> inner)
        : FSWritableFileOwnerWrapper(std::move(inner)), system_(system), name_(std::move(name)) {}

    using FSWritableFileOwnerWrapper::Append;
    rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions& options,
                             rocksdb::IODebugContext* context) override {
      if (system_.breaks(Call::kAppend, name_)) return system_.error_;
      return FSWritableFileOwnerWrapper::Append(data, options, context);
    }
    rocksdb::IOStatus Sync(const rocksdb::IOOptions& options, rocksdb::IODebugContext* context) override {
      if (system_.breaks(Call::kSync, name_)) return system_.error_;
      return FSWritableFileOwnerWrapper::Sync(options, context);
    }

   private:
    BreakableFileSystem& system_;
    const std::string name_;
  };

  bool breaks(Call call, const std::string& name) const {
    return broken_ == call && fs::path(name).extension() == extension_;
  }

  std::atomic<Call> broken_ = Call::kNone;
  std::string extension_;
  rocksdb::IOStatus error_;
};

class RocksdbOnABreakingDisk : public testing::Test {
 protected:
  using Call = BreakableFileSystem::Call;

  std::unique_ptr<Engine> open() {
    auto opened = open_rocksdb_on(*env_, {.path = path_, .memory_bytes = 32U << 20});
    EXPECT_TRUE(opened.ok()) << opened.status().to_string();
    EXPECT_EQ(opened->log_damage, "");
    return std::move(opened->engine);
  }
  static Status put(Engine& engine, std::string_view key, bool sync) {
    auto batch = engine.new_batch();
    batch->put(Family::kData, key, "value");
    return engine.write(*batch, sync);
  }
  static bool holds(Engine& engine, std::string_view key) {
    std::string value;
    return *engine.get(Family::kData, key, value) == Lookup::kFound;
  }

  const TempDirectory directory_;
  const fs::path path_ = directory_.path() / "db";
  const std::shared_ptr<BreakableFileSystem> files_ = std::make_shared<BreakableFileSystem>();
  const std::unique_ptr<rocksdb::Env> env_ = rocksdb::NewCompositeEnv(files_);
};

// Bug log B82: fsync failed once; nothing is acknowledged any more, and nothing that was is missing later.
TEST_F(RocksdbOnABreakingDisk, AcknowledgesNothingMoreAfterOneFailedFsync) {
  auto engine = open();
  ASSERT_TRUE(put(*engine, "synced", true).ok());
  ASSERT_TRUE(put(*engine, "buffered", false).ok());

  files_->break_calls(Call::kSync, ".log", rocksdb::IOStatus::IOError("fsync: EIO"));
  const Status failed = put(*engine, "failed", true);
  files_->repair();

  EXPECT_EQ(failed.code(), StatusCode::kUnavailable);
  EXPECT_NE(failed.message().find(path_.string()), std::string::npos) << failed.message();
  EXPECT_NE(failed.message().find("EIO"), std::string::npos) << failed.message();
  for (const bool sync : {false, true}) {
    const Status later = put(*engine, "later", sync);
    EXPECT_EQ(later.code(), StatusCode::kUnavailable);
    EXPECT_NE(later.message().find("EIO"), std::string::npos) << later.message();
  }
  EXPECT_FALSE(engine->flush().ok());
  EXPECT_TRUE(holds(*engine, "synced"));

  engine.reset();
  engine = open();
  EXPECT_TRUE(holds(*engine, "synced"));
  EXPECT_TRUE(holds(*engine, "buffered"));
  EXPECT_FALSE(holds(*engine, "later"));
  EXPECT_TRUE(put(*engine, "later", true).ok());
}

// Bug log B80: a full disk is named as such, and writes work again after a reopen with room.
TEST_F(RocksdbOnABreakingDisk, SaysThatTheDiskIsFullAndWorksAgainWhenReopenedWithRoom) {
  auto engine = open();
  ASSERT_TRUE(put(*engine, "before", false).ok());
  files_->break_calls(Call::kAppend, ".log", rocksdb::IOStatus::NoSpace("write: ENOSPC"));
  EXPECT_EQ(put(*engine, "full", false).code(), StatusCode::kOutOfSpace);
  files_->repair();

  engine.reset();
  engine = open();
  EXPECT_TRUE(holds(*engine, "before"));
  EXPECT_FALSE(holds(*engine, "full"));
  EXPECT_TRUE(put(*engine, "after", true).ok());
}

TEST_F(RocksdbOnABreakingDisk, KeepsEverythingWhenTableFilesCannotBeWritten) {
  auto engine = open();
  ASSERT_TRUE(put(*engine, "a", false).ok());
  files_->break_calls(Call::kAppend, ".sst", rocksdb::IOStatus::NoSpace("write: ENOSPC"));
  EXPECT_EQ(engine->flush().code(), StatusCode::kOutOfSpace);
  EXPECT_EQ(put(*engine, "b", false).code(), StatusCode::kUnavailable);
  files_->repair();
  engine.reset();
  engine = open();
  EXPECT_TRUE(holds(*engine, "a"));
  EXPECT_TRUE(engine->flush().ok());
}

// Bug log B86: a damaged table file answers rightly, or with an error that names it; never with other bytes,
// never with "not found".
TEST(RocksdbEngine, NeverServesAFlippedBitOfATableFile) {
  const TempDirectory directory;
  const fs::path whole = directory.path() / "whole", damaged = directory.path() / "damaged";
  constexpr uint64_t kKeys = 500;
  {
    auto opened = open_small_rocksdb(whole);
    put_numbered(*opened->engine, 0, kKeys);
    ASSERT_TRUE(opened->engine->flush().ok());
  }
  const fs::path table = files_in(whole, ".sst").front();
  int refused = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SeededRandom random(seed);
    copy_directory(whole, damaged);
    // The end of the file, where filter, index and footer are, as often as the data.
    const uint64_t size = fs::file_size(table);
    const uint64_t offset = seed % 2 == 0 ? random.below(size) : size - 1 - random.below(4000);
    SCOPED_TRACE(cat("seed ", seed, ", offset ", offset, " of ", size));
    flip_bits(damaged / table.filename(), offset, static_cast<uint8_t>(1U << random.below(8)));
    auto opened = open_small_rocksdb(damaged);
    if (!opened.ok()) {
      EXPECT_EQ(opened.status().code(), StatusCode::kCorruption) << opened.status().to_string();
      ++refused;
      continue;
    }
    bool damage_seen = false;
    for (uint64_t number = 0; number < kKeys; ++number) {
      std::string value;
      const Result<Lookup> found = opened->engine->get(Family::kData, numbered_key(number), value);
      if (found.ok()) {
        ASSERT_EQ(*found, Lookup::kFound) << number;
        ASSERT_EQ(value, numbered_value(number));
        continue;
      }
      damage_seen = true;
      ASSERT_EQ(found.status().code(), StatusCode::kCorruption) << found.status().to_string();
      ASSERT_NE(found.status().message().find(table.filename().string()), std::string::npos)
          << found.status().message();
    }
    uint64_t walked = 0;
    auto cursor = opened->engine->seek(Family::kData, "", "");
    for (; cursor->valid(); cursor->next(), ++walked) ASSERT_EQ(cursor->value(), numbered_value(walked));
    if (cursor->status().ok()) {
      ASSERT_EQ(walked, kKeys);
    } else {
      ASSERT_EQ(cursor->status().code(), StatusCode::kCorruption);
    }
    if (damage_seen) ++refused;
  }
  EXPECT_GT(refused, 30) << "most flips should have been noticed";
}

// A family that is hardly written must not keep an old log alive behind what others have in table files.
TEST(RocksdbEngine, OpensWithADamagedLogThoughOneFamilyHasTableFiles) {
  const TempDirectory directory;
  const fs::path running = directory.path() / "running", killed = directory.path() / "killed";
  constexpr uint64_t kKeys = 60'000;  // 13 MB, more than one memtable of 8 MiB
  {
    auto opened = open_small_rocksdb(running);
    auto batch = opened->engine->new_batch();
    batch->put(Family::kMeta, "rare", "1");
    ASSERT_TRUE(opened->engine->write(*batch, true).ok());
    put_numbered(*opened->engine, 0, kKeys);
    const auto is_flushing = [&] {
      const auto figures = opened->engine->statistics();
      return figures.at("flush_pending") + figures.at("flushes_running") > 0;
    };
    while (is_flushing()) std::this_thread::yield();
    copy_directory(running, killed);
  }
  ASSERT_FALSE(files_in(killed, ".sst").empty());
  flip_bits(files_in(killed, ".log").front(), 50, 1);

  auto opened = open_small_rocksdb(killed);
  ASSERT_TRUE(opened.ok()) << opened.status().to_string();
  EXPECT_NE(opened->log_damage, "");
  EXPECT_GT(numbered_prefix(*opened->engine), kKeys / 4);
  std::string value;
  EXPECT_EQ(*opened->engine->get(Family::kMeta, "rare", value), Lookup::kFound);
}

TEST(RocksdbEngine, StaysWithinItsMemory) {
  const TempDirectory directory;
  constexpr uint64_t kMemoryBytes = 32U << 20;
  auto opened = open_small_rocksdb(directory.path() / "db");
  for (uint64_t number = 0; number < 400; ++number) {
    auto batch = opened->engine->new_batch();
    batch->put(Family::kData, numbered_key(number * 7919 % 1000), std::string(200'000, 'x'));
    ASSERT_TRUE(opened->engine->write(*batch, false).ok());
    const auto figures = opened->engine->statistics();
    ASSERT_LE(figures.at("memtable_bytes"), kMemoryBytes);
    ASSERT_LE(figures.at("block_cache_bytes"), kMemoryBytes);
  }
  EXPECT_GT(opened->engine->statistics().at("table_bytes"), 0U);
}

TEST(RocksdbEngine, RefusesADirectoryThatIsOpenAlready) {
  const TempDirectory directory;
  const auto first = open_small_rocksdb(directory.path());
  ASSERT_TRUE(first.ok());
  const auto second = open_small_rocksdb(directory.path());
  ASSERT_FALSE(second.ok());
  EXPECT_NE(second.status().message().find(directory.path().string()), std::string::npos);
}

// RocksDB itself would make a new database there and delete the old one's files.
TEST(RocksdbEngine, ADatabaseThatHasLostItsCurrentFileIsRefusedAndItsFilesStay) {
  const TempDirectory directory;
  const RocksdbOptions options{.path = directory.path() / "db", .memory_bytes = 32U << 20};
  {
    auto opened = open_rocksdb(options);
    ASSERT_TRUE(opened.ok());
    auto batch = opened->engine->new_batch();
    batch->put(Family::kData, "a", "1");
    ASSERT_TRUE(opened->engine->write(*batch, true).ok());
    ASSERT_TRUE(opened->engine->flush().ok());
  }
  const auto files = [&] {
    return std::distance(std::filesystem::directory_iterator(options.path),
                         std::filesystem::directory_iterator());
  };
  std::filesystem::remove(options.path / "CURRENT");
  const auto before = files();
  const auto refused = open_rocksdb(options);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code(), StatusCode::kCorruption);
  EXPECT_EQ(files(), before);

  std::filesystem::remove_all(options.path);
  EXPECT_EQ(open_rocksdb({.path = options.path, .may_create = false}).status().code(),
            StatusCode::kCorruption);
  EXPECT_TRUE(open_rocksdb(options).ok());
}

}  // namespace
}  // namespace ringkv
