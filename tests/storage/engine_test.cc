// What every engine keeps to, over each of them.
#include "storage/engine.h"

#include <gtest/gtest.h>
#include <rocksdb/sst_file_reader.h>

#include <atomic>
#include <thread>

#include "base/random.h"
#include "base/text.h"
#include "storage/memory_engine.h"
#include "storage/rocksdb_engine.h"
#include "tests/storage/rocksdb_files.h"
#include "tests/storage/temp_directory.h"

namespace ringkv {
namespace {

using Entries = std::vector<std::pair<std::string, std::string>>;

struct OnMemory {
  MemoryDisk disk;
  Result<OpenedEngine> open(OpenMode mode) { return open_memory(disk, mode); }
  // Where all that was flushed of a family stands from `first` to `last`.
  void damage(Family family, std::string_view first, std::string_view last) {
    disk.damage(family, std::string(first), std::string(last));
  }
};

struct OnRocksdb {
  TempDirectory directory;
  Result<OpenedEngine> open(OpenMode mode) {
    return open_rocksdb({.path = directory.path() / "db", .memory_bytes = 32U << 20}, mode);
  }
  void damage(Family family, std::string_view first, std::string_view last) {
    for (const auto& table : files_in(directory.path() / "db", ".sst")) {
      rocksdb::SstFileReader reader{rocksdb::Options()};
      if (!reader.Open(table.string()).ok()) continue;
      const auto properties = reader.GetTableProperties();
      static constexpr const char* kNames[] = {"data", "digests", "hints", "meta"};
      if (properties->column_family_name != kNames[static_cast<size_t>(family)]) continue;
      const std::unique_ptr<rocksdb::Iterator> entries(reader.NewIterator(rocksdb::ReadOptions()));
      entries->SeekToFirst();
      if (!entries->Valid() || entries->key().ToStringView() != first) continue;
      entries->SeekToLast();
      if (entries->key().ToStringView() == last) flip_bits(table, 10, 1);
    }
  }
};

template <class Disk>
class EngineTest : public testing::Test {
 protected:
  void put(std::string_view key, std::string_view value, Family family = Family::kData, bool sync = false) {
    auto batch = engine_->new_batch();
    batch->put(family, key, value);
    ASSERT_TRUE(engine_->write(*batch, sync).ok());
  }
  void erase(std::string_view key) {
    auto batch = engine_->new_batch();
    batch->erase(Family::kData, key);
    ASSERT_TRUE(engine_->write(*batch, false).ok());
  }
  // The value, or "absent".
  std::string get(std::string_view key, Family family = Family::kData) {
    std::string value;
    const Result<Lookup> found = engine_->get(family, key, value);
    EXPECT_TRUE(found.ok());
    return *found == Lookup::kFound ? value : "absent";
  }
  Entries walk(std::string_view lower, std::string_view upper, Family family = Family::kData) {
    return rest_of(*engine_->seek(family, lower, upper));
  }
  static Entries rest_of(Cursor& cursor) {
    Entries entries;
    for (; cursor.valid(); cursor.next()) entries.emplace_back(cursor.key(), cursor.value());
    EXPECT_TRUE(cursor.status().ok());
    return entries;
  }
  void reopen(OpenMode mode = OpenMode::kPlain) {
    engine_.reset();
    engine_ = open(mode);
  }
  std::unique_ptr<Engine> open(OpenMode mode) {
    Result<OpenedEngine> opened = disk_.open(mode);
    EXPECT_TRUE(opened.ok()) << opened.status().to_string();
    EXPECT_EQ(opened->log_damage, "");
    lost_ = std::move(opened->lost);
    return std::move(opened->engine);
  }
  StatusCode code_of_get(std::string_view key) {
    std::string value;
    const Result<Lookup> found = engine_->get(Family::kData, key, value);
    return found.status().code();
  }
  StatusCode code_of_walk(std::string_view lower, std::string_view upper) {
    auto cursor = engine_->seek(Family::kData, lower, upper);
    while (cursor->valid()) cursor->next();
    return cursor->status().code();
  }

