#include "storage/hint_store.h"

#include <gtest/gtest.h>

#include <map>

#include "base/text.h"
#include "tests/storage/sample_records.h"
#include "tests/storage/store_fixture.h"

namespace ringkv {
namespace {

constexpr NodeId kTo{7};
constexpr NodeId kOther{8};

std::string storage_key(std::string_view key) { return StoreFixture::place(key).storage_key; }

std::string record_of(std::string_view value, uint64_t counter = 1) {
  Record record{sample::context({{sample::kA, counter}}),
                {sample::value({sample::kA, counter}, std::string(value))}};
  std::string bytes;
  encode_record(record, {}, 0, bytes);
  return bytes;
}

class HintFixture {
 public:
  HintFixture() { open(); }

  void open() {
    hints.reset();
    store.kill();
    Result<RecoveredHints> recovered = recover_hints(*store.engine);
    ASSERT_TRUE(recovered.ok());
    hints = std::make_unique<HintStore>(*store.engine, *store.store, std::move(*recovered));
  }

  void keep(NodeId intended, std::string_view key, const std::string& record) {
    hints->stage(intended, storage_key(key), record, newest(intended, key));
  }
  void erase(NodeId intended, std::string_view key) {
    hints->erase(intended, storage_key(key), newest(intended, key));
  }
  std::string newest(NodeId intended, std::string_view key) const {
    return **hints->newest(intended, storage_key(key));
  }
  std::string on_disk(NodeId intended, std::string_view key) const {
    return *read_hint(*store.engine, intended, storage_key(key));
  }
  void commit(bool sync = true) {
    const BatchNumber batch = store.store->open_batch();
    ASSERT_TRUE(store.commit(sync).ok());
    hints->committed(batch);
  }
  void put_raw(std::string_view key, std::string_view value) {
    const std::unique_ptr<Batch> batch = store.engine->new_batch();
    batch->put(Family::kHints, key, value);
    ASSERT_TRUE(store.engine->write(*batch, true).ok());
  }

