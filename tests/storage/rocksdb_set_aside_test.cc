// Damaged table files are taken out of the database, and nothing else is.
#include "storage/rocksdb_set_aside.h"

#include <gtest/gtest.h>
#include <rocksdb/sst_file_reader.h>

#include <atomic>
#include <map>
#include <set>
#include <thread>

#include "tests/storage/rocksdb_files.h"
#include "tests/storage/temp_directory.h"

namespace ringkv {
namespace {

namespace fs = std::filesystem;

constexpr Family kSpread[] = {Family::kData, Family::kDigests, Family::kHints};

std::string key_of(uint64_t number) { return numbered_key(number); }

// A database with tables in several levels of several families, and the newest values in the log only.
// Every value ever written is unique and names its key.
struct World {
  TempDirectory directory;
  fs::path path = directory.path() / "db";
  fs::path damaged = directory.path() / "damaged";
  std::map<std::pair<Family, std::string>, std::vector<std::string>> written;  // oldest first; "": erased

  // What stands in each table, as it was before any damage.
  struct TableContents {
    Family family;
    uint64_t number = 0;
    int level = 0;
    std::string first, last;
    std::map<std::string, std::string> values;
  };
  std::map<std::string, TableContents> tables;  // by name

  explicit World(uint64_t seed) {
    SeededRandom random(seed);
    {
      auto opened = open_small_rocksdb(path);
      EXPECT_TRUE(opened.ok());
      write_meta_record(*opened->engine);
      EXPECT_TRUE(opened->engine->flush().ok());
    }
    // Levels are made small, so that little data fills several.
    const RocksdbTuning tuning = small_levels();
    std::vector<rocksdb::ColumnFamilyHandle*> handles;
    rocksdb::DB* raw = nullptr;
    EXPECT_TRUE(rocksdb::DB::Open(tuning.database, path.string(), tuning.families, &handles, &raw).ok());
    const std::unique_ptr<rocksdb::DB> database(raw);
    for (int file = 0; file < 14; ++file) {
      for (const Family family : kSpread) {
        const uint64_t from = random.below(900);
        for (int i = 0; i < 60; ++i)
          put(*database, handles, family, key_of(from + random.below(100)), random);
      }
      EXPECT_TRUE(database->Flush(rocksdb::FlushOptions(), handles).ok());
      wait_for_compactions(*database);
    }
    note_tables(*database);
    for (const Family family : kSpread) {
      for (int i = 0; i < 20; ++i) put(*database, handles, family, key_of(random.below(1000)), random);
    }
    EXPECT_TRUE(database->SyncWAL().ok());
    for (rocksdb::ColumnFamilyHandle* handle : handles) database->DestroyColumnFamilyHandle(handle);
  }

  static void write_meta_record(Engine& engine) {
    auto batch = engine.new_batch();
    batch->put(Family::kMeta, "ring", "1");
    EXPECT_TRUE(engine.write(*batch, true).ok());
  }

  RocksdbTuning small_levels() const {
    RocksdbTuning tuning = tune_rocksdb(unsynced_env(), {.path = path, .memory_bytes = 32U << 20});
    tuning.database.avoid_flush_during_shutdown = true;
    for (rocksdb::ColumnFamilyDescriptor& family : tuning.families) {
      family.options.level_compaction_dynamic_level_bytes = false;
      family.options.level0_file_num_compaction_trigger = 3;
      family.options.max_bytes_for_level_base = 16 << 10;
      family.options.max_bytes_for_level_multiplier = 3;
      family.options.target_file_size_base = 8 << 10;
    }
    return tuning;
  }

  static void wait_for_compactions(rocksdb::DB& database) {
    const auto figure = [&](const std::string& name) {
      uint64_t value = 0;
      database.GetAggregatedIntProperty(name, &value);
      return value;
    };
    while (figure(rocksdb::DB::Properties::kCompactionPending) +
               figure(rocksdb::DB::Properties::kNumRunningCompactions) >
           0)
      std::this_thread::yield();
  }

