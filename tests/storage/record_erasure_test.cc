// Floors, erasures and the index of transient records, as RecordStore keeps them beside its records.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "storage/hint_store.h"
#include "storage/range_walk.h"
#include "tests/storage/sample_records.h"
#include "tests/storage/store_fixture.h"

namespace ringkv {
namespace {

using sample::actor;
using sample::context;
using sample::kB;
using sample::kC;

Place place(std::string_view key) { return StoreFixture::place(key); }
Partition partition_of(std::string_view key) { return place(key).partition; }

void erase(StoreFixture& fixture, const std::string& key) {
  const RecordHead head = **fixture.store->newest_head(place(key));
  fixture.store->erase(place(key), head, head.context);
}

// As it arrives from elsewhere.
void stage(StoreFixture& fixture, const std::string& key, const Record& record) {
  const RecordHead before = **fixture.store->newest_head(place(key));
  fixture.store->stage(place(key), fixture.store->encoded(place(key), key, record), before);
}

bool is_indexed(StoreFixture& fixture, const std::string& key) {
  std::string value;
  return *fixture.engine->get(Family::kDigests, transient_key(place(key).storage_key), value) ==
         Lookup::kFound;
}

TEST(RecordStore, TheFloorIsItsOwnLivesAndWhatRoundsHaveRaised) {
  StoreFixture fixture;
  const Dot earlier = fixture.put("a", "1");
  ASSERT_TRUE(fixture.commit().ok());
  fixture.kill();
  const Dot own = fixture.put("a", "2");
  fixture.store->raise_floor(3, context({{kB, 7}}, 500), {});
  fixture.store->raise_floors({3, 4}, context({{kC, 9}}, 400));

  EXPECT_EQ(fixture.store->own_lives().vector, context({earlier, own}).vector);
  EXPECT_EQ(fixture.store->floor(3).vector, context({earlier, own, {kB, 7}, {kC, 9}}).vector);
  EXPECT_EQ(fixture.store->floor(4).vector, context({earlier, own, {kC, 9}}).vector);
  EXPECT_EQ(fixture.store->floor(5).vector, context({earlier, own}).vector);
  EXPECT_GE(fixture.store->floor(5).highest_time, 500U);
  for (Partition partition = 3; partition <= 5; ++partition) {
    for (const Dot& dot :
         {earlier, own, Dot{kB, 7}, Dot{kB, 8}, Dot{kC, 9}, Dot{own.actor, own.counter + 1}}) {
      EXPECT_EQ(fixture.store->floor_covers(partition, dot), fixture.store->floor(partition).covers(dot));
    }
  }
}

// What others say of this life is an echo; more than it has stamped can't be true.
TEST(RecordStore, NobodyElseRaisesTheFloorOfItsOwnLife) {
  StoreFixture fixture;
  const Dot own = fixture.put("a", "1");
  const Dot next{own.actor, own.counter + 1};
  fixture.store->raise_floor(3, context({next}), {});
  fixture.store->raise_floors({3}, context({next}));
  EXPECT_FALSE(fixture.store->floor_covers(3, next));
  EXPECT_FALSE(fixture.store->floor(3).covers(next));
}

TEST(RecordStore, ARaiseThatTellsNothingNewWritesNothing) {
  StoreFixture fixture;
  const Dot earlier = fixture.put("a", "1");
  ASSERT_TRUE(fixture.commit().ok());
  fixture.kill();
  fixture.store->raise_floor(3, context({{kB, 7}, earlier}), context({{kB, 2}}));
  fixture.store->raise_floors({3, 4}, context({{kC, 9}, earlier}));
  fixture.store->close_lives({actor(9)});
  EXPECT_TRUE(fixture.store->has_staged());
  ASSERT_TRUE(fixture.commit(false).ok());

  fixture.store->raise_floor(3, context({{kB, 6}, earlier}), context({{kB, 2}}));
  fixture.store->raise_floors({3, 4}, context({{kC, 9}, earlier}));
  fixture.store->close_lives({actor(9)});
  EXPECT_FALSE(fixture.store->has_staged());
  EXPECT_EQ(fixture.store->floors().floor(3), context({{kB, 7}, {kC, 9}}).vector);  // of others alone
}

TEST(RecordStore, WhateverIsStagedHasABatchToWaitFor) {
  const std::vector<void (*)(StoreFixture&)> changes{
      [](StoreFixture& fixture) { fixture.put("k", "v"); },
      [](StoreFixture& fixture) { erase(fixture, "held"); },
      [](StoreFixture& fixture) {
        fixture.store->raise_floor(1, context({{kB, 1}}), {});
      },
      [](StoreFixture& fixture) {
        fixture.store->raise_floor(1, {}, context({{kB, 1}}));
      },
      [](StoreFixture& fixture) {
        fixture.store->raise_floors({1, 2}, context({{kB, 1}}));
      },
      [](StoreFixture& fixture) { fixture.store->close_lives({kB}); },
      [](StoreFixture& fixture) { fixture.store->reset_floor(1); },
      [](StoreFixture& fixture) { fixture.store->forget_transient(place("held")); },
      [](StoreFixture& fixture) { fixture.store->stage(Family::kHints, "hint", "value"); },
      [](StoreFixture& fixture) { fixture.store->stage_erasure(Family::kHints, "hint"); },
      [](StoreFixture& fixture) {
        fixture.store->correct_leaf(5, {.hash = {1, 2}, .keys = 1, .bytes = 9});
      },
  };
  for (size_t i = 0; i < changes.size(); ++i) {
    SCOPED_TRACE(i);
    StoreFixture fixture;
    fixture.put("held", "v");
    ASSERT_TRUE(fixture.commit().ok());
    EXPECT_EQ(fixture.store->last_staged(), 0U);
    changes[i](fixture);
    EXPECT_TRUE(fixture.store->has_staged());
    EXPECT_EQ(fixture.store->last_staged(), fixture.store->open_batch());

    const Commit under_way = fixture.store->take();
    EXPECT_FALSE(fixture.store->has_staged());
    EXPECT_EQ(fixture.store->last_staged(), under_way.number);
    fixture.store->committed(under_way);
    EXPECT_EQ(fixture.store->last_staged(), 0U);
  }
}

TEST(RecordStore, AnErasedRecordIsAbsentAtOnceAndItsContextIsRemembered) {
  StoreFixture fixture;
  stage(fixture, "k", {context({{kB, 4}}, 77), {sample::tombstone({kB, 4}, 77)}});
  fixture.put("other", "v");
  ASSERT_TRUE(fixture.commit().ok());
  const Partition partition = partition_of("k");
  EXPECT_TRUE(is_indexed(fixture, "k"));
  EXPECT_NE(fixture.store->leaves().partition_total(partition).hash, Hash128());
  EXPECT_TRUE(fixture.store->erased(partition).vector.empty());

  erase(fixture, "k");
  EXPECT_TRUE((*fixture.store->newest_head(place("k")))->absent());
  EXPECT_EQ(fixture.store->pending(place("k")), fixture.store->open_batch());
  EXPECT_EQ(fixture.store->erased(partition), context({{kB, 4}}, 77));
  EXPECT_EQ(fixture.store->leaves().at(place("k").leaf), Leaf());

  ASSERT_TRUE(fixture.commit().ok());
  for (int lives = 0; lives < 2; ++lives) {
    EXPECT_TRUE((*fixture.store->newest_head(place("k")))->absent());
    EXPECT_TRUE(fixture.read("k").versions.empty());
    EXPECT_FALSE(is_indexed(fixture, "k"));
    EXPECT_EQ(fixture.store->erased(partition), context({{kB, 4}}, 77));
    EXPECT_EQ(fixture.store->leaves().at(place("k").leaf), Leaf());
    EXPECT_EQ(fixture.store->leaves().keys(), 1U);
    fixture.kill();
  }
}

// What the disk left out of a context is part of what must not be forgotten.
TEST(RecordStore, WhatIsRememberedOfAnErasedRecordIsFilled) {
  StoreFixture fixture;
  std::vector<Dot> dots;
  for (int life = 0; life < 20; ++life) {
    dots.push_back(
        fixture.put("k", life < 19 ? "v" : "", life < 19 ? VersionKind::kValue : VersionKind::kTombstone));
    ASSERT_TRUE(fixture.commit().ok());
    fixture.kill();
  }
  ASSERT_TRUE((*fixture.store->newest_head(place("k")))->context.stripped);
  erase(fixture, "k");
  for (const Dot& dot : dots) EXPECT_TRUE(fixture.store->erased(partition_of("k")).covers(dot));
  EXPECT_FALSE(fixture.store->erased(partition_of("k")).stripped);
}

TEST(RecordStore, AKeyCanBeWrittenAgainInTheBatchThatErasesIt) {
  StoreFixture fixture;
  fixture.put("k", "", VersionKind::kTombstone);
  ASSERT_TRUE(fixture.commit().ok());
  erase(fixture, "k");
  const Dot again = fixture.put("k", "", VersionKind::kTombstone);
  ASSERT_TRUE(fixture.commit().ok());
  EXPECT_EQ(sample::dots_of(fixture.read("k")), std::vector{again});
  EXPECT_TRUE(is_indexed(fixture, "k"));
}

TEST(RecordStore, ARecordOfAContextAloneIsStoredAndInItsLeafAndNoKey) {
  StoreFixture fixture;
  stage(fixture, "k", {context({{kB, 4}}, 77), {}});
  ASSERT_TRUE(fixture.commit().ok());
  for (int lives = 0; lives < 2; ++lives) {
    const RecordHead head = **fixture.store->newest_head(place("k"));
    EXPECT_FALSE(head.absent());
    EXPECT_TRUE(head.dots.empty());
    EXPECT_TRUE(head.transient);
    EXPECT_EQ(head.context, context({{kB, 4}}, 77));
    EXPECT_EQ(fixture.store->leaves().at(place("k").leaf), (Leaf{head.hash, 0, 0}));
    EXPECT_NE(head.hash, Hash128());
    EXPECT_TRUE(is_indexed(fixture, "k"));
    fixture.kill();
  }
}

TEST(RecordStore, WhatMayGoSomeDayIsInTheIndexAndNothingElse) {
  StoreFixture fixture;
  Version value = sample::value({kB, 1}, "v");
  Version expiring = sample::value({kB, 2}, "v");
  expiring.expires_at_ms = 1000;
  const Version tombstone = sample::tombstone({kB, 3});
  const CausalContext all = context({{kB, 3}});
  stage(fixture, "value", {all, {value}});
  stage(fixture, "expiring", {all, {expiring}});
  stage(fixture, "tombstone", {all, {tombstone}});
  stage(fixture, "both", {all, {expiring, tombstone}});
  stage(fixture, "mixed", {all, {value, tombstone}});
  ASSERT_TRUE(fixture.commit().ok());
  for (const std::string key : {"value", "expiring", "tombstone", "both", "mixed"}) {
    const bool transient = key != "value" && key != "mixed";
    EXPECT_EQ(is_indexed(fixture, key), transient) << key;
    EXPECT_EQ((*fixture.store->newest_head(place(key)))->transient, transient) << key;
  }
}

TEST(RecordStore, TheIndexForgetsAKeyUnlessItMayGoAgain) {
  StoreFixture fixture;
  const auto forgets = [&](const std::string& key) {
    fixture.store->forget_transient(place(key));
    EXPECT_TRUE(fixture.commit().ok());
    return !is_indexed(fixture, key);
  };
  fixture.put("k", "", VersionKind::kTombstone);
  EXPECT_FALSE(forgets("k"));  // staged
  EXPECT_FALSE(forgets("k"));  // as the cache knows
  fixture.kill();
  EXPECT_FALSE(forgets("k"));  // as the engine says
  fixture.put("k", "v");
  ASSERT_TRUE(fixture.commit().ok());
  EXPECT_TRUE(is_indexed(fixture, "k"));
  fixture.kill();
  fixture.disk.set_blocking_share(1, 1);
  EXPECT_FALSE(forgets("k"));  // only the disk knows
  fixture.disk.set_blocking_share(0, 1);
  EXPECT_TRUE(forgets("k"));
}

// Of a life that is closed at the source its floor lists nothing.
TEST(RecordStore, WhatOthersHaveErasedIsUnderTheFloorHereToo) {
  StoreFixture fixture;
  fixture.store->raise_floor(3, {}, context({{kB, 7}}));
  EXPECT_TRUE(fixture.store->floor_covers(3, {kB, 7}));
  EXPECT_FALSE(fixture.store->floor_covers(3, {kB, 8}));
  EXPECT_FALSE(fixture.store->floor_covers(4, {kB, 7}));
}

TEST(RecordStore, AClosedLifeIsCoveredInAllPartitions) {
  StoreFixture fixture;
  fixture.store->raise_floor(3, context({{kB, 7}}), {});
  fixture.store->close_lives({kB});
  ASSERT_TRUE(fixture.commit().ok());
  fixture.kill();
  EXPECT_TRUE(fixture.store->floor_covers(3, {kB, 100}));
  EXPECT_TRUE(fixture.store->floor_covers(11, {kB, 100}));
  EXPECT_EQ(fixture.store->floor(3).vector.counter_of(kB), 0U);
}

TEST(RecordStore, ACorrectedLeafIsOnDisk) {
  StoreFixture fixture;
  const Leaf corrected{.hash = {1, 2}, .keys = 1, .bytes = 9};
  fixture.store->correct_leaf(5, corrected);
  EXPECT_EQ(fixture.store->leaves().at(5), corrected);
  ASSERT_TRUE(fixture.commit(false).ok());
  EXPECT_TRUE(fixture.store->is_synced());
  fixture.kill();
  EXPECT_EQ(fixture.store->leaves().at(5), corrected);
}

// All that a store says of itself.
struct Said {
  std::map<std::string, std::string> data;
  std::map<std::string, std::string> hints;
  std::vector<VersionVector> floors;
  std::vector<CausalContext> erased;
  std::vector<Actor> closed;
  std::vector<Leaf> leaves;
  HintCounts counts;

