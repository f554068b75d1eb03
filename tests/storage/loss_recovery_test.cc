#include "storage/loss_recovery.h"

#include <gtest/gtest.h>

#include <set>

#include "base/text.h"
#include "storage/range_walk.h"
#include "storage/storage_key.h"
#include "tests/storage/store_fixture.h"

namespace ringkv {
namespace {

constexpr NodeId kSelf{1};
constexpr NodeId kPeer{2};

std::string key_of(uint64_t number) { return cat("key ", number); }

struct Earlier {
  std::string bytes;
  CausalContext context;  // in full
};

// Of what this node's lives had stamped, all that must be known of an old version: what lives had stamped
// before the last of those that are named beside it.
bool covers_what_is_certain(const CausalContext& context, const Earlier& earlier) {
  const RecordHead head = *decode_record_head(earlier.bytes);
  Boot last{};
  const auto name = [&](const Actor& actor) {
    if (actor.node == kSelf) last = std::max(last, actor.boot);
  };
  for (const Dot& dot : head.dots) name(dot.actor);
  for (const auto& entry : head.context.vector.entries()) name(entry.actor);
  for (const auto& entry : earlier.context.vector.entries()) {
    const bool certain = entry.actor.node != kSelf || entry.actor.boot < last;
    if (certain && context.vector.counter_of(entry.actor) < entry.counter) return false;
  }
  return true;
}

// A store whose table files are damaged now and then, and what a whole owner elsewhere holds of the same
// keys.
class LosingStore {
 public:
  explicit LosingStore(uint64_t seed) : random_(seed) { EXPECT_TRUE(open().ok()); }

  void write_some() {
    for (int i = 0; i < 12; ++i) {
      const std::string key = key_of(random_.below(40));
      const Place place = StoreFixture::place(key);
      const RecordHead before = **store->newest_head(place);
      Record current = peer[key];
      Stamp stamp;
      stamp.version = {.dot = next_dot(),
                       .kind = random_.one_in(5) ? VersionKind::kTombstone : VersionKind::kValue,
                       .time = ++time_};
      if (stamp.version.kind == VersionKind::kValue) stamp.version.value = cat(key, " ", time_);
      if (random_.one_in(4)) stamp.context = CausalContext();  // leaves what is there beside it
      if (current.versions.size() > 4) stamp.context.reset();
      peer[key] = stamped(current, stamp, Conflict::kSiblings);
      store->stage(place, store->encoded(place, key, peer[key]), before);
    }
    commit();
    // What an old table holds.
    for (auto cursor = engine->seek(Family::kData, "", ""); cursor->valid(); cursor->next()) {
      Record record = *decode_record(cursor->value());
      store->restore(record.context);
      earlier_[std::string(cursor->key())].push_back({std::string(cursor->value()), record.context});
    }
  }

  // The records from one key to another are lost; of some of them an older version is back.
  LostRanges damage() {
    returned.clear();
    std::string first = StoreFixture::place(key_of(random_.below(40))).storage_key;
    std::string last = random_.one_in(2) ? first : StoreFixture::place(key_of(random_.below(40))).storage_key;
    if (last < first) std::swap(first, last);
    disk.damage(Family::kData, first, last);
    close();
    Result<OpenedEngine> opened = open_memory(disk, OpenMode::kSetDamagedAside);
    EXPECT_TRUE(opened.ok());
    const std::unique_ptr<Batch> batch = opened->engine->new_batch();
    for (auto& [key, values] : earlier_) {
      if (key < first || last < key || values.empty()) continue;
      if (!random_.one_in(2)) continue;
      const Earlier& back = values[random_.below(values.size())];
      batch->put(Family::kData, key, back.bytes);
      returned[key] = back;
    }
    EXPECT_TRUE(opened->engine->write(*batch, true).ok());
    earlier_.clear();
    return opened->lost;
  }

  void close() {
    store.reset();
    engine.reset();
  }

  // Another life.
  Status open() {
    close();
    Result<OpenedEngine> opened = open_memory(disk);
    if (!opened.ok()) return opened.status();
    engine = std::move(opened->engine);
    const Actor actor{kSelf, Boot{++boots_}};
    Result<RecoveredStore> recovered =
        opened->lost.empty() ? recover_store(*engine, kTestPartitions, actor)
                             : recover_after_loss(*engine, kTestPartitions, actor, opened->lost);
    if (!recovered.ok()) return recovered.status();
    store = std::make_unique<RecordStore>(
        *engine, std::move(*recovered),
        RecordStore::Settings{.secret = std::string(32, 's'), .cache_bytes = 1 << 16});
    return {};
  }