  void put(rocksdb::DB& database, const std::vector<rocksdb::ColumnFamilyHandle*>& handles, Family family,
           const std::string& key, Random& random) {
    auto* handle = handles[static_cast<size_t>(family) + 1];
    auto& values = written[{family, key}];
    if (random.one_in(8)) {
      values.emplace_back();
      EXPECT_TRUE(database.Delete(rocksdb::WriteOptions(), handle, key).ok());
      return;
    }
    std::string value = cat(key, " ", values.size(), " ");
    while (value.size() < 200) value.push_back(static_cast<char>(random.next()));
    values.push_back(value);
    EXPECT_TRUE(database.Put(rocksdb::WriteOptions(), handle, key, value).ok());
  }

  void note_tables(rocksdb::DB& database) {
    std::vector<rocksdb::LiveFileMetaData> files;
    database.GetLiveFilesMetaData(&files);
    for (const auto& file : files) {
      const auto family = family_named(file.column_family_name);
      if (family == Family::kMeta) continue;
      TableContents contents{family, file.file_number, file.level, file.smallestkey, file.largestkey, {}};
      rocksdb::SstFileReader reader{rocksdb::Options()};
      EXPECT_TRUE(reader.Open((path / file.relative_filename).string()).ok());
      const std::unique_ptr<rocksdb::Iterator> entries(reader.NewIterator(rocksdb::ReadOptions()));
      for (entries->SeekToFirst(); entries->Valid(); entries->Next()) {
        contents.values[entries->key().ToString()] = entries->value().ToString();
      }
      tables[file.relative_filename] = std::move(contents);
    }
  }

  static Family family_named(const std::string& name) {
    if (name == "data") return Family::kData;
    if (name == "digests") return Family::kDigests;
    return name == "hints" ? Family::kHints : Family::kMeta;
  }

  // What is there is the newest, unless a table that is lost held it or hid it: then something older.
  void expect_all_but(const std::set<std::string>& lost, Engine& engine) {
    for (const auto& [where, values] : written) {
      const auto& [family, key] = where;
      SCOPED_TRACE(cat("family ", static_cast<int>(family), " ", key));
      std::string value;
      const Result<Lookup> found = engine.get(family, key, value);
      ASSERT_TRUE(found.ok()) << found.status().to_string();
      const std::string held = *found == Lookup::kFound ? value : "";
      if (held == values.back()) continue;
      bool in_lost_range = false;
      for (const std::string& name : lost) {
        const TableContents& table = tables.at(name);
        in_lost_range |= table.family == family && table.first <= key && key <= table.last;
      }
      ASSERT_TRUE(in_lost_range);
      ASSERT_TRUE(held.empty() || std::find(values.begin(), values.end(), held) != values.end());
      ASSERT_FALSE(is_elsewhere(family, key, values.back(), lost)) << "its newest value was not lost";
    }
    for (const Family family : kSpread) {
      auto cursor = engine.seek(family, "", "");
      while (cursor->valid()) cursor->next();
      ASSERT_TRUE(cursor->status().ok()) << cursor->status().to_string();
    }
  }