  Disk disk_;
  LostRanges lost_;
  std::unique_ptr<Engine> engine_ = open(OpenMode::kPlain);
};

using Engines = testing::Types<OnMemory, OnRocksdb>;
TYPED_TEST_SUITE(EngineTest, Engines);

TYPED_TEST(EngineTest, GivesBackWhatWasPutUntilItIsOverwrittenOrErased) {
  EXPECT_EQ(this->get("a"), "absent");
  this->put("a", "1");
  EXPECT_EQ(this->get("a"), "1");
  this->put("a", "2");
  EXPECT_EQ(this->get("a"), "2");
  this->erase("a");
  EXPECT_EQ(this->get("a"), "absent");
  this->erase("a");
  this->put("a", "3");
  EXPECT_EQ(this->get("a"), "3");
}

TYPED_TEST(EngineTest, TellsAnEmptyValueFromAnAbsentOne) {
  this->put("empty", "");
  std::string value = "left over";
  EXPECT_EQ(*this->engine_->get(Family::kData, "empty", value), Lookup::kFound);
  EXPECT_EQ(value, "");
  EXPECT_EQ(*this->engine_->get(Family::kData, "other", value), Lookup::kAbsent);
  EXPECT_EQ(this->walk("", ""), (Entries{{"empty", ""}}));
}

TYPED_TEST(EngineTest, TakesKeysAndValuesOfAnyBytesAndOrdersThemUnsigned) {
  const std::string zero("a\0", 2), zero_b("a\0b", 3), high("a\xFF"), all_high("\xFF\xFF");
  for (const std::string& key : {high, zero_b, all_high, std::string("a"), zero}) this->put(key, key + zero);
  EXPECT_EQ(this->walk("", ""), (Entries{{"a", "a" + zero},
                                         {zero, zero + zero},
                                         {zero_b, zero_b + zero},
                                         {high, high + zero},
                                         {all_high, all_high + zero}}));
}

TYPED_TEST(EngineTest, KeepsFamiliesApart) {
  this->put("a", "data", Family::kData);
  this->put("a", "digest", Family::kDigests);
  this->put("a", "hint", Family::kHints);
  EXPECT_EQ(this->get("a", Family::kData), "data");
  EXPECT_EQ(this->get("a", Family::kDigests), "digest");
  EXPECT_EQ(this->get("a", Family::kHints), "hint");
  EXPECT_EQ(this->get("a", Family::kMeta), "absent");
}

TYPED_TEST(EngineTest, AppliesABatchInOrderAndLeavesItEmptyForReuse) {
  auto batch = this->engine_->new_batch();
  EXPECT_TRUE(batch->empty());
  batch->put(Family::kData, "a", "1");
  batch->erase(Family::kData, "a");
  batch->erase(Family::kData, "b");
  batch->put(Family::kData, "b", "2");
  batch->put(Family::kMeta, "c", std::string(1000, 'x'));
  EXPECT_FALSE(batch->empty());
  EXPECT_GE(batch->bytes(), 1000U);
  EXPECT_EQ(this->get("b"), "absent") << "visible before it was written";
  ASSERT_TRUE(this->engine_->write(*batch, false).ok());
  EXPECT_EQ(this->get("a"), "absent");
  EXPECT_EQ(this->get("b"), "2");

  EXPECT_TRUE(batch->empty());
  this->put("b", "3");
  batch->put(Family::kData, "d", "4");
  ASSERT_TRUE(this->engine_->write(*batch, false).ok());
  EXPECT_EQ(this->get("b"), "3") << "the first batch was written twice";
}

TYPED_TEST(EngineTest, AnEngineThatIsToBeClosedReclaimsNoMore) {
  for (int i = 0; i < 1000; ++i) this->put("k" + std::to_string(i), std::string(1000, 'v'));
  this->engine_->stop_reclaiming();
  const Status status = this->engine_->reclaim(Family::kData, "k", "l");
  EXPECT_TRUE(status.ok() || status.code() == StatusCode::kUnavailable) << status.to_string();
  EXPECT_EQ(this->get("k7"), std::string(1000, 'v'));
}

// What the batch itself has put before, too; not what it puts afterwards.
TYPED_TEST(EngineTest, ErasesARangeUpToBeforeItsEnd) {
  for (const char* key : {"a", "b", "b1", "c"}) this->put(key, "old");
  this->put("b", "digest", Family::kDigests);
  auto batch = this->engine_->new_batch();
  batch->put(Family::kData, "b2", "new");
  batch->erase_range(Family::kData, "b", "c");
  batch->put(Family::kData, "b3", "new");
  ASSERT_TRUE(this->engine_->write(*batch, true).ok());
  ASSERT_TRUE(this->engine_->reclaim(Family::kData, "b", "c").ok());
  EXPECT_EQ(this->walk("", ""), (Entries{{"a", "old"}, {"b3", "new"}, {"c", "old"}}));
  EXPECT_EQ(this->get("b", Family::kDigests), "digest");
}

TYPED_TEST(EngineTest, WalksFromTheLowerBoundUpToBeforeTheUpper) {
  for (const char* key : {"a", "b", "ba", "c", "d"}) this->put(key, "");
  this->put("bb", "", Family::kMeta);
  const auto keys = [](const Entries& entries) {
    std::string all;
    for (const auto& [key, value] : entries) all += key + " ";
    return all;
  };
  EXPECT_EQ(keys(this->walk("", "")), "a b ba c d ");
  EXPECT_EQ(keys(this->walk("b", "c")), "b ba ");
  EXPECT_EQ(keys(this->walk("b0", "d")), "ba c ");
  EXPECT_EQ(keys(this->walk("c", "")), "c d ");
  EXPECT_EQ(keys(this->walk("e", "")), "");
  EXPECT_EQ(keys(this->walk("bb", "bc")), "");
  EXPECT_EQ(keys(this->walk("c", "c")), "");
}

// A cursor that stands anywhere sees exactly the entries of its first moment, whatever is written meanwhile.
TYPED_TEST(EngineTest, WalksASnapshot) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(cat("seed ", seed));
    SeededRandom random(seed);
    const auto write_some = [&] {
      for (int i = 0; i < 20; ++i) {
        const std::string key(1, static_cast<char>('a' + random.below(26)));
        random.one_in(3) ? this->erase(key) : this->put(key, cat(random.below(1000)));
      }
    };
    write_some();
    const Entries expected = this->walk("c", "x");
    auto cursor = this->engine_->seek(Family::kData, "c", "x");
    Entries seen;
    while (cursor->valid()) {
      seen.emplace_back(cursor->key(), cursor->value());
      if (random.one_in(2)) write_some();
      cursor->next();
    }
    EXPECT_EQ(seen, expected);
  }
}