  void settle() {
    const std::unique_ptr<Batch> batch = engine->new_batch();
    batch->erase(Family::kMeta, kLostRangesKey);
    ASSERT_TRUE(engine->write(*batch, true).ok());
  }

  void commit() {
    const Commit commit = store->take();
    ASSERT_TRUE(engine->write(*commit.batch, true).ok());
    store->committed(commit);
  }

  // As it leaves the node.
  Record read(const std::string& key) {
    std::string bytes;
    const Result<Lookup> found = engine->get(Family::kData, StoreFixture::place(key).storage_key, bytes);
    if (!found.ok() || *found == Lookup::kAbsent) return {};
    Record record = *decode_record(bytes);
    store->restore(record.context);
    return record;
  }

  // What is here after the whole owner's copy has come: of that a dot is superseded if it is covered here, by
  // the record's context or the floor, and not held.
  std::vector<Version> healed(const std::string& key) {
    const Partition partition = StoreFixture::place(key).partition;
    const Record own = read(key);
    Record merged = merge(own, peer[key]);
    std::erase_if(merged.versions, [&](const Version& version) {
      const auto is_it = [&](const Version& held) { return held.dot == version.dot; };
      return std::none_of(own.versions.begin(), own.versions.end(), is_it) &&
             store->floor_covers(partition, version.dot);
    });
    return merged.versions;
  }

  Boot close_some_life() {
    const Boot ended{1 + random_.below(boots_ - 1)};
    store->close_lives({{kSelf, ended}});
    commit();
    return ended;
  }

  MemoryDisk disk;
  std::unique_ptr<Engine> engine;
  std::unique_ptr<RecordStore> store;
  std::map<std::string, Record> peer;
  std::map<std::string, Earlier> returned;  // by storage key

 private:
  // Of many actors, so that contexts are stripped: mostly this node's lives.
  Dot next_dot() {
    if (!random_.one_in(3)) return store->next_dot();
    return {{kPeer, Boot{1 + random_.below(3)}}, ++peer_counter_};
  }