  bool is_elsewhere(Family family, const std::string& key, const std::string& value,
                    const std::set<std::string>& lost) const {
    if (value.empty()) return false;  // tables don't show what they erase
    for (const auto& [name, table] : tables) {
      const auto entry = table.values.find(key);
      if (table.family != family || lost.contains(name) || entry == table.values.end()) continue;
      if (entry->second == value) return true;
    }
    return false;
  }
};

enum class Damage { kFlip, kFlipNearTheEnd, kZeros, kTruncate, kExtend, kDelete };

void damage(const fs::path& file, Damage kind, Random& random) {
  if (kind == Damage::kDelete) {
    fs::remove(file);
    return;
  }
  std::string contents = read_file(file);
  const size_t size = contents.size();
  const size_t at = kind == Damage::kFlipNearTheEnd ? size - 1 - random.below(std::min<size_t>(size, 1500))
                                                    : random.below(size);
  if (kind == Damage::kZeros) contents.replace(at, std::min<size_t>(100, size - at), 100, '\0');
  if (kind == Damage::kTruncate) contents.resize(at);
  if (kind == Damage::kExtend) contents += "more";
  if (kind == Damage::kFlip || kind == Damage::kFlipNearTheEnd) {
    contents[at] = static_cast<char>(contents[at] ^ (1 << random.below(8)));
  }
  write_file(file, contents);
}

std::set<std::string> names_of(const LostRanges& ranges) {
  std::set<std::string> names;
  for (const auto& range : ranges) names.insert(fs::path(range.file).filename().string());
  return names;
}

Status settle(Engine& engine) {
  auto batch = engine.new_batch();
  batch->erase(Family::kMeta, kLostRangesKey);
  return engine.write(*batch, true);
}

Result<OpenedEngine> open_aside(const fs::path& path) {
  return open_small_rocksdb(path, OpenMode::kSetDamagedAside);
}

// Bug log B86.
TEST(RocksdbSetAside, LosesWhatTheDamagedTablesHeldAndNothingElse) {
  std::set<int> levels;
  std::set<Family> families;
  uint64_t harmless = 0;
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE(cat("seed ", seed));
    SeededRandom random(seed);
    World world(seed);
    std::set<std::string> all_lost;
    for (int time = 0; time < 3; ++time) {
      std::set<std::string> hit;
      for (uint64_t i = 1 + random.below(3); i > 0; --i) {
        auto table = world.tables.begin();
        std::advance(table, random.below(world.tables.size()));
        if (all_lost.contains(table->first) || !hit.insert(table->first).second) continue;
        damage(world.path / table->first, static_cast<Damage>(random.below(6)), random);
        levels.insert(table->second.level);
        families.insert(table->second.family);
      }
      auto opened = open_aside(world.path);
      ASSERT_TRUE(opened.ok()) << opened.status().to_string();
      EXPECT_EQ(opened->log_damage, "");
      const std::set<std::string> lost = names_of(opened->lost);
      for (const std::string& name : lost) EXPECT_TRUE(hit.contains(name)) << name << " was whole";
      harmless += hit.size() - lost.size();
      for (const auto& range : opened->lost) {
        const auto& table = world.tables.at(fs::path(range.file).filename().string());
        EXPECT_EQ(range.family, table.family);
        EXPECT_EQ(range.first, table.first);
        EXPECT_EQ(range.last, table.last);
        EXPECT_NE(range.why, "");
        EXPECT_FALSE(fs::exists(world.path / fs::path(range.file).filename()));
      }
      all_lost.insert(lost.begin(), lost.end());
      world.expect_all_but(all_lost, *opened->engine);
      ASSERT_TRUE(settle(*opened->engine).ok());
    }
    auto opened = open_aside(world.path);
    ASSERT_TRUE(opened.ok());
    EXPECT_TRUE(opened->lost.empty());
    world.expect_all_but(all_lost, *opened->engine);
  }
  EXPECT_EQ(families.size(), 3U);
  EXPECT_GE(levels.size(), 3U) << "tables stood in too few levels";
  EXPECT_LE(harmless, 4U);
}

TEST(RocksdbSetAside, TheDatabaseCompactsAndTakesWritesAfterwards) {
  World world(1);
  SeededRandom random(1);
  const std::string name = world.tables.begin()->first;
  damage(world.path / name, Damage::kFlip, random);
  {
    auto opened = open_aside(world.path);
    ASSERT_TRUE(opened.ok());
    ASSERT_EQ(names_of(opened->lost), std::set<std::string>{name});
    ASSERT_TRUE(opened->engine->flush().ok());
  }
  const RocksdbTuning tuning = world.small_levels();
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* raw = nullptr;
  ASSERT_TRUE(rocksdb::DB::Open(tuning.database, world.path.string(), tuning.families, &handles, &raw).ok());
  const std::unique_ptr<rocksdb::DB> database(raw);
  for (auto* handle : handles) {
    EXPECT_TRUE(database->CompactRange(rocksdb::CompactRangeOptions(), handle, nullptr, nullptr).ok());
    database->DestroyColumnFamilyHandle(handle);
  }
}

TEST(RocksdbSetAside, TellsWhatIsLostUntilThatIsSettled) {
  World world(2);
  SeededRandom random(2);
  const std::string first = world.tables.begin()->first, second = world.tables.rbegin()->first;
  damage(world.path / first, Damage::kTruncate, random);
  EXPECT_EQ(open_small_rocksdb(world.path).status().code(), StatusCode::kCorruption);
  EXPECT_EQ(names_of(open_aside(world.path)->lost), std::set<std::string>{first});
  EXPECT_EQ(names_of(open_small_rocksdb(world.path)->lost), std::set<std::string>{first});
  damage(world.path / second, Damage::kDelete, random);
  EXPECT_EQ(names_of(open_aside(world.path)->lost), (std::set<std::string>{first, second}));
  {
    auto opened = open_small_rocksdb(world.path);
    EXPECT_EQ(names_of(opened->lost), (std::set<std::string>{first, second}));
    EXPECT_TRUE(fs::exists(world.damaged / first));
    ASSERT_TRUE(settle(*opened->engine).ok());
  }
  EXPECT_TRUE(open_small_rocksdb(world.path)->lost.empty());
}

TEST(RocksdbSetAside, FindsNothingInAWholeDatabase) {
  World world(3);
  auto opened = open_aside(world.path);
  ASSERT_TRUE(opened.ok());
  EXPECT_TRUE(opened->lost.empty());
  EXPECT_FALSE(fs::exists(world.damaged));
  world.expect_all_but({}, *opened->engine);
}

TEST(RocksdbSetAside, MakesANewDatabaseWhereThereIsNone) {
  const TempDirectory directory;
  EXPECT_TRUE(open_aside(directory.path() / "db").ok());
}

// What a node knows of itself no other node can give back.
TEST(RocksdbSetAside, RefusesAndChangesNothingWhereANodesOwnRecordsAreDamaged) {
  World world(4);
  SeededRandom random(4);
  for (const fs::path& table : files_in(world.path, ".sst")) {
    if (!world.tables.contains(table.filename().string())) damage(table, Damage::kFlip, random);
  }
  damage(world.path / world.tables.begin()->first, Damage::kFlip, random);
  const auto before = files_in(world.path, ".sst");
  for (int time = 0; time < 2; ++time) {
    const auto refused = open_aside(world.path);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.status().code(), StatusCode::kCorruption);
    EXPECT_NE(refused.status().message().find("join the cluster anew"), std::string::npos);
    EXPECT_EQ(files_in(world.path, ".sst"), before);
  }
}