  friend bool operator==(const Said&, const Said&) = default;
};

// A store and hints that share its batches, changed at random.
class SharedBatches {
 public:
  explicit SharedBatches(uint64_t seed) : random(seed) { open_hints(); }

  void change() {
    const std::string key = cat("k", random.below(25));
    const auto partition = static_cast<Partition>(random.below(kTestPartitions));
    const NodeId intended{5 + random.below(2)};
    switch (random.below(10)) {
      case 0:
        return fixture.store->raise_floor(partition, some_context(), some_context());
      case 1:
        return fixture.store->raise_floors({1, 2, static_cast<Partition>(5 + random.below(10))},
                                           some_context());
      case 2:
        if (random.one_in(3)) fixture.store->close_lives({some_actor()});
        return;
      case 3:
        return fixture.store->reset_floor(partition);
      case 4:
      case 5:
        if (!(*fixture.store->newest_head(place(key)))->absent()) erase(fixture, key);
        return;
      case 6: {
        const std::string storage_key = place(key).storage_key;
        const std::string before = **hints->newest(intended, storage_key);
        if (random.one_in(2)) return hints->erase(intended, storage_key, before);
        std::string record;
        encode_record({some_context(), {}}, {}, 0, record);
        return hints->stage(intended, storage_key, record, before);
      }
      case 7:
        fixture.put(key, "", VersionKind::kTombstone);
        return;
      default:
        fixture.put(key, "v");
    }
  }

