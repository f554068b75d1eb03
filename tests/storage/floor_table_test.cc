#include "storage/floor_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>

#include "base/random.h"
#include "storage/memory_engine.h"
#include "tests/storage/sample_records.h"

namespace ringkv {
namespace {

using sample::actor;
using sample::context;
using sample::kA;
using sample::kB;
using sample::kC;

constexpr uint32_t kPartitions = 70;  // the last word of its bits isn't full

VersionVector vector_of(const std::vector<Dot>& dots) { return context(dots).vector; }

// A table beside its engine; each commit is one batch.
class FloorFixture {
 public:
  FloorFixture() { open(); }

  void open() {
    engine.reset();
    engine = std::make_unique<MemoryEngine>(disk);
    Result<FloorTable> recovered = FloorTable::recover(*engine, kPartitions);
    ASSERT_TRUE(recovered.ok()) << recovered.status().message();
    table = std::make_unique<FloorTable>(std::move(*recovered));
  }

  void commit(bool sync = true) {
    const std::unique_ptr<Batch> batch = engine->new_batch();
    table->put_changes(*batch);
    ASSERT_TRUE(engine->write(*batch, sync).ok());
  }

  void restart() {
    commit();
    open();
  }

  size_t records() const {
    size_t count = 0;
    for (auto cursor = engine->seek(Family::kDigests, "", ""); cursor->valid(); cursor->next()) ++count;
    return count;
  }