  StoreFixture store;
  std::unique_ptr<HintStore> hints;
};

uint64_t bytes_of(std::string_view key, const std::string& record) {
  return storage_key(key).size() + record.size();
}

TEST(HintStore, AHintIsSeenOnceStagedAndIsOnDiskWithItsBatch) {
  HintFixture fixture;
  fixture.keep(kTo, "k", record_of("1"));
  EXPECT_TRUE(fixture.store.store->has_staged());
  EXPECT_EQ(fixture.newest(kTo, "k"), record_of("1"));
  EXPECT_EQ(fixture.newest(kOther, "k"), "");
  EXPECT_EQ(fixture.newest(kTo, "another"), "");
  EXPECT_EQ(fixture.on_disk(kTo, "k"), "");

  fixture.commit();
  EXPECT_EQ(fixture.on_disk(kTo, "k"), record_of("1"));
  EXPECT_EQ(fixture.newest(kTo, "k"), record_of("1"));
}

TEST(HintStore, OneKeyIsOneHintHoweverOftenItIsWritten) {
  HintFixture fixture;
  for (uint64_t i = 1; i <= 5; ++i) {
    fixture.keep(kTo, "k", record_of(std::string(i, 'v'), i));
    if (i == 3) fixture.commit();
    EXPECT_EQ(fixture.hints->counts(),
              (HintCounts{{kTo, {1, bytes_of("k", record_of(std::string(i, 'v'), i))}}}));
  }
}

TEST(HintStore, TheCountsOfANodeWithoutHintsAreGone) {
  HintFixture fixture;
  fixture.keep(kTo, "a", record_of("1"));
  fixture.keep(kTo, "b", record_of("22"));
  fixture.keep(kOther, "a", record_of("333"));
  const uint64_t all =
      bytes_of("a", record_of("1")) + bytes_of("b", record_of("22")) + bytes_of("a", record_of("333"));
  EXPECT_EQ(fixture.hints->total(), (HintCount{3, all}));

  fixture.erase(kTo, "a");
  fixture.erase(kTo, "b");
  EXPECT_EQ(fixture.hints->counts(), (HintCounts{{kOther, {1, bytes_of("a", record_of("333"))}}}));
  EXPECT_EQ(fixture.newest(kTo, "a"), "");
  fixture.commit();
  EXPECT_EQ(fixture.on_disk(kTo, "a"), "");
  EXPECT_EQ(fixture.on_disk(kOther, "a"), record_of("333"));
}

TEST(HintStore, WhatIsStagedWhileABatchIsUnderWayOutlivesItsCommit) {
  HintFixture fixture;
  fixture.keep(kTo, "k", record_of("1"));
  const Commit under_way = fixture.store.store->take();
  fixture.erase(kTo, "k");
  fixture.keep(kOther, "k", record_of("2"));
  ASSERT_TRUE(fixture.store.engine->write(*under_way.batch, true).ok());
  fixture.store.store->committed(under_way);
  fixture.hints->committed(under_way.number);

  EXPECT_EQ(fixture.on_disk(kTo, "k"), record_of("1"));
  EXPECT_EQ(fixture.newest(kTo, "k"), "");
  EXPECT_EQ(fixture.newest(kOther, "k"), record_of("2"));
}

TEST(HintStore, OnlyTheDiskKnowsWhatMemoryDoesNot) {
  HintFixture fixture;
  fixture.keep(kTo, "k", record_of("1"));
  fixture.commit();
  fixture.store.disk.set_blocking_share(1, 1);
  const Result<std::optional<std::string>> newest = fixture.hints->newest(kTo, storage_key("k"));
  ASSERT_TRUE(newest.ok());
  EXPECT_FALSE(newest->has_value());
}

TEST(HintStore, ADamagedHintIsSetAside) {
  HintFixture fixture;
  fixture.keep(kTo, "good", record_of("1"));
  fixture.commit();
  fixture.put_raw(HintStore::hint_key(kTo, storage_key("bad")), "\1nonsense");
  fixture.put_raw(HintStore::hint_key(kTo, storage_key("strange")), "\2" + record_of("1"));
  fixture.put_raw("short", "\1" + record_of("1"));
  fixture.open();
  EXPECT_EQ(fixture.hints->damaged(), 3U);
  EXPECT_EQ(fixture.hints->counts(), (HintCounts{{kTo, {1, bytes_of("good", record_of("1"))}}}));

  const Result<HintSlice> slice = hint_slice(*fixture.store.engine, {.intended = kTo, .after = ""});
  ASSERT_TRUE(slice.ok());
  ASSERT_EQ(slice->hints.size(), 1U);
  EXPECT_EQ(slice->hints[0].storage_key, storage_key("good"));
  EXPECT_EQ(fixture.on_disk(kTo, "bad"), "");
  std::string bytes;
  EXPECT_EQ(*fixture.store.engine->get(Family::kHints, HintStore::hint_key(kTo, storage_key("bad")), bytes),
            Lookup::kFound);

  fixture.keep(kTo, "bad", record_of("2"));  // a new one takes its place
  fixture.commit();
  EXPECT_EQ(fixture.on_disk(kTo, "bad"), record_of("2"));
  EXPECT_EQ(fixture.hints->total().hints, 2U);
}

TEST(HintSlice, ListsTheHintsOfOneNodeAlone) {
  HintFixture fixture;
  const std::vector<NodeId> nodes{NodeId{0}, NodeId{6}, kTo, kOther, NodeId{UINT64_MAX}};
  for (const NodeId node : nodes) {
    for (int i = 0; i < 3; ++i) fixture.keep(node, cat("k", i), record_of(cat(node.value, " ", i)));
  }
  fixture.commit();
  for (const NodeId node : nodes) {
    const Result<HintSlice> slice = hint_slice(*fixture.store.engine, {.intended = node, .after = ""});
    ASSERT_TRUE(slice.ok());
    EXPECT_TRUE(slice->at_end);
    ASSERT_EQ(slice->hints.size(), 3U);
    for (const HintSlice::Hint& hint : slice->hints) {
      EXPECT_EQ(hint.record, *read_hint(*fixture.store.engine, node, hint.storage_key));
    }
  }
}

TEST(HintSlice, GoesOnBehindTheLastOneInBoundedSteps) {
  HintFixture fixture;
  std::map<std::string, std::string> expected;
  for (int i = 0; i < 50; ++i) {
    const std::string record = record_of(std::string(i % 5 == 0 ? 1000 : 10, 'v'));
    fixture.keep(kTo, cat("k", i), record);
    expected[storage_key(cat("k", i))] = record;
  }
  fixture.commit();
  for (const HintStep& bounds : {HintStep{kTo, "", 7, 1 << 20}, HintStep{kTo, "", 1000, 500}}) {
    std::map<std::string, std::string> seen;
    HintStep step = bounds;
    for (bool at_end = false; !at_end;) {
      const Result<HintSlice> slice = hint_slice(*fixture.store.engine, step);
      ASSERT_TRUE(slice.ok());
      ASSERT_LE(slice->hints.size(), step.hints_max);
      size_t bytes = 0;
      for (const HintSlice::Hint& hint : slice->hints) {
        EXPECT_LT(bytes, step.bytes_max);  // before the last one
        bytes += hint.storage_key.size() + hint.record.size();
        ASSERT_TRUE(seen.emplace(hint.storage_key, hint.record).second);
        step.after = hint.storage_key;
      }
      at_end = slice->at_end;
      ASSERT_TRUE(at_end || !slice->hints.empty());
    }
    EXPECT_EQ(seen, expected);
  }
}

// Counts are as exact as if all hints were counted anew, whatever has happened.
TEST(HintStore, CountsAreExactThroughLostTails) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    SeededRandom random(seed);
    HintFixture fixture;
    for (int step = 0; step < 80; ++step) {
      const NodeId node{1 + random.below(3)};
      const std::string key = cat("k", random.below(6));
      if (random.one_in(3)) {
        fixture.erase(node, key);
      } else {
        fixture.keep(node, key, record_of(std::string(random.below(50), 'v'), 1 + random.below(1000)));
      }
      if (!random.one_in(4)) continue;
      fixture.commit(random.one_in(3));
      EXPECT_EQ(recover_hints(*fixture.store.engine)->counts, fixture.hints->counts());
      if (!random.one_in(4)) continue;
      fixture.hints.reset();
      fixture.store.close();
      fixture.store.disk.crash(random);
      fixture.open();
    }
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace ringkv