  SeededRandom random_;
  uint64_t boots_ = 0;
  uint64_t peer_counter_ = 0;
  HybridTime time_ = 0;
  std::map<std::string, std::vector<Earlier>> earlier_;
};

// Whatever was lost, and whichever old versions are back: the copies of other owners aren't taken for
// superseded, and what was not lost is as before.
TEST(LossRecovery, WhatWasLostComesBackFromOthersAndTheRestStays) {
  uint64_t stripped = 0, old_versions = 0;
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE(cat("seed ", seed));
    SeededRandom random(seed * 7919);
    LosingStore losing(seed);
    std::set<Partition> not_claimed;
    for (int round = 0; round < 3; ++round) {
      for (uint64_t lives = 6 + random.below(8); lives > 0; --lives) {
        losing.write_some();
        ASSERT_TRUE(losing.open().ok());
      }
      // Here too what was lost before is merged by then.
      if (random.one_in(3) && losing.close_some_life() == Boot{1}) not_claimed.clear();
      for (const auto& [key, record] : losing.peer) {
        const RecordHead head = **losing.store->newest_head(StoreFixture::place(key));
        stripped += head.context.stripped ? 1 : 0;
      }
      const LostRanges lost = losing.damage();
      ASSERT_FALSE(lost.empty());
      // Killed before it is settled, it comes to the same.
      for (uint64_t times = 1 + random.below(2); times > 0; --times) {
        ASSERT_TRUE(losing.open().ok());
      }
      losing.settle();
      if (random.one_in(2)) {
        ASSERT_TRUE(losing.open().ok());
      }

      const std::vector<Partition> with_losses = partitions_with_losses(lost, kTestPartitions);
      for (const auto& [key, record] : losing.peer) {
        SCOPED_TRACE(key);
        const Place place = StoreFixture::place(key);
        ASSERT_EQ(losing.healed(key), record.versions);
        const bool in_range = lost[0].first <= place.storage_key && place.storage_key <= lost[0].last;
        const Record here = losing.read(key);
        if (in_range) {
          const auto back = losing.returned.find(place.storage_key);
          if (back != losing.returned.end()) {
            ASSERT_TRUE(covers_what_is_certain(here.context, back->second));
          }
          old_versions += !here.versions.empty() && here.versions != record.versions ? 1 : 0;
          continue;
        }
        ASSERT_EQ(here.versions, record.versions);
        ASSERT_TRUE(here.context.vector.covers(record.context.vector));
      }
      not_claimed.insert(with_losses.begin(), with_losses.end());
      for (Partition partition = 0; partition < kTestPartitions; ++partition) {
        EXPECT_EQ(losing.store->floor_covers(partition, {{kSelf, Boot{1}}, 1}),
                  !not_claimed.contains(partition));
      }
      // The whole owner's copies have come.
      for (const auto& [key, record] : losing.peer) {
        const Place place = StoreFixture::place(key);
        const RecordHead before = **losing.store->newest_head(place);
        losing.store->stage(place, losing.store->encoded(place, key, record), before);
      }
      losing.commit();
    }
  }
  EXPECT_GT(stripped, 100U);
  EXPECT_GT(old_versions, 100U);
}

// The records are all there: what is derived from them is as before, and floors that rounds had raised are
// gone.
TEST(LossRecovery, LeavesAndTheIndexAreMadeAnewWhereDigestsWereLost) {
  LosingStore losing(1);
  for (int i = 0; i < 5; ++i) losing.write_some();
  Floor floor;
  floor.vector.raise({kPeer, Boot{9}}, 5);
  losing.store->raise_floor(3, floor, {});
  losing.commit();
  const auto leaves = [&] {
    std::vector<Leaf> all;
    for (LeafId id = 0; id < kTestPartitions * kLeavesPerPartition; ++id)
      all.push_back(losing.store->leaves().at(id));
    return all;
  };
  const auto transient_ones = [&] {
    std::vector<std::string> keys;
    for (auto cursor = losing.engine->seek(Family::kData, "", ""); cursor->valid(); cursor->next()) {
      if (decode_record_head(cursor->value())->transient) keys.emplace_back(cursor->key());
    }
    return keys;
  };
  const auto indexed = [&] {
    std::vector<std::string> keys;
    const auto slice = transient_slice(*losing.engine, {});
    for (const auto& entry : slice->entries) {
      keys.push_back(entry.storage_key);
    }
    return keys;
  };
  const auto leaves_before = leaves();
  ASSERT_FALSE(transient_ones().empty());

  losing.disk.damage(Family::kDigests, "", "~");
  losing.close();
  ASSERT_EQ(open_memory(losing.disk, OpenMode::kSetDamagedAside)->lost.size(), 1U);
  ASSERT_TRUE(losing.open().ok());

  EXPECT_EQ(leaves(), leaves_before);
  EXPECT_EQ(indexed(), transient_ones());
  EXPECT_FALSE(losing.store->floor_covers(3, {{kPeer, Boot{9}}, 1}));
  losing.settle();
  losing.write_some();
  ASSERT_TRUE(losing.open().ok()) << "the journal goes on";
}

TEST(LossRecovery, NamesThePartitionsThatALostRangeTouches) {
  const auto range = [](Family family, Token first, Token last) {
    return LostRanges{{family, storage_key(first, "", "a"), storage_key(last, "", "b"), "", ""}};
  };
  constexpr Token kPartition = Token{1} << 60;  // of 16
  const auto partitions = [&](Family family, Token first, Token last) {
    return partitions_with_losses(range(family, first, last), 16);
  };
  EXPECT_EQ(partitions(Family::kData, 0, 0), std::vector<Partition>{0});
  EXPECT_EQ(partitions(Family::kData, 2 * kPartition - 1, 3 * kPartition), (std::vector<Partition>{1, 2, 3}));
  EXPECT_EQ(partitions(Family::kData, ~Token{0}, ~Token{0}), std::vector<Partition>{15});
  EXPECT_EQ(partitions(Family::kHints, 0, ~Token{0}), std::vector<Partition>{});
  EXPECT_EQ(partitions(Family::kDigests, 0, 0).size(), 16U);
}

}  // namespace
}  // namespace ringkv