  MemoryDisk disk;
  std::unique_ptr<MemoryEngine> engine;
  std::unique_ptr<FloorTable> table;
};

TEST(FloorTable, CoversWhatAPartitionsFloorWasRaisedToAndNothingElsewhere) {
  FloorTable table(kPartitions);
  EXPECT_TRUE(table.raise(3, vector_of({{kA, 5}}), {}));
  EXPECT_TRUE(table.covers(3, {kA, 5}));
  EXPECT_FALSE(table.covers(3, {kA, 6}));
  EXPECT_FALSE(table.covers(3, {kB, 1}));
  EXPECT_FALSE(table.covers(2, {kA, 1}));
  EXPECT_EQ(table.floor(3), vector_of({{kA, 5}}));
}

TEST(FloorTable, WhatIsKnownAlreadyChangesNothing) {
  FloorFixture fixture;
  fixture.table->raise(3, vector_of({{kA, 5}}), context({{kB, 2}}));
  fixture.table->raise({1, 2, 3}, vector_of({{kA, 4}, {kC, 1}}));
  fixture.table->close({actor(9)});
  fixture.commit();

  EXPECT_FALSE(fixture.table->raise(3, vector_of({{kA, 5}}), context({{kB, 1}})));
  EXPECT_FALSE(fixture.table->raise({1, 3}, vector_of({{kA, 3}, {kC, 1}})));
  EXPECT_FALSE(fixture.table->add_erased(3, context({{kB, 2}})));
  EXPECT_FALSE(fixture.table->close({actor(9)}));
  EXPECT_FALSE(fixture.table->raise(3, vector_of({{actor(9), 7}}), {}));
  EXPECT_FALSE(fixture.table->has_changes());
}

TEST(FloorTable, ARaiseOfManyPartitionsWritesOneRecordForEachActor) {
  FloorFixture fixture;
  std::vector<Partition> all(kPartitions);
  for (Partition partition = 0; partition < kPartitions; ++partition) all[partition] = partition;
  fixture.table->raise(all, vector_of({{kA, 5}, {kB, 7}}));
  fixture.commit();
  EXPECT_EQ(fixture.records(), 2U);

  fixture.table->raise(all, vector_of({{kA, 6}, {kB, 7}}));
  fixture.restart();
  EXPECT_EQ(fixture.records(), 2U);
  for (const Partition partition : all) {
    EXPECT_EQ(fixture.table->floor(partition), vector_of({{kA, 6}, {kB, 7}})) << partition;
  }
}

// What the replaced record said of the partitions that the new one doesn't name goes into their own.
TEST(FloorTable, ARecordThatNamesFewerPartitionsForgetsNothingOfTheOthers) {
  FloorFixture fixture;
  fixture.table->raise({0, 1, 65, 69}, vector_of({{kA, 5}}));
  fixture.commit();
  fixture.table->raise({1, 69}, vector_of({{kA, 8}}));
  fixture.commit();
  EXPECT_EQ(fixture.records(), 3U);
  fixture.open();
  EXPECT_EQ(fixture.table->floor(0), vector_of({{kA, 5}}));
  EXPECT_EQ(fixture.table->floor(65), vector_of({{kA, 5}}));
  EXPECT_EQ(fixture.table->floor(1), vector_of({{kA, 8}}));
  EXPECT_EQ(fixture.table->floor(69), vector_of({{kA, 8}}));
}

TEST(FloorTable, AnOlderAnswerThatComesLateReachesThePartitionsThatItNames) {
  FloorFixture fixture;
  fixture.table->raise({1, 2}, vector_of({{kA, 8}}));
  EXPECT_TRUE(fixture.table->raise({2, 3}, vector_of({{kA, 5}})));
  fixture.restart();
  EXPECT_EQ(fixture.table->floor(1), vector_of({{kA, 8}}));
  EXPECT_EQ(fixture.table->floor(2), vector_of({{kA, 8}}));
  EXPECT_EQ(fixture.table->floor(3), vector_of({{kA, 5}}));
}

TEST(FloorTable, AResetPartitionClaimsNothingOnDiskEither) {
  FloorFixture fixture;
  fixture.table->raise({1, 2}, vector_of({{kA, 8}}));
  fixture.table->raise(1, vector_of({{kB, 3}}), context({{kC, 4}}));
  fixture.commit();
  fixture.table->reset(1);
  EXPECT_TRUE(fixture.table->floor(1).empty());
  fixture.restart();
  EXPECT_TRUE(fixture.table->floor(1).empty());
  EXPECT_TRUE(fixture.table->erased(1).vector.empty());
  EXPECT_EQ(fixture.table->floor(2), vector_of({{kA, 8}}));

  // Neither does it by what a later round says of other partitions.
  fixture.table->raise({2}, vector_of({{kA, 9}}));
  fixture.restart();
  EXPECT_TRUE(fixture.table->floor(1).empty());
}

TEST(FloorTable, AClosedLifeIsCoveredEverywhereAndListedInNoFloor) {
  FloorFixture fixture;
  fixture.table->raise({1, 2}, vector_of({{kA, 8}}));
  fixture.table->raise(3, vector_of({{kA, 2}, {kB, 3}}), {});
  fixture.commit();
  EXPECT_TRUE(fixture.table->close({kA, kC}));
  for (int restarts = 0; restarts < 2; ++restarts) {
    EXPECT_TRUE(fixture.table->is_closed(kA));
    EXPECT_FALSE(fixture.table->is_closed(kB));
    EXPECT_TRUE(fixture.table->covers(50, {kA, UINT64_MAX}));
    EXPECT_TRUE(fixture.table->covers(50, {kC, 1}));
    EXPECT_FALSE(fixture.table->covers(50, {kB, 1}));
    EXPECT_TRUE(fixture.table->floor(1).empty());
    EXPECT_EQ(fixture.table->floor(3), vector_of({{kB, 3}}));
    EXPECT_EQ(fixture.table->closed(), (std::vector{kA, kC}));
    fixture.restart();
  }
  EXPECT_EQ(fixture.records(), 2U);  // what the pair's record said of it went with the closing
}

TEST(FloorTable, WhatWasErasedIsJoinedAndKeepsItsTime) {
  FloorFixture fixture;
  fixture.table->add_erased(4, context({{kA, 5}}, 100));
  fixture.table->raise(4, {}, context({{kB, 2}}, 70));
  EXPECT_TRUE(fixture.table->add_erased(4, context({{kA, 4}}, 200)));  // only its time is new
  fixture.restart();
  EXPECT_EQ(fixture.table->erased(4), context({{kA, 5}, {kB, 2}}, 200));
  EXPECT_EQ(fixture.table->erased(5), CausalContext());
  EXPECT_FALSE(fixture.table->covers(4, {kA, 1}));  // the floor is another thing
}

// A context that comes from elsewhere may be marked so; there is nothing here that it could be filled with.
TEST(FloorTable, WhatWasErasedIsNeverMarkedAsStripped) {
  FloorTable table(kPartitions);
  CausalContext stripped = context({{kA, 5}});
  stripped.stripped = true;
  table.raise(4, {}, stripped);
  table.add_erased(5, stripped);
  EXPECT_FALSE(table.erased(4).stripped);
  EXPECT_FALSE(table.erased(5).stripped);
}

TEST(FloorTable, ARecordThatItCannotHaveWrittenIsNamed) {
  const std::vector<std::pair<std::string, std::string>> records{
      {"f", ""},                                                                 // no partition
      {std::string("f\0\0\0\1", 5), "\1\2"},                                     // cut off
      {std::string("f\0\0\0\1", 5), "\2\0\0\0\0\0\0\0\0\0"},                     // another version
      {std::string("f\0\1\0\0", 5), std::string("\1\0\0\0\0\0\0\0\0\0\0", 11)},  // no such partition
      {"w1234567", "\1\5"},                                                      // no actor
      {"w1234567812345678", "\1\5x"},                                            // too few bits
      {"c", "\1\x7F"},                                                           // a count without actors
      {"c", std::string("\1\0!", 3)},                                            // something behind it
  };
  for (const auto& [key, value] : records) {
    FloorFixture fixture;
    const std::unique_ptr<Batch> batch = fixture.engine->new_batch();
    batch->put(Family::kDigests, key, value);
    ASSERT_TRUE(fixture.engine->write(*batch, true).ok());
    const Result<FloorTable> recovered = FloorTable::recover(*fixture.engine, kPartitions);
    EXPECT_EQ(recovered.status().code(), StatusCode::kCorruption) << key;

    ASSERT_TRUE(FloorTable::forget_all(*fixture.engine).ok());
    EXPECT_TRUE(FloorTable::recover(*fixture.engine, kPartitions).ok()) << key;
    EXPECT_EQ(fixture.records(), 0U);
  }
}

// What the table should hold, in the plainest way.
struct Model {
  struct Floors {
    std::map<Actor, uint64_t> floor;
    CausalContext erased;
  };
  std::vector<Floors> partitions{kPartitions};
  std::set<Actor> closed;

