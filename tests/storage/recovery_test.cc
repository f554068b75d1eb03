#include "storage/recovery.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"
#include "storage/range_walk.h"
#include "tests/storage/sample_records.h"
#include "tests/storage/store_fixture.h"

namespace ringkv {
namespace {

using sample::context;
using sample::kB;
using sample::kC;

// Also those that stamped nothing, so that a peer can tell an old copy of a directory by what it lacks.
TEST(RecoverStore, RemembersEveryLifeThatTheDirectoryHasHad) {
  MemoryDisk disk;
  constexpr int kLives = 1010;
  for (int life = 1; life <= kLives; ++life) {
    MemoryEngine engine(disk);
    const Result<RecoveredStore> recovered =
        recover_store(engine, 1, {NodeId{1}, Boot{static_cast<uint64_t>(life)}});
    ASSERT_TRUE(recovered.ok());
    const std::vector<Boot>& known = recovered->known_boots;
    ASSERT_EQ(known.size(), static_cast<size_t>(std::min(life - 1, 1000)));
    ASSERT_TRUE(known.empty() || known.back() == Boot{static_cast<uint64_t>(life - 1)});
    ASSERT_TRUE(recovered->past_boots.vector.empty());
  }
}

std::vector<std::string> transient_keys(Engine& engine) {
  std::vector<std::string> keys;
  const TransientSlice slice = *transient_slice(engine, {});
  for (const TransientSlice::Entry& entry : slice.entries) {
    keys.push_back(entry.storage_key);
  }
  return keys;
}

// A store of values and tombstones with floors; closed.
void fill_store(StoreFixture& fixture) {
  for (int i = 0; i < 200; ++i) {
    const bool deleted = i % 3 == 0;
    fixture.put(cat("k", i), deleted ? "" : "v", deleted ? VersionKind::kTombstone : VersionKind::kValue);
    if (i % 20 == 0) {
      ASSERT_TRUE(fixture.commit().ok());
    }
  }
  for (Partition partition = 0; partition < kTestPartitions; ++partition) {
    fixture.store->raise_floor(partition, context({{kB, 5}}), context({{kB, 2}}));
  }
  fixture.store->raise_floors({1, 2, 3}, context({{kC, 6}}));
  ASSERT_TRUE(fixture.commit().ok());
}

void forget_digests(Engine& engine, std::string_view first, std::string_view end) {
  const std::unique_ptr<Batch> batch = engine.new_batch();
  for (auto cursor = engine.seek(Family::kDigests, first, end); cursor->valid(); cursor->next()) {
    batch->erase(Family::kDigests, cursor->key());
  }
  ASSERT_TRUE(engine.write(*batch, true).ok());
}

TEST(RebuildDerived, MakesLeavesAndTheIndexAnewFromTheRecords) {
  for (const std::string_view lost : {"", "j", "p", "t"}) {
    SCOPED_TRACE(lost);
    StoreFixture fixture;
    fill_store(fixture);
    std::vector<Leaf> leaves;
    for (LeafId id = 0; id < kTestPartitions * kLeavesPerPartition; ++id)
      leaves.push_back(fixture.store->leaves().at(id));
    const std::vector<std::string> index = transient_keys(*fixture.engine);
    const BatchNumber next = fixture.store->open_batch();

    std::string end(lost);
    if (!end.empty()) ++end.back();
    forget_digests(*fixture.engine, lost, end);
    ASSERT_TRUE(rebuild_derived(*fixture.engine, kTestPartitions, {}).ok());
    fixture.kill();
    for (LeafId id = 0; id < leaves.size(); ++id) ASSERT_EQ(fixture.store->leaves().at(id), leaves[id]) << id;
    EXPECT_EQ(transient_keys(*fixture.engine), index);
    EXPECT_TRUE(lost == "" || lost == "j" || fixture.store->open_batch() > next);

    fixture.put("another", "v");
    ASSERT_TRUE(fixture.commit().ok());
    fixture.kill();
    EXPECT_EQ(fixture.store->leaves().at(StoreFixture::place("another").leaf).keys,
              leaves[StoreFixture::place("another").leaf].keys + 1);
  }
}

TEST(RebuildDerived, LostPartitionsClaimNothingAnyMore) {
  StoreFixture fixture;
  fill_store(fixture);
  ASSERT_TRUE(rebuild_derived(*fixture.engine, kTestPartitions, {2, 7}).ok());
  fixture.kill();
  for (Partition partition = 0; partition < kTestPartitions; ++partition) {
    const bool lost = partition == 2 || partition == 7;
    EXPECT_EQ(fixture.store->floor_covers(partition, {kB, 5}), !lost) << partition;
    EXPECT_EQ(fixture.store->erased(partition).vector.empty(), lost) << partition;
  }
  EXPECT_TRUE(fixture.store->floor_covers(1, {kC, 6}));
  EXPECT_FALSE(fixture.store->floor_covers(2, {kC, 6}));
  EXPECT_TRUE(fixture.store->floor_covers(3, {kC, 6}));
}

TEST(RebuildDerived, FloorsThatCannotBeReadGo) {
  StoreFixture fixture;
  fill_store(fixture);
  const std::unique_ptr<Batch> batch = fixture.engine->new_batch();
  batch->put(Family::kDigests, "c", "nonsense");
  ASSERT_TRUE(fixture.engine->write(*batch, true).ok());
  ASSERT_FALSE(FloorTable::recover(*fixture.engine, kTestPartitions).ok());

  ASSERT_TRUE(rebuild_derived(*fixture.engine, kTestPartitions, {}).ok());
  fixture.kill();
  for (Partition partition = 0; partition < kTestPartitions; ++partition) {
    EXPECT_TRUE(fixture.store->floors().floor(partition).empty());
  }
}

// Its key is read with an error; nothing else suffers from it.
TEST(RebuildDerived, ARecordThatCannotBeReadIsLeftOut) {
  StoreFixture fixture;
  fill_store(fixture);
  const Place place = StoreFixture::place("k1");
  const Leaf before = fixture.store->leaves().at(place.leaf);
  const std::unique_ptr<Batch> batch = fixture.engine->new_batch();
  batch->put(Family::kData, place.storage_key, "nonsense");
  ASSERT_TRUE(fixture.engine->write(*batch, true).ok());
  ASSERT_TRUE(rebuild_derived(*fixture.engine, kTestPartitions, {}).ok());
  fixture.kill();
  EXPECT_EQ(fixture.store->leaves().at(place.leaf).keys, before.keys - 1);
  EXPECT_EQ(fixture.store->newest_head(place).status().code(), StatusCode::kCorruption);
}

}  // namespace
}  // namespace ringkv