TEST(RocksdbSetAside, RefusesADatabaseThatIsOpen) {
  World world(5);
  SeededRandom random(5);
  auto opened = open_small_rocksdb(world.path);
  ASSERT_TRUE(opened.ok());
  damage(world.path / world.tables.begin()->first, Damage::kFlip, random);
  EXPECT_EQ(open_aside(world.path).status().code(), StatusCode::kUnavailable);
  EXPECT_FALSE(fs::exists(world.damaged));
}

// Dies at its n-th change: from then on nothing reaches the disk.
class DyingFileSystem final : public rocksdb::FileSystemWrapper {
 public:
  explicit DyingFileSystem(int changes_left)
      : FileSystemWrapper(std::make_shared<UnsyncedFileSystem>()), changes_left_(changes_left) {}
  const char* Name() const override { return "DyingFileSystem"; }
  bool is_dead() const { return changes_left_ < 0; }

  rocksdb::IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* file,
                                    rocksdb::IODebugContext* context) override {
    if (dies()) return dead();
    std::unique_ptr<rocksdb::FSWritableFile> inner;
    rocksdb::IOStatus status = FileSystemWrapper::NewWritableFile(name, options, &inner, context);
    if (status.ok()) *file = std::make_unique<File>(*this, std::move(inner));
    return status;
  }
  rocksdb::IOStatus DeleteFile(const std::string& name, const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* context) override {
    return dies() ? dead() : FileSystemWrapper::DeleteFile(name, options, context);
  }
  rocksdb::IOStatus RenameFile(const std::string& from, const std::string& to,
                               const rocksdb::IOOptions& options, rocksdb::IODebugContext* context) override {
    return dies() ? dead() : FileSystemWrapper::RenameFile(from, to, options, context);
  }
  rocksdb::IOStatus CreateDirIfMissing(const std::string& name, const rocksdb::IOOptions& options,
                                       rocksdb::IODebugContext* context) override {
    return dies() ? dead() : FileSystemWrapper::CreateDirIfMissing(name, options, context);
  }

 private:
  struct File final : rocksdb::FSWritableFileOwnerWrapper {
    File(DyingFileSystem& system, std::unique_ptr<rocksdb::FSWritableFile> inner)
        : FSWritableFileOwnerWrapper(std::move(inner)), system(system) {}
    using FSWritableFileOwnerWrapper::Append;
    rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions& options,
                             rocksdb::IODebugContext* context) override {
      return system.dies() ? dead() : FSWritableFileOwnerWrapper::Append(data, options, context);
    }
    DyingFileSystem& system;
  };

  bool dies() { return --changes_left_ < 0; }
  static rocksdb::IOStatus dead() { return rocksdb::IOStatus::IOError("dead"); }

  std::atomic<int> changes_left_;
};

