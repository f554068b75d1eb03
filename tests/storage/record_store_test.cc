#include "storage/record_store.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/storage/sample_records.h"
#include "tests/storage/store_fixture.h"

namespace ringkv {
namespace {

// Every leaf computed anew from the data, as a scrub would.
LeafTable leaves_of_data(StoreFixture& fixture) {
  LeafTable leaves(kTestPartitions);
  const RecordHasher hasher(std::string(32, 's'));
  const std::unique_ptr<Cursor> cursor = fixture.engine->seek(Family::kData, "", "");
  for (; cursor->valid(); cursor->next()) {
    const std::string key(cursor->key().substr(9));
    const Place place = StoreFixture::place(key);
    const Record record = *decode_record(cursor->value());
    Leaf leaf = leaves.at(place.leaf);
    leaf.hash ^= hasher.hash(place.digest, record);
    const uint64_t bytes = content_bytes(key, record);
    leaf.keys += bytes > 0 ? 1 : 0;
    leaf.bytes += bytes;
    leaves.set(place.leaf, leaf);
  }
  return leaves;
}

void expect_exact_leaves(StoreFixture& fixture) {
  const LeafTable expected = leaves_of_data(fixture);
  for (Partition partition = 0; partition < kTestPartitions; ++partition) {
    EXPECT_EQ(fixture.store->leaves().partition_total(partition), expected.partition_total(partition))
        << partition;
  }
}

TEST(RecordStore, AStampSeesEveryEarlierOneCommittedOrNot) {
  StoreFixture fixture;
  const Dot first = fixture.put("k", "1");
  EXPECT_EQ((*fixture.store->newest_head(StoreFixture::place("k")))->dots, std::vector{first});

  const Dot second = fixture.put("k", "2");
  const RecordHead head = **fixture.store->newest_head(StoreFixture::place("k"));
  EXPECT_EQ(head.dots, std::vector{second});
  EXPECT_TRUE(head.context.covers(first));
}

TEST(RecordStore, WhatIsStagedWhileABatchIsUnderWayIsSeenAndCommittedWithTheNext) {
  StoreFixture fixture;
  fixture.put("k", "1");
  const Commit under_way = fixture.store->take();
  const Dot second = fixture.put("k", "2");
  EXPECT_EQ(fixture.store->being_written(StoreFixture::place("k")), under_way.number);
  EXPECT_EQ(fixture.store->pending(StoreFixture::place("k")), under_way.number + 1);

  ASSERT_TRUE(fixture.engine->write(*under_way.batch, true).ok());
  fixture.store->committed(under_way);
  EXPECT_EQ(fixture.store->being_written(StoreFixture::place("k")), 0U);
  EXPECT_EQ(fixture.read("k").versions[0].value, "1");
  EXPECT_EQ((*fixture.store->newest_head(StoreFixture::place("k")))->dots, std::vector{second});

  ASSERT_TRUE(fixture.commit().ok());
  EXPECT_EQ(fixture.read("k").versions[0].value, "2");
  EXPECT_EQ(fixture.store->pending(StoreFixture::place("k")), 0U);
}

TEST(RecordStore, LeavesAreExactAfterKillNine) {
  StoreFixture fixture;
  for (int round = 0; round < 40; ++round) {
    for (int i = 0; i < 7; ++i)
      fixture.put("k" + std::to_string((round * 3 + i) % 50), std::to_string(round));
    ASSERT_TRUE(fixture.commit(round % 3 == 0).ok());
    if (round % 5 == 4) fixture.kill();
    expect_exact_leaves(fixture);
  }
  EXPECT_EQ(fixture.store->leaves().keys(), 50U);
}

TEST(RecordStore, LeavesAreExactAfterAPowerCutWithALostTail) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    SeededRandom random(seed);
    StoreFixture fixture;
    for (int round = 0; round < 30; ++round) {
      for (uint64_t i = random.below(5); i > 0; --i) {
        const auto kind = random.one_in(5) ? VersionKind::kTombstone : VersionKind::kValue;
        fixture.put("k" + std::to_string(random.below(30)), kind == VersionKind::kValue ? "v" : "", kind);
      }
      if (fixture.store->has_staged()) {
        ASSERT_TRUE(fixture.commit(random.one_in(4)).ok());
      }
      if (!random.one_in(8)) continue;
      fixture.close();
      fixture.disk.crash(random);
      fixture.open();
      expect_exact_leaves(fixture);
    }
  }
}

// Row B93: nothing that survived is ever claimed by a later life, whatever it lost.
TEST(RecordStore, NoDotIsEverStampedTwice) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(seed);
    SeededRandom random(seed);
    StoreFixture fixture;
    std::set<Dot> seen;
    for (int i = 0; i < 100; ++i) {
      EXPECT_TRUE(seen.insert(fixture.put("k" + std::to_string(random.below(3)), "v")).second);
      if (random.one_in(3)) {
        ASSERT_TRUE(fixture.commit(random.one_in(2)).ok());
      }
      if (!random.one_in(10)) continue;
      fixture.close();
      if (random.one_in(2)) fixture.disk.crash(random);
      if (random.one_in(10)) fixture.disk.wipe();
      fixture.open();
    }
  }
}

