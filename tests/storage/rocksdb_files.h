// RocksDB directories for tests to damage: known entries, a copy of what a killed process leaves.
#pragma once

#include <gtest/gtest.h>
#include <rocksdb/env.h>
#include <rocksdb/file_system.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/text.h"
#include "storage/rocksdb_engine.h"
#include "storage/rocksdb_open.h"
#include "tests/storage/temp_directory.h"

namespace ringkv {

inline std::string numbered_key(uint64_t number) {
  const std::string digits = cat(number);
  return "k" + std::string(8 - digits.size(), '0') + digits;
}

// No two alike, of many sizes, and not to be compressed.
inline std::string numbered_value(uint64_t number) {
  SeededRandom random(number);
  std::string value(20 + random.below(400), '\0');
  for (char& byte : value) byte = static_cast<char>(random.next());
  return value;
}

// One batch a key; the last is synced.
inline void put_numbered(Engine& engine, uint64_t from, uint64_t to) {
  for (uint64_t number = from; number < to; ++number) {
    auto batch = engine.new_batch();
    batch->put(Family::kData, numbered_key(number), numbered_value(number));
    batch->put(Family::kDigests, "last", numbered_key(number));
    ASSERT_TRUE(engine.write(*batch, number + 1 == to).ok());
  }
}

// How many of the first keys are there. Each must have its value, and none may be missing before the last.
inline uint64_t numbered_prefix(Engine& engine) {
  uint64_t number = 0;
  auto cursor = engine.seek(Family::kData, "", "");
  for (; cursor->valid(); cursor->next(), ++number) {
    EXPECT_EQ(cursor->key(), numbered_key(number));
    EXPECT_EQ(cursor->value(), numbered_value(number));
  }
  EXPECT_TRUE(cursor->status().ok()) << cursor->status().to_string();
  return number;
}

// Writes what it is told to, but never waits for the disk: no test cuts the power, and an open syncs a dozen
// times.
class UnsyncedFileSystem final : public rocksdb::FileSystemWrapper {
 public:
  UnsyncedFileSystem() : FileSystemWrapper(rocksdb::FileSystem::Default()) {}
  const char* Name() const override { return "UnsyncedFileSystem"; }

  rocksdb::IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* file,
                                    rocksdb::IODebugContext* context) override {
    std::unique_ptr<rocksdb::FSWritableFile> inner;
    rocksdb::IOStatus status = FileSystemWrapper::NewWritableFile(name, options, &inner, context);
    if (status.ok()) *file = std::make_unique<File>(std::move(inner));
    return status;
  }
  rocksdb::IOStatus NewDirectory(const std::string& name, const rocksdb::IOOptions& options,
                                 std::unique_ptr<rocksdb::FSDirectory>* directory,
                                 rocksdb::IODebugContext* context) override {
    std::unique_ptr<rocksdb::FSDirectory> inner;
    rocksdb::IOStatus status = FileSystemWrapper::NewDirectory(name, options, &inner, context);
    if (status.ok()) *directory = std::make_unique<Directory>();
    return status;
  }

 private:
  struct File final : rocksdb::FSWritableFileOwnerWrapper {
    using FSWritableFileOwnerWrapper::FSWritableFileOwnerWrapper;
    rocksdb::IOStatus Sync(const rocksdb::IOOptions&, rocksdb::IODebugContext*) override { return {}; }
    rocksdb::IOStatus Fsync(const rocksdb::IOOptions&, rocksdb::IODebugContext*) override { return {}; }
    rocksdb::IOStatus RangeSync(uint64_t, uint64_t, const rocksdb::IOOptions&,
                                rocksdb::IODebugContext*) override {
      return {};
    }
  };
  struct Directory final : rocksdb::FSDirectory {
    rocksdb::IOStatus Fsync(const rocksdb::IOOptions&, rocksdb::IODebugContext*) override { return {}; }
  };
};

inline rocksdb::Env& unsynced_env() {
  static const std::unique_ptr<rocksdb::Env> env =
      rocksdb::NewCompositeEnv(std::make_shared<UnsyncedFileSystem>());
  return *env;
}

inline Result<OpenedEngine> open_small_rocksdb(const std::filesystem::path& path,
                                               OpenMode mode = OpenMode::kPlain) {
  return open_rocksdb_on(unsynced_env(), {.path = path, .memory_bytes = 32U << 20}, mode);
}

inline void copy_directory(const std::filesystem::path& from, const std::filesystem::path& to) {
  std::filesystem::remove_all(to);
  std::filesystem::copy(from, to, std::filesystem::copy_options::recursive);
}

// In order of name, so of age; without empty ones.
inline std::vector<std::filesystem::path> files_in(const std::filesystem::path& directory,
                                                   std::string_view extension) {
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.path().extension() == extension && entry.file_size() > 0) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

inline void flip_bits(const std::filesystem::path& path, uint64_t offset, uint8_t bits) {
  std::string contents = read_file(path);
  ASSERT_LT(offset, contents.size());
  contents[offset] = static_cast<char>(static_cast<uint8_t>(contents[offset]) ^ bits);
  write_file(path, contents);
}

}  // namespace ringkv
