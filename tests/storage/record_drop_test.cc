// A partition whose data a node lets go, and what it claims there afterwards.
#include <gtest/gtest.h>

#include "storage/range_walk.h"
#include "tests/storage/sample_records.h"
#include "tests/storage/store_fixture.h"

namespace ringkv {
namespace {

using sample::context;
using sample::kB;

// Keys of one partition, and one of another.
struct Drop {
  Drop() {
    for (int i = 0; keys.size() < 5; ++i) {
      const std::string key = "k" + std::to_string(i);
      if (StoreFixture::place(key).partition == kPartition) keys.push_back(key);
      if (other.empty() && StoreFixture::place(key).partition == kPartition + 1) other = key;
    }
  }
  void put_all(VersionKind kind = VersionKind::kValue) {
    const std::string value = kind == VersionKind::kTombstone ? "" : "v";
    for (const std::string& key : keys) last = fixture.put(key, value, kind);
    fixture.put(other, "stays");
    EXPECT_TRUE(fixture.commit().ok());
  }
  void drop() {
    fixture.store->drop(kPartition, fixture.store->own_lives().vector);
    EXPECT_TRUE(fixture.store->is_dropping(kPartition));
    EXPECT_TRUE(fixture.commit().ok());
    EXPECT_FALSE(fixture.store->is_dropping(kPartition));
  }
  size_t records(Family family) const {
    size_t count = 0;
    for (auto cursor = fixture.engine->seek(family, "", ""); cursor->valid(); cursor->next())
      count += family == Family::kData || cursor->key().front() == transient_key("").front() ? 1 : 0;
    return count;
  }

  static constexpr Partition kPartition = kTestPartitions - 1 - 1;
  StoreFixture fixture;
  std::vector<std::string> keys;
  std::string other;
  Dot last;
};

TEST(RecordDrop, TakesRecordsDigestsAndFloorAndNothingElse) {
  Drop drop;
  drop.put_all(VersionKind::kTombstone);
  drop.fixture.store->raise_floor(Drop::kPartition, context({{kB, 7}}), context({{kB, 2}}));
  const Leaf other = drop.fixture.store->leaves().partition_total(Drop::kPartition + 1);
  EXPECT_EQ(drop.records(Family::kDigests), drop.keys.size());
  drop.drop();
  for (int life = 0; life < 2; ++life) {
    EXPECT_EQ(drop.records(Family::kData), 1U);
    EXPECT_EQ(drop.records(Family::kDigests), 0U);
    EXPECT_EQ(drop.fixture.store->leaves().partition_total(Drop::kPartition), Leaf());
    EXPECT_EQ(drop.fixture.store->leaves().partition_total(Drop::kPartition + 1), other);
    EXPECT_FALSE(drop.fixture.store->floor_covers(Drop::kPartition, {kB, 1}));
    EXPECT_TRUE(drop.fixture.store->erased(Drop::kPartition).vector.empty());
    drop.fixture.kill();
  }
}

TEST(RecordDrop, ForgetsWhatIsRememberedOfItsKeys) {
  Drop drop;
  drop.put_all();
  drop.drop();
  for (const std::string& key : drop.keys)
    EXPECT_TRUE((*drop.fixture.store->newest_head(StoreFixture::place(key)))->absent()) << key;
  EXPECT_FALSE((*drop.fixture.store->newest_head(StoreFixture::place(drop.other)))->absent());
}

// What it stamped there before may lie elsewhere, and come back: it is news.
TEST(RecordDrop, TheOwnLivesClaimNothingThereUntilARoundSaysSo) {
  Drop drop;
  drop.put_all();
  RecordStore* store = drop.fixture.store.get();
  ASSERT_TRUE(store->floor_covers(Drop::kPartition, drop.last));
  drop.drop();
  EXPECT_FALSE(store->floor_covers(Drop::kPartition, drop.last));
  EXPECT_EQ(store->floor(Drop::kPartition).vector.counter_of(drop.last.actor), 0U);
  EXPECT_TRUE(store->floor_covers(Drop::kPartition + 1, drop.last));

  drop.fixture.kill();
  store = drop.fixture.store.get();
  EXPECT_FALSE(store->floor_covers(Drop::kPartition, drop.last)) << "as a past life neither";
  EXPECT_EQ(store->floor(Drop::kPartition).vector.counter_of(drop.last.actor), 0U);
  const Dot next = drop.fixture.put(drop.keys[0], "new");
  EXPECT_TRUE(store->floor_covers(Drop::kPartition, next)) << "this life has stamped nothing there before";

  store->raise_floor(Drop::kPartition, context({{drop.last.actor, drop.last.counter - 1}}), {});
  EXPECT_FALSE(store->floor_covers(Drop::kPartition, drop.last));
  EXPECT_TRUE(store->floor_covers(Drop::kPartition, {drop.last.actor, 1}));
  const VersionVector all = context({{drop.last.actor, drop.last.counter + 1}}).vector;
  store->raise_floor(Drop::kPartition, {.vector = all}, {});
  EXPECT_TRUE(store->floor_covers(Drop::kPartition, drop.last));
  EXPECT_FALSE(store->floors().is_limited(Drop::kPartition));
}

// Filled with past lives it would claim what isn't there.
TEST(RecordDrop, NoContextIsStrippedThere) {
  Drop drop;
  for (int life = 0; life < 12; ++life) {
    drop.put_all();
    drop.fixture.kill();
  }
  drop.put_all();
  ASSERT_TRUE(drop.fixture.read(drop.keys[0]).context.stripped);
  drop.drop();
  const Place place = StoreFixture::place(drop.keys[0]);
  Record record;
  record.versions.push_back({.dot = {kB, 1}, .value = "v"});
  for (uint64_t life = 1; life <= 12; ++life) record.context.vector.raise({NodeId{1}, Boot{1000 + life}}, 1);
  drop.fixture.store->stage(place, drop.fixture.store->encoded(place, drop.keys[0], record), {});
  ASSERT_TRUE(drop.fixture.commit().ok());
  EXPECT_FALSE(drop.fixture.read(drop.keys[0]).context.stripped);
}

}  // namespace
}  // namespace ringkv