  void raise(Partition partition, const VersionVector& floor) {
    for (const VersionVector::Entry& entry : floor.entries()) {
      if (closed.contains(entry.actor)) continue;
      uint64_t& counter = partitions[partition].floor[entry.actor];
      counter = std::max(counter, entry.counter);
    }
  }
  void close(const Actor& ended) {
    closed.insert(ended);
    for (Floors& each : partitions) each.floor.erase(ended);
  }
  void limit_closed(const std::vector<Partition>& to) {
    VersionVector all;
    for (const Actor& ended : std::exchange(closed, {})) all.raise(ended, UINT64_MAX);
    for (const Partition partition : to) raise(partition, all);
  }
};

void expect_as(const FloorTable& table, const Model& model) {
  EXPECT_TRUE(
      std::equal(table.closed().begin(), table.closed().end(), model.closed.begin(), model.closed.end()));
  for (Partition partition = 0; partition < kPartitions; ++partition) {
    VersionVector floor;
    for (const auto& [who, counter] : model.partitions[partition].floor) floor.raise(who, counter);
    ASSERT_EQ(table.floor(partition), floor) << partition;
    ASSERT_EQ(table.erased(partition), model.partitions[partition].erased) << partition;
  }
}

class RandomFloors {
 public:
  explicit RandomFloors(uint64_t seed) : random_(seed) {}

  void change(FloorTable& table, Model& model) {
    const auto partition = static_cast<Partition>(random_.below(kPartitions));
    switch (random_.below(20)) {
      case 0:
        if (const Actor ended = some_actor(); table.close({ended})) model.close(ended);
        return;
      case 1: {
        if (!random_.one_in(4)) return;
        const std::vector<Partition> to = some_partitions();
        table.limit_closed(to);
        return model.limit_closed(to);
      }
      case 2:
      case 3:
        table.reset(partition);
        model.partitions[partition] = {};
        return;
      case 4:
      case 5:
      case 6: {
        const CausalContext erased = some_context();
        table.add_erased(partition, erased);
        return erase(model, partition, erased);
      }
      case 7:
      case 8:
      case 9: {
        const VersionVector floor = some_context().vector;
        const CausalContext erased = some_context();
        table.raise(partition, floor, erased);
        model.raise(partition, floor);
        return erase(model, partition, erased);
      }
      default: {
        const VersionVector floor = some_context().vector;
        const std::vector<Partition> partitions = some_partitions();
        table.raise(partitions, floor);
        for (const Partition each : partitions) model.raise(each, floor);
      }
    }
  }

  Random& random() { return random_; }

 private:
  static void erase(Model& model, Partition partition, const CausalContext& context) {
    if (!context.vector.empty()) model.partitions[partition].erased.join(context);
  }
  Actor some_actor() { return actor(1 + random_.below(3), 1 + random_.below(3)); }
  CausalContext some_context() {
    CausalContext made;
    for (uint64_t left = random_.below(4); left > 0; --left) {
      made.vector.raise(some_actor(), 1 + random_.below(30));
    }
    made.highest_time = random_.below(100);
    return made;
  }
  // Often the same ones: those that two nodes share.
  std::vector<Partition> some_partitions() {
    const uint64_t share = random_.below(3);
    std::vector<Partition> some;
    for (Partition partition = 0; partition < kPartitions; ++partition) {
      const bool chosen = share == 0 ? random_.one_in(2) : partition % 3 != share;
      if (chosen) some.push_back(partition);
    }
    return some;
  }