// Whatever the moment of kill -9: a start either finds the damage where it was, or knows of the loss.
TEST(RocksdbSetAside, ALossIsNeverForgottenByAKilledStart) {
  World world(6);
  SeededRandom random(6);
  const std::set<std::string> hit = {world.tables.begin()->first, world.tables.rbegin()->first};
  for (const std::string& name : hit) damage(world.path / name, Damage::kFlip, random);
  const fs::path copy = world.directory.path() / "copy";
  bool lived = false;
  int told_plainly = 0;
  for (int changes = 0; !lived && changes < 1000; changes += 1 + changes / 20) {
    SCOPED_TRACE(cat("dies at change ", changes));
    fs::remove_all(copy);
    fs::create_directory(copy);
    fs::copy(world.path, copy / "db", fs::copy_options::recursive);
    {
      const auto system = std::make_shared<DyingFileSystem>(changes);
      const std::unique_ptr<rocksdb::Env> env = rocksdb::NewCompositeEnv(system);
      const auto killed =
          open_rocksdb_on(*env, {.path = copy / "db", .memory_bytes = 32U << 20}, OpenMode::kSetDamagedAside);
      lived = killed.ok() && !system->is_dead();
    }
    auto opened = open_small_rocksdb(copy / "db");
    if (!opened.ok() || opened->lost.empty()) {
      if (opened.ok()) opened->engine.reset();
      for (const std::string& name : hit) {
        ASSERT_TRUE(fs::exists(copy / "db" / name)) << "lost, and not told";
      }
      opened = open_aside(copy / "db");
      ASSERT_TRUE(opened.ok()) << opened.status().to_string();
    } else {
      ++told_plainly;
    }
    ASSERT_EQ(names_of(opened->lost), hit);
    for (const std::string& name : hit) EXPECT_TRUE(fs::exists(copy / "damaged" / name));
    EXPECT_FALSE(fs::exists(copy / "damaged/NOTE"));
    world.expect_all_but(hit, *opened->engine);
  }
  EXPECT_TRUE(lived);
  EXPECT_GT(told_plainly, 5);
}

}  // namespace
}  // namespace ringkv