TYPED_TEST(EngineTest, SkipsToTheFirstEntryThatIsNotBelow) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(cat("seed ", seed));
    SeededRandom random(seed);
    const auto write_some = [&] {
      for (int i = 0; i < 15; ++i) {
        const std::string key(1, static_cast<char>('a' + random.below(26)));
        random.one_in(3) ? this->erase(key) : this->put(key, cat(random.below(1000)));
      }
    };
    write_some();
    Entries left = this->walk("b", "y");
    auto cursor = this->engine_->seek(Family::kData, "b", "y");
    while (cursor->valid()) {
      ASSERT_FALSE(left.empty());
      ASSERT_EQ(cursor->key(), left.front().first);
      ASSERT_EQ(cursor->value(), left.front().second);
      if (random.one_in(2)) write_some();
      const std::string to(1, static_cast<char>(left.front().first.front() + 1 + random.below(3)));
      std::erase_if(left, [&](const auto& entry) { return entry.first < to; });
      cursor->skip_to(to);
    }
    EXPECT_TRUE(cursor->status().ok());
    EXPECT_TRUE(left.empty());
    if (this->HasFailure()) return;
  }
}

TYPED_TEST(EngineTest, KeepsSyncedDataOverAReopen) {
  this->put("buffered", "1");
  this->put("synced", "2", Family::kData, true);
  this->put("meta", "3", Family::kMeta, true);
  this->reopen();
  EXPECT_EQ(this->get("buffered"), "1");
  EXPECT_EQ(this->get("synced"), "2");
  EXPECT_EQ(this->get("meta", Family::kMeta), "3");
  ASSERT_TRUE(this->engine_->flush().ok());
  this->put("after", "4", Family::kData, true);
  this->reopen();
  EXPECT_EQ(this->get("synced"), "2");
  EXPECT_EQ(this->get("after"), "4");
}