  void commit() {
    const BatchNumber batch = fixture.store->open_batch();
    ASSERT_TRUE(fixture.commit(random.one_in(4)).ok());
    hints->committed(batch);
  }

  void cut_power() {
    hints.reset();
    fixture.close();
    fixture.disk.crash(random);
    fixture.open();
    open_hints();
  }

  Said said() {
    Said said;
    for (auto cursor = fixture.engine->seek(Family::kData, "", ""); cursor->valid(); cursor->next())
      said.data.emplace(cursor->key(), cursor->value());
    for (auto cursor = fixture.engine->seek(Family::kHints, "", ""); cursor->valid(); cursor->next())
      said.hints.emplace(cursor->key(), cursor->value());
    for (Partition partition = 0; partition < kTestPartitions; ++partition) {
      said.floors.push_back(fixture.store->floors().floor(partition));
      said.erased.push_back(fixture.store->erased(partition));
      said.leaves.push_back(fixture.store->leaves().partition_total(partition));
    }
    said.closed = fixture.store->floors().closed();
    said.counts = hints->counts();
    return said;
  }

  // Of the records that may go some day.
  void expect_all_indexed() {
    for (auto cursor = fixture.engine->seek(Family::kData, "", ""); cursor->valid(); cursor->next()) {
      if (!decode_record_head(cursor->value())->transient) continue;
      std::string value;
      EXPECT_EQ(*fixture.engine->get(Family::kDigests, transient_key(cursor->key()), value), Lookup::kFound);
    }
  }