  SeededRandom random_;
};

// Each batch carries its number, so that what a power cut has left can be found out.
TEST(FloorTable, IsAsAPlainModelThroughLostTails) {
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE(seed);
    RandomFloors changes(seed);
    Random& random = changes.random();
    FloorFixture fixture;
    Model model;
    std::vector<Model> committed{model};  // by number
    for (int step = 0; step < 60; ++step) {
      for (uint64_t left = 1 + random.below(4); left > 0; --left) changes.change(*fixture.table, model);
      expect_as(*fixture.table, model);

      const std::unique_ptr<Batch> batch = fixture.engine->new_batch();
      batch->put(Family::kMeta, "number", std::to_string(committed.size()));
      fixture.table->put_changes(*batch);
      EXPECT_FALSE(fixture.table->has_changes());
      ASSERT_TRUE(fixture.engine->write(*batch, random.one_in(4)).ok());
      committed.push_back(model);
      if (!random.one_in(8)) continue;

      fixture.table.reset();
      fixture.engine.reset();
      if (random.one_in(2)) fixture.disk.crash(random);
      fixture.open();
      std::string number = "0";
      ASSERT_TRUE(fixture.engine->get(Family::kMeta, "number", number).ok());
      committed.resize(std::stoul(number) + 1);
      model = committed.back();
      expect_as(*fixture.table, model);
    }
    if (HasFailure()) return;
  }
}

// ---- Limits

TEST(FloorTableLimits, ClaimNothingButWhatIsRaisedThere) {
  FloorFixture fixture;
  FloorTable& table = *fixture.table;
  table.raise(3, vector_of({{kA, 5}}), context({{kA, 2}}));
  table.raise({2, 3, 4}, vector_of({{kB, 7}}));
  table.close({kC});
  table.limit(3, vector_of({{kA, 9}}));
  EXPECT_TRUE(table.floor(3).empty());
  EXPECT_TRUE(table.erased(3).vector.empty());
  EXPECT_FALSE(table.covers(3, {kB, 1}));
  EXPECT_FALSE(table.covers(3, {kC, 1})) << "of a closed life much may have been there";
  EXPECT_TRUE(table.closed(3).empty());
  EXPECT_FALSE(table.claims_own(3, kA));
  EXPECT_TRUE(table.claims_own(3, kB)) << "nothing of it was stamped there by then";
  EXPECT_TRUE(table.covers(4, {kC, 1}));
  EXPECT_TRUE(table.claims_own(4, kA));

  table.raise({2, 3, 4}, vector_of({{kB, 8}}));
  EXPECT_FALSE(table.covers(3, {kB, 1})) << "what is equal elsewhere says nothing there";
  EXPECT_TRUE(table.covers(4, {kB, 8}));
}

TEST(FloorTableLimits, AreLiftedOnceAllIsCoveredThatHoldsElsewhere) {
  FloorFixture fixture;
  fixture.table->close({kC});
  fixture.table->limit(3, vector_of({{kA, 9}, {kB, 2}}));
  fixture.restart();
  ASSERT_TRUE(fixture.table->is_limited(3));
  fixture.table->raise(3, vector_of({{kA, 9}, {kC, UINT64_MAX}}), {});
  EXPECT_TRUE(fixture.table->claims_own(3, kA));
  EXPECT_FALSE(fixture.table->claims_own(3, kB));
  EXPECT_TRUE(fixture.table->covers(3, {kC, 1}));
  fixture.restart();
  EXPECT_TRUE(fixture.table->is_limited(3));
  EXPECT_TRUE(fixture.table->covers(3, {kC, 1})) << "closed lives that are listed there stay listed";
  fixture.table->raise(3, vector_of({{kB, 2}}), {});
  EXPECT_FALSE(fixture.table->is_limited(3));
  fixture.restart();
  EXPECT_FALSE(fixture.table->is_limited(3));
  EXPECT_TRUE(fixture.table->covers(3, {kA, 9}));
}

TEST(FloorTableLimits, OfManyPartitionsAreOneRecordAndEachItsOwn) {
  FloorFixture fixture;
  for (const Partition partition : {0U, 5U, 69U}) fixture.table->limit(partition, vector_of({{kA, 4}}));
  fixture.table->limit(6, vector_of({{kB, 1}}));
  fixture.restart();
  for (Partition partition = 0; partition < kPartitions; ++partition) {
    const bool of_a = partition == 0 || partition == 5 || partition == 69;
    EXPECT_EQ(fixture.table->is_limited(partition), of_a || partition == 6) << partition;
    EXPECT_EQ(fixture.table->claims_own(partition, kA), !of_a) << partition;
    EXPECT_EQ(fixture.table->claims_own(partition, kB), partition != 6) << partition;
  }
}

}  // namespace
}  // namespace ringkv