TYPED_TEST(EngineTest, CachedLookUpsAgreeOrWouldBlock) {
  this->put("a", "1");
  std::string value;
  EXPECT_EQ(*this->engine_->get_cached(Family::kData, "a", value), Lookup::kFound) << "just written";
  EXPECT_EQ(value, "1");
  ASSERT_TRUE(this->engine_->flush().ok());
  this->reopen();
  EXPECT_NE(*this->engine_->get_cached(Family::kData, "a", value), Lookup::kAbsent);
  EXPECT_EQ(this->get("a"), "1");
  value.clear();
  EXPECT_EQ(*this->engine_->get_cached(Family::kData, "a", value), Lookup::kFound) << "just read";
  EXPECT_EQ(value, "1");
}

// Readers on other threads never see half a batch.
TYPED_TEST(EngineTest, MayBeReadOnAnyThreadWhileItIsWritten) {
  this->put("a", "0");
  this->put("b", "0");
  std::atomic<bool> done = false;
  std::atomic<int> mixed = 0;
  std::thread reader([&] {
    while (!done) {
      const Entries both = this->walk("", "");
      if (both.size() != 2 || both[0].second != both[1].second) ++mixed;
    }
  });
  for (int i = 1; i <= 500; ++i) {
    auto batch = this->engine_->new_batch();
    batch->put(Family::kData, "a", cat(i));
    batch->put(Family::kData, "b", cat(i));
    ASSERT_TRUE(this->engine_->write(*batch, false).ok());
  }
  done = true;
  reader.join();
  EXPECT_EQ(mixed, 0);
}

TYPED_TEST(EngineTest, NeverServesADamagedRangeAndLosesItAloneWhenItIsSetAside) {
  for (const char* key : {"b", "c", "d"}) this->put(key, cat("old ", key));
  ASSERT_TRUE(this->engine_->flush().ok());
  this->reopen();  // nothing of it is in memory
  this->disk_.damage(Family::kData, "b", "d");
  this->put("a", "1");
  this->put("c", "new");

  EXPECT_EQ(this->code_of_get("b"), StatusCode::kCorruption);
  EXPECT_EQ(this->code_of_walk("", ""), StatusCode::kCorruption);
  EXPECT_EQ(this->code_of_walk("bb", "cc"), StatusCode::kCorruption);
  EXPECT_EQ(this->get("a"), "1");
  EXPECT_EQ(this->get("c"), "new");

  this->reopen(OpenMode::kSetDamagedAside);
  ASSERT_EQ(this->lost_.size(), 1U);
  EXPECT_EQ(this->lost_[0].family, Family::kData);
  EXPECT_EQ(this->lost_[0].first, "b");
  EXPECT_EQ(this->lost_[0].last, "d");
  EXPECT_EQ(this->walk("", ""), (Entries{{"a", "1"}, {"c", "new"}}));
  EXPECT_EQ(this->get("b"), "absent");
  this->put("b", "again");

  this->reopen();
  EXPECT_EQ(this->lost_.size(), 1U) << "told until it is settled";
  auto batch = this->engine_->new_batch();
  batch->erase(Family::kMeta, kLostRangesKey);
  ASSERT_TRUE(this->engine_->write(*batch, true).ok());
  this->reopen(OpenMode::kSetDamagedAside);
  EXPECT_TRUE(this->lost_.empty());
  EXPECT_EQ(this->get("b"), "again");
}

TYPED_TEST(EngineTest, RefusesToOpenWithoutTheNodesOwnRecords) {
  this->put("ring", "1", Family::kMeta);
  this->put("a", "1");
  ASSERT_TRUE(this->engine_->flush().ok());
  this->disk_.damage(Family::kMeta, "ring", "ring");
  this->disk_.damage(Family::kData, "a", "a");
  this->engine_.reset();
  for (int time = 0; time < 2; ++time) {
    EXPECT_EQ(this->disk_.open(OpenMode::kSetDamagedAside).status().code(), StatusCode::kCorruption);
  }
}

TYPED_TEST(EngineTest, KnowsItsDisk) {
  EXPECT_GT(this->engine_->disk_free_bytes(), 0U);
  EXPECT_GE(this->engine_->disk_size_bytes(), this->engine_->disk_free_bytes());
  EXPECT_FALSE(this->engine_->statistics().empty());
}

}  // namespace
}  // namespace ringkv
