#include "storage/memory_engine.h"

#include <gtest/gtest.h>

#include <set>

#include "base/text.h"

namespace ringkv {
namespace {

Status put(Engine& engine, std::string_view key, std::string_view value, bool sync = false) {
  auto batch = engine.new_batch();
  batch->put(Family::kData, key, value);
  return engine.write(*batch, sync);
}

std::string get(Engine& engine, std::string_view key) {
  std::string value;
  const Result<Lookup> found = engine.get(Family::kData, key, value);
  if (!found.ok()) return found.status().to_string();
  return *found == Lookup::kFound ? value : "absent";
}

std::map<std::string, std::string> contents(MemoryDisk& disk) {
  MemoryEngine engine(disk);
  std::map<std::string, std::string> all;
  for (auto cursor = engine.seek(Family::kData, "", ""); cursor->valid(); cursor->next()) {
    all.emplace(cursor->key(), cursor->value());
  }
  return all;
}

TEST(MemoryDisk, KeepsUnsyncedBatchesWhenOnlyTheProcessDies) {
  MemoryDisk disk;
  { ASSERT_TRUE(put(*std::make_unique<MemoryEngine>(disk), "a", "1").ok()); }
  EXPECT_EQ(contents(disk), (std::map<std::string, std::string>{{"a", "1"}}));
}

// What survives a power cut is what a log would hold: all that was synced, and the batches after it up to
// some point, each whole.
TEST(MemoryDisk, APowerCutLeavesAPrefixOfWholeBatchesThatHoldsAllThatWasSynced) {
  std::set<size_t> unsynced_survivors;
  for (uint64_t seed = 1; seed <= 500; ++seed) {
    SCOPED_TRACE(cat("seed ", seed));
    SeededRandom random(seed);
    MemoryDisk disk;
    std::vector<std::map<std::string, std::string>> states = {{}};
    size_t synced = 0;
    {
      MemoryEngine engine(disk);
      for (size_t n = 1; n <= 20; ++n) {
        auto batch = engine.new_batch();
        std::map<std::string, std::string> state = states.back();
        for (uint64_t i = random.below(4) + 1; i > 0; --i) {
          const std::string key = cat(random.below(8));
          if (random.one_in(3)) {
            batch->erase(Family::kData, key);
            state.erase(key);
          } else {
            batch->put(Family::kData, key, cat(n));
            state[key] = cat(n);
          }
        }
        const bool sync = random.one_in(8);
        if (sync) synced = n;
        ASSERT_TRUE(engine.write(*batch, sync).ok());
        states.push_back(state);
      }
      EXPECT_EQ(disk.unsynced_batches(), 20 - synced);
    }
    disk.crash(random);
    const auto survived = contents(disk);
    const auto match = std::find(states.begin() + static_cast<ptrdiff_t>(synced), states.end(), survived);
    ASSERT_NE(match, states.end());
    unsynced_survivors.insert(static_cast<size_t>(match - states.begin()) - synced);
    disk.crash(random);
    EXPECT_EQ(contents(disk), survived) << "a second cut took something that was on disk";
  }
  EXPECT_GT(unsynced_survivors.size(), 10U) << "cuts are hardly random";
}

TEST(MemoryDisk, FailsTheNthCallAndThenFencesTheEngine) {
  MemoryDisk disk;
  {
    MemoryEngine engine(disk);
    disk.fail(DiskCall::kWrite, 2, DiskError::kNoSpace);
    EXPECT_TRUE(put(engine, "a", "1").ok());
    EXPECT_EQ(put(engine, "b", "2").code(), StatusCode::kOutOfSpace);
    EXPECT_EQ(put(engine, "c", "3").code(), StatusCode::kUnavailable) << "written after a failure";
    EXPECT_EQ(engine.flush().code(), StatusCode::kUnavailable);
    EXPECT_EQ(get(engine, "a"), "1");
  }
  EXPECT_EQ(contents(disk), (std::map<std::string, std::string>{{"a", "1"}}));
}

// fsync failed, so the engine doesn't show the batch; but the log holds it.
TEST(MemoryDisk, ABatchWhoseSyncFailedMayTurnUpAfterTheReopen) {
  bool survived = false, lost = false;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    MemoryDisk disk;
    {
      MemoryEngine engine(disk);
      disk.fail(DiskCall::kSync, 1, DiskError::kInputOutput);
      EXPECT_TRUE(put(engine, "a", "1").ok()) << "nothing was to be synced";
      EXPECT_EQ(put(engine, "a", "2", true).code(), StatusCode::kUnavailable);
      EXPECT_EQ(get(engine, "a"), "1");
    }
    EXPECT_EQ(contents(*disk.copy())["a"], "2");
    SeededRandom random(seed);
    disk.crash(random);
    const std::string after = contents(disk)["a"];
    survived |= after == "2";
    lost |= after != "2";
  }
  EXPECT_TRUE(survived);
  EXPECT_TRUE(lost);
}

TEST(MemoryDisk, FailsAReadOnceAndServesTheNext) {
  MemoryDisk disk;
  MemoryEngine engine(disk);
  ASSERT_TRUE(put(engine, "a", "1").ok());
  disk.fail(DiskCall::kGet, 1, DiskError::kInputOutput);
  EXPECT_NE(get(engine, "a").find("UNAVAILABLE"), std::string::npos);
  EXPECT_EQ(get(engine, "a"), "1");

  disk.fail(DiskCall::kGet, 1, DiskError::kInputOutput);
  const auto cursor = engine.seek(Family::kData, "", "");
  EXPECT_FALSE(cursor->valid());
  EXPECT_EQ(cursor->status().code(), StatusCode::kUnavailable);
}

TEST(MemoryDisk, SendsAShareOfCachedLookUpsToTheWorkers) {
  MemoryDisk disk;
  MemoryEngine engine(disk);
  ASSERT_TRUE(put(engine, "a", "1").ok());
  disk.set_blocking_share(0.25, 7);
  int blocked = 0;
  for (int i = 0; i < 1000; ++i) {
    std::string value;
    const Lookup found = *engine.get_cached(Family::kData, "a", value);
    ASSERT_NE(found, Lookup::kAbsent);
    if (found == Lookup::kWouldBlock) ++blocked;
  }
  EXPECT_GT(blocked, 200);
  EXPECT_LT(blocked, 300);
}

TEST(MemoryDisk, ACopyLivesItsOwnLifeAndIsSynced) {
  MemoryDisk disk;
  std::unique_ptr<MemoryDisk> backup;
  {
    MemoryEngine engine(disk);
    ASSERT_TRUE(put(engine, "a", "1").ok());
    backup = disk.copy();
    ASSERT_TRUE(put(engine, "a", "2").ok());
  }
  SeededRandom random(1);
  backup->crash(random);
  EXPECT_EQ(contents(*backup)["a"], "1");
  EXPECT_EQ(contents(disk)["a"], "2");
  disk.wipe();
  EXPECT_TRUE(contents(disk).empty());
  EXPECT_EQ(contents(*backup)["a"], "1");
}

// Garbage behind what survives: said by the next opening, and by no other.
TEST(MemoryDisk, ATornLogIsWholeUpToTheTearAndSaysSoOnce) {
  SeededRandom random(1);
  for (int i = 0; i < 20; ++i) {
    MemoryDisk disk;
    {
      MemoryEngine engine(disk);
      ASSERT_TRUE(put(engine, "a", "1", true).ok());
      ASSERT_TRUE(put(engine, "b", "2").ok());
    }
    disk.crash(random, true);
    Result<OpenedEngine> opened = open_memory(disk);
    ASSERT_TRUE(opened.ok());
    EXPECT_EQ(get(*opened->engine, "a"), "1");
    const bool torn = get(*opened->engine, "b") == "absent";
    EXPECT_EQ(opened->log_damage.empty(), !torn);
    opened->engine.reset();
    EXPECT_EQ(open_memory(disk)->log_damage, "");
  }
}

TEST(MemoryDisk, OfAFileOneBlockMayBeUnreadableAndTheWholeFileIsLostWithIt) {
  MemoryDisk disk;
  {
    MemoryEngine engine(disk);
    for (const char* key : {"b", "c", "d", "e", "z"}) ASSERT_TRUE(put(engine, key, cat("old ", key)).ok());
    ASSERT_TRUE(disk.damage_block(Family::kData, "b", "f", "bb"));
    ASSERT_TRUE(put(engine, "e", "new").ok());
    EXPECT_EQ(get(engine, "b"), "old b");
    EXPECT_NE(get(engine, "c").find("CORRUPTION"), std::string::npos);
    EXPECT_NE(get(engine, "cc").find("CORRUPTION"), std::string::npos);
    EXPECT_EQ(get(engine, "e"), "new");
    EXPECT_TRUE(engine.seek(Family::kData, "e", "")->status().ok());
    EXPECT_EQ(engine.seek(Family::kData, "bc", "")->status().code(), StatusCode::kCorruption);
  }
  ASSERT_EQ(open_memory(disk, OpenMode::kSetDamagedAside)->lost.size(), 1U);
  EXPECT_EQ(contents(disk), (std::map<std::string, std::string>{{"e", "new"}, {"z", "old z"}}));
}

TEST(MemoryDisk, WhereNothingIsStoredNoBlockIsDamaged) {
  MemoryDisk disk;
  { ASSERT_TRUE(put(*std::make_unique<MemoryEngine>(disk), "z", "1").ok()); }
  EXPECT_FALSE(disk.damage_block(Family::kData, "b", "f", "c"));
  EXPECT_TRUE(open_memory(disk, OpenMode::kSetDamagedAside)->lost.empty());
}

TEST(MemoryDisk, ReportsTheSpaceThatTheTestGivesIt) {
  MemoryDisk disk;
  MemoryEngine engine(disk);
  disk.set_space({.free_bytes = 10, .size_bytes = 100});
  EXPECT_EQ(engine.disk_free_bytes(), 10U);
  EXPECT_EQ(engine.disk_size_bytes(), 100U);
}

}  // namespace
}  // namespace ringkv