  SeededRandom random;
  StoreFixture fixture;
  std::unique_ptr<HintStore> hints;

 private:
  void open_hints() {
    hints = std::make_unique<HintStore>(*fixture.engine, *fixture.store, *recover_hints(*fixture.engine));
  }
  Actor some_actor() { return actor(2 + random.below(3), 1 + random.below(2)); }
  CausalContext some_context() {
    CausalContext made;
    for (uint64_t left = 1 + random.below(3); left > 0; --left)
      made.vector.raise(some_actor(), 1 + random.below(30));
    made.highest_time = random.below(1000);
    return made;
  }
};

TEST(RecordStore, RecordsFloorsErasuresAndHintsSurviveAsOnePrefix) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    SharedBatches shared(seed);
    std::map<BatchNumber, Said> by_batch{{0, shared.said()}};
    for (int step = 0; step < 40; ++step) {
      for (uint64_t left = 1 + shared.random.below(6); left > 0; --left) shared.change();
      const BatchNumber batch = shared.fixture.store->open_batch();
      shared.commit();
      by_batch[batch] = shared.said();
      shared.expect_all_indexed();
      if (!shared.random.one_in(6)) continue;

      shared.cut_power();
      const BatchNumber last = shared.fixture.store->open_batch() - 1;
      ASSERT_TRUE(by_batch.contains(last)) << last;
      ASSERT_TRUE(shared.said() == by_batch[last]) << last;
      shared.expect_all_indexed();
      by_batch.erase(by_batch.upper_bound(last), by_batch.end());
    }
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace ringkv