// The floor says what this disk can vouch for, and no more: earlier lives up to what the log proves.
TEST(RecordStore, TheFloorOfAnEarlierLifeEndsWhereItsLogEnds) {
  StoreFixture fixture;
  const Dot kept = fixture.put("a", "1");
  ASSERT_TRUE(fixture.commit().ok());
  const Dot lost = fixture.put("b", "2");
  ASSERT_TRUE(fixture.commit(false).ok());
  fixture.close();
  class LoseAll final : public Random {
    uint64_t next() override { return 0; }
  } lose_all;
  fixture.disk.crash(lose_all);
  fixture.open();

  const Floor floor = fixture.store->floor(0);
  EXPECT_TRUE(floor.covers(kept));
  EXPECT_FALSE(floor.covers(lost));
  EXPECT_EQ(fixture.read("a").versions.size(), 1U);
  EXPECT_TRUE(fixture.read("b").versions.empty());
}

// Row B98, as far as one node goes: a key written in life after life doesn't carry them all.
TEST(RecordStore, AContextStaysShortOverManyLivesAndIsFilledFromTheFloor) {
  StoreFixture fixture;
  std::vector<Dot> dots;
  for (int life = 0; life < 100; ++life) {
    dots.push_back(fixture.put("k", std::to_string(life)));
    ASSERT_TRUE(fixture.commit().ok());
    fixture.kill();
  }
  Record record = fixture.read("k");
  EXPECT_EQ(record.versions.size(), 1U);
  EXPECT_LE(record.context.vector.entries().size(), 9U);
  EXPECT_TRUE(record.context.stripped);
  fill(record.context, fixture.store->floor(StoreFixture::place("k").partition));
  for (const Dot& dot : dots) EXPECT_TRUE(record.context.covers(dot));
}

// Hybrid times only rise, over restarts too, whatever the clock says.
TEST(RecordStore, TheFloorsTimeCoversEverythingThatWasStamped) {
  StoreFixture fixture;
  fixture.put("k", "1");
  ASSERT_TRUE(fixture.commit().ok());
  const HybridTime time = fixture.read("k").versions[0].time;
  EXPECT_GE(fixture.store->floor(0).highest_time, time);
  fixture.kill();
  EXPECT_GE(fixture.store->floor(0).highest_time, time);
}

TEST(RecordStore, AKeyWhoseOnlyVersionIsATombstoneIsNotCounted) {
  StoreFixture fixture;
  fixture.put("k", "v");
  EXPECT_EQ(fixture.store->leaves().keys(), 1U);
  fixture.put("k", "", VersionKind::kTombstone);
  EXPECT_EQ(fixture.store->leaves().keys(), 0U);
  EXPECT_EQ(fixture.store->leaves().bytes(), 0U);
  EXPECT_NE(fixture.store->leaves().partition_total(StoreFixture::place("k").partition).hash, Hash128());
}

TEST(RecordStore, WhatTheCacheDoesNotHoldIsReadFromTheEngine) {
  StoreFixture fixture;
  const Dot dot = fixture.put("k", "v");
  ASSERT_TRUE(fixture.commit().ok());
  fixture.kill();  // the cache is empty
  EXPECT_EQ((*fixture.store->newest_head(StoreFixture::place("k")))->dots, std::vector{dot});

  fixture.kill();
  fixture.disk.set_blocking_share(1, 1);
  EXPECT_FALSE(fixture.store->newest_head(StoreFixture::place("k"))->has_value());
}

TEST(RecordStore, ACommittedHeadIsThatOfNoWriteUnderWay) {
  StoreFixture fixture;
  fixture.put("k", "1");
  EXPECT_FALSE(fixture.store->committed_head(StoreFixture::place("k")));
  ASSERT_TRUE(fixture.commit().ok());
  const std::optional<RecordHead> head = fixture.store->committed_head(StoreFixture::place("k"));
  ASSERT_TRUE(head);
  EXPECT_EQ(head->dots, sample::dots_of(fixture.read("k")));
  fixture.put("k", "2");
  EXPECT_FALSE(fixture.store->committed_head(StoreFixture::place("k")));
}

TEST(RecordStore, ASyncWithNothingToWritePutsOnDiskWhatWasBuffered) {
  StoreFixture fixture;
  EXPECT_TRUE(fixture.store->is_synced());
  fixture.put("k", "v");
  ASSERT_TRUE(fixture.commit(false).ok());
  EXPECT_FALSE(fixture.store->is_synced());
  EXPECT_FALSE(fixture.store->has_staged());
  fixture.store->require_sync();
  EXPECT_TRUE(fixture.store->has_staged());
  ASSERT_TRUE(fixture.commit(false).ok());
  EXPECT_TRUE(fixture.store->is_synced());
  EXPECT_EQ(fixture.disk.unsynced_batches(), 0U);
}

}  // namespace
}  // namespace ringkv
