#include "storage/range_walk.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "storage/hash_subset.h"
#include "storage/storage_key.h"
#include "tests/storage/sample_records.h"
#include "tests/storage/store_fixture.h"

namespace ringkv {
namespace {

constexpr uint32_t kPartitions = 4;

struct Stored {
  Place place;
  std::string record;
};

// Keys of two buckets, spread over all leaves, by storage key.
class WalkFixture {
 public:
  explicit WalkFixture(uint64_t seed = 1) : random_(seed) {}

  void put(std::string_view bucket, std::string_view key, const Record& record) {
    const Place place = place_of({.partitions = kPartitions}, bucket, key);
    std::string bytes;
    const uint64_t low = hashes_are_random ? random_.next() : 1;
    encode_record(record, {.low = low, .high = 2}, content_bytes(key, record), bytes);
    put_raw(Family::kData, place.storage_key, bytes);
    stored[place.storage_key] = {place, bytes};
  }
  void put_raw(Family family, std::string_view key, std::string_view value) {
    const std::unique_ptr<Batch> batch = engine.new_batch();
    batch->put(family, key, value);
    ASSERT_TRUE(engine.write(*batch, true).ok());
  }
  std::string put_some(size_t count, size_t value_bytes_max) {
    for (size_t i = 0; i < count; ++i) {
      const Dot dot{sample::kA, i + 1};
      const Record record{sample::context({dot}),
                          {sample::value(dot, std::string(random_.below(value_bytes_max + 1), 'v'))}};
      put(random_.one_in(3) ? "bucket" : "", cat("k", i),
          random_.one_in(9) ? Record{record.context, {}} : record);
    }
    return stored.begin()->first;
  }

  MemoryDisk disk;
  MemoryEngine engine{disk};
  std::map<std::string, Stored> stored;
  bool hashes_are_random = false;
  SeededRandom random_;
};

// Until its end; each slice keeps its bound.
std::vector<RangeEntry> walk_all(Engine& engine, RangeStep step) {
  std::vector<RangeEntry> all;
  for (int steps = 0; steps < 10'000; ++steps) {
    Result<RangeSlice> slice = range_slice(engine, step);
    EXPECT_TRUE(slice.ok()) << slice.status().message();
    if (!slice.ok()) return all;
    size_t bytes = 0;
    for (const RangeEntry& entry : slice->entries) {
      bytes += entry.storage_key.size() + (entry.record ? entry.record->size() : 0);
    }
    EXPECT_TRUE(slice->entries.size() == 1 || bytes <= step.bytes_max) << bytes;
    all.insert(all.end(), slice->entries.begin(), slice->entries.end());
    if (slice->at_end) return all;
    EXPECT_FALSE(slice->entries.empty());
    EXPECT_EQ(slice->last, slice->entries.back().storage_key);
    step.after = slice->last;
  }
  ADD_FAILURE() << "the walk doesn't end";
  return all;
}

void expect_equal(const std::vector<RangeEntry>& found, const std::vector<std::string>& expected,
                  const std::map<std::string, Stored>& stored, bool records) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].storage_key, expected[i]);
    const std::string& bytes = stored.at(expected[i]).record;
    EXPECT_EQ(found[i].head, *decode_record_head(bytes));
    ASSERT_EQ(found[i].record != nullptr, records);
    EXPECT_TRUE(!records || *found[i].record == bytes);
  }
}

LeafSet random_leaves(Random& random) {
  LeafSet leaves;
  const uint64_t share = 1 + random.below(20);
  for (size_t leaf = 0; leaf < leaves.size(); ++leaf) leaves[leaf] = random.one_in(share);
  return leaves;
}

// Whoever sends or takes a slice does nothing else meanwhile: small records are bounded by their number.
TEST(RangeSlice, HasFewRecordsHoweverSmallTheyAre) {
  WalkFixture fixture(1);
  fixture.put_some(20'000, 1);
  RangeStep step{.ring_partitions = kPartitions, .leaves = LeafSet().set()};
  const Result<RangeSlice> records = range_slice(fixture.engine, step);
  ASSERT_TRUE(records.ok());
  EXPECT_EQ(records->entries.size(), 128U);
  EXPECT_FALSE(records->at_end);
  step.records = false;
  const Result<RangeSlice> heads = range_slice(fixture.engine, step);
  ASSERT_TRUE(heads.ok());
  EXPECT_EQ(heads->entries.size(), 512U);
}

TEST(RangeSlice, WalksExactlyTheLeavesAskedForInTokenOrder) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    WalkFixture fixture(seed);
    fixture.put_some(600, 100);
    SeededRandom random(seed);
    for (Partition partition = 0; partition < kPartitions; ++partition) {
      const LeafSet leaves = random_leaves(random);
      std::vector<std::string> expected;
      for (const auto& [storage_key, stored] : fixture.stored) {
        const bool asked =
            stored.place.partition == partition && leaves[stored.place.leaf % kLeavesPerPartition];
        if (asked) expected.push_back(storage_key);
      }
      const bool records = random.one_in(2);
      const RangeStep step{.partition = partition,
                           .ring_partitions = kPartitions,
                           .leaves = leaves,
                           .after = "",
                           .storage_keys = {},
                           .records = records,
                           .bytes_max = 1 + random.below(3000)};
      expect_equal(walk_all(fixture.engine, step), expected, fixture.stored, records);
    }
    if (HasFailure()) return;
  }
}

// Another node's leaves lack some records of each: these are what is found, in as many steps as it takes.
TEST(RangeSlice, TellsByTheHashOfALeafWhatAnotherLacks) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    WalkFixture fixture(seed);
    fixture.hashes_are_random = true;
    fixture.put_some(1500, 100);
    SeededRandom random(seed);
    std::map<uint8_t, Hash128> here, there;
    std::vector<std::string> lacking;
    for (const auto& [storage_key, stored] : fixture.stored) {
      if (stored.place.partition != 2) continue;
      const auto leaf = static_cast<uint8_t>(stored.place.leaf % kLeavesPerPartition);
      const Hash128 hash = decode_record_head(stored.record)->hash;
      here[leaf] ^= hash;
      there[leaf];
      if (random.one_in(3)) {
        lacking.push_back(storage_key);
      } else {
        there[leaf] ^= hash;
      }
    }
    RangeStep step{.partition = 2, .ring_partitions = kPartitions, .bytes_max = 1 + random.below(3000)};
    for (const auto& [leaf, hash] : there) step.leaves_elsewhere.push_back({leaf, hash});
    std::vector<RangeEntry> found;
    while (!step.leaves_elsewhere.empty()) {
      const Result<RangeSlice> slice = range_slice(fixture.engine, step);
      ASSERT_TRUE(slice.ok());
      ASSERT_FALSE(slice->answered.empty());
      EXPECT_EQ(slice->at_end, slice->answered.size() == step.leaves_elsewhere.size());
      for (const LeafAnswer& answer : slice->answered) {
        EXPECT_EQ(answer, (LeafAnswer{step.leaves_elsewhere.front().leaf, here[answer.leaf]}));
        EXPECT_TRUE(slice->told[answer.leaf]);
        step.leaves_elsewhere.erase(step.leaves_elsewhere.begin());
      }
      found.insert(found.end(), slice->entries.begin(), slice->entries.end());
    }
    expect_equal(found, lacking, fixture.stored, true);
    if (HasFailure()) return;
  }
}

TEST(RangeSlice, TellsNothingOfALeafThatHoldsSomethingElse) {
  WalkFixture fixture;
  fixture.hashes_are_random = true;
  fixture.put_some(1500, 100);
  const uint32_t leaf = fixture.stored.begin()->second.place.leaf;
  const Result<RangeSlice> slice = range_slice(
      fixture.engine, {.partition = 0,
                       .ring_partitions = kPartitions,
                       .leaves_elsewhere = {{static_cast<uint8_t>(leaf), {.low = 1, .high = 1}}}});
  ASSERT_TRUE(slice.ok());
  EXPECT_TRUE(slice->entries.empty());
  ASSERT_EQ(slice->answered.size(), 1U);
  EXPECT_TRUE(slice->answered.front().hash.has_value());
  EXPECT_TRUE(slice->told.none());
  EXPECT_TRUE(slice->at_end);
}

TEST(RangeSlice, TellsNothingOfALeafWithTooManyRecords) {
  WalkFixture fixture;
  const uint32_t leaf = place_of({.partitions = kPartitions}, "", "k0").leaf;
  for (size_t i = 0, found = 0; found <= kSubsetMax; ++i) {
    const std::string key = cat("k", i);
    if (place_of({.partitions = kPartitions}, "", key).leaf != leaf) continue;
    const Dot dot{sample::kA, i + 1};
    fixture.put("", key, {sample::context({dot}), {sample::value(dot, "v")}});
    ++found;
  }
  const Result<RangeSlice> slice = range_slice(
      fixture.engine, {.partition = leaf / kLeavesPerPartition,
                       .ring_partitions = kPartitions,
                       .leaves_elsewhere = {{static_cast<uint8_t>(leaf % kLeavesPerPartition), {}}}});
  ASSERT_TRUE(slice.ok());
  EXPECT_TRUE(slice->entries.empty());
  EXPECT_EQ(slice->answered,
            (std::vector<LeafAnswer>{{static_cast<uint8_t>(leaf % kLeavesPerPartition), {}}}));
  EXPECT_TRUE(slice->told.none());
  EXPECT_TRUE(slice->at_end);
}

// Nothing is sent of them, but they must be read.
TEST(RangeSlice, LooksAtSoMuchInOneStep) {
  WalkFixture fixture;
  fixture.hashes_are_random = true;
  RangeStep step{.partition = 1, .ring_partitions = kPartitions};
  std::set<uint32_t> leaves;
  for (size_t i = 0; leaves.size() < 20; ++i) {
    const std::string key = cat("k", i);
    const Place place = place_of({.partitions = kPartitions}, "", key);
    if (place.partition != 1 || !leaves.insert(place.leaf % kLeavesPerPartition).second) continue;
    const Dot dot{sample::kA, i + 1};
    fixture.put("", key, {sample::context({dot}), {sample::value(dot, std::string(900'000, 'v'))}});
  }
  for (const uint32_t leaf : leaves)
    step.leaves_elsewhere.push_back({static_cast<uint8_t>(leaf), {.low = 1, .high = 1}});
  const Result<RangeSlice> slice = range_slice(fixture.engine, step);
  ASSERT_TRUE(slice.ok());
  EXPECT_EQ(slice->answered.size(), 10U) << "8 MiB and the record that passes them";
  EXPECT_FALSE(slice->at_end);
}

// Its hash isn't that of an empty leaf.
TEST(RangeSlice, TellsNothingOfALeafThatIsTooLarge) {
  WalkFixture fixture;
  const Place place = place_of({.partitions = kPartitions}, "", "k0");
  const auto leaf = static_cast<uint8_t>(place.leaf % kLeavesPerPartition);
  for (size_t i = 0, found = 0; found < 3; ++i) {
    const std::string key = cat("k", i);
    if (place_of({.partitions = kPartitions}, "", key).leaf != place.leaf) continue;
    const Dot dot{sample::kA, i + 1};
    fixture.put("", key, {sample::context({dot}), {sample::value(dot, std::string(600'000, 'v'))}});
    ++found;
  }
  const Result<RangeSlice> slice = range_slice(
      fixture.engine,
      {.partition = place.partition, .ring_partitions = kPartitions, .leaves_elsewhere = {{leaf, {}}}});
  ASSERT_TRUE(slice.ok());
  EXPECT_EQ(slice->answered, (std::vector<LeafAnswer>{{leaf, {}}}));
  EXPECT_TRUE(slice->entries.empty());
}

TEST(RangeSlice, LooksUpExactlyTheKeysAskedFor) {
  WalkFixture fixture;
  fixture.put_some(100, 100);
  std::vector<std::string> asked, expected;
  for (const auto& [storage_key, stored] : fixture.stored) {
    asked.push_back(storage_key + '!');  // absent
    if (!fixture.random_.one_in(2)) continue;
    asked.push_back(storage_key);
    expected.push_back(storage_key);
  }
  std::vector<RangeEntry> found;
  while (true) {  // as a puller does: what comes after the last one looked at is asked for again
    RangeStep step{
        .partition = 0, .ring_partitions = kPartitions, .leaves = {}, .after = "", .storage_keys = asked};
    step.bytes_max = 1000;
    const Result<RangeSlice> slice = range_slice(fixture.engine, step);
    ASSERT_TRUE(slice.ok());
    found.insert(found.end(), slice->entries.begin(), slice->entries.end());
    const auto last = std::find(asked.begin(), asked.end(), slice->last);
    ASSERT_NE(last, asked.end());
    asked.erase(asked.begin(), last + 1);
    if (slice->at_end) break;
  }
  EXPECT_TRUE(asked.empty());
  expect_equal(found, expected, fixture.stored, true);
}

TEST(RangeSlice, ARecordLargerThanTheBoundComesAlone) {
  WalkFixture fixture;
  fixture.put_some(100, 10);
  const auto middle = std::next(fixture.stored.begin(), 50);
  const std::string key(middle->first.substr(middle->first.find('k')));
  const Dot dot{sample::kB, 1};
  fixture.put(middle->second.place.storage_key.find("bucket") == std::string::npos ? "" : "bucket", key,
              {sample::context({dot}), {sample::value(dot, std::string(50'000, 'x'))}});
  LeafSet all;
  all.set();
  size_t found = 0;
  bool alone = false;
  for (Partition partition = 0; partition < kPartitions; ++partition) {
    RangeStep step{.partition = partition, .ring_partitions = kPartitions, .leaves = all};
    step.bytes_max = 5000;
    for (bool at_end = false; !at_end;) {
      const Result<RangeSlice> slice = range_slice(fixture.engine, step);
      ASSERT_TRUE(slice.ok());
      for (const RangeEntry& entry : slice->entries) {
        ++found;
        if (entry.record->size() > 50'000) alone = slice->entries.size() == 1;
      }
      step.after = slice->last;
      at_end = slice->at_end;
    }
  }
  EXPECT_EQ(found, 100U);
  EXPECT_TRUE(alone);
}

TEST(RangeSlice, AWalkOverNothingIsAtItsEnd) {
  WalkFixture fixture;
  fixture.put_some(50, 10);
  const Result<RangeSlice> slice =
      range_slice(fixture.engine, {.partition = 1, .ring_partitions = kPartitions, .leaves = {}});
  ASSERT_TRUE(slice.ok());
  EXPECT_TRUE(slice->at_end);
  EXPECT_TRUE(slice->entries.empty());
}

TEST(RangeSlice, ADamagedRecordIsNamedByItsKey) {
  WalkFixture fixture;
  const Place place = place_of({.partitions = kPartitions}, "", "broken");
  fixture.put_raw(Family::kData, place.storage_key, "nonsense");
  LeafSet all;
  all.set();
  const Result<RangeSlice> slice = range_slice(
      fixture.engine, {.partition = place.partition, .ring_partitions = kPartitions, .leaves = all});
  EXPECT_EQ(slice.status().code(), StatusCode::kCorruption);
  EXPECT_NE(slice.status().message().find("broken"), std::string::npos) << slice.status().message();
}

TEST(TransientSlice, ShowsWhatIsThereNowOfEveryKeyInTheIndex) {
  WalkFixture fixture;
  fixture.put_some(80, 10);
  std::vector<std::string> expected;
  for (const auto& [storage_key, stored] : fixture.stored) {
    if (!fixture.random_.one_in(2)) continue;
    fixture.put_raw(Family::kDigests, transient_key(storage_key), "");
    fixture.put_raw(Family::kDigests, transient_key(storage_key + '!'), "");  // gone since
    expected.push_back(storage_key);
    expected.push_back(storage_key + '!');
  }
  fixture.put_raw(Family::kDigests, "sooner", "another's");
  fixture.put_raw(Family::kDigests, "u", "another's");

  TransientStep step{.after = "", .records_max = 7};
  std::vector<std::string> found;
  for (bool at_end = false; !at_end;) {
    const Result<TransientSlice> slice = transient_slice(fixture.engine, step);
    ASSERT_TRUE(slice.ok());
    EXPECT_LE(slice->entries.size(), 7U);
    for (const TransientSlice::Entry& entry : slice->entries) {
      found.push_back(entry.storage_key);
      const auto stored = fixture.stored.find(entry.storage_key);
      EXPECT_EQ(entry.outline.head,
                stored == fixture.stored.end() ? RecordHead() : *decode_record_head(stored->second.record));
    }
    step.after = slice->last;
    at_end = slice->at_end;
  }
  EXPECT_EQ(found, expected);
}

// Else whatever lies behind it could never go.
TEST(TransientSlice, LeavesOutADamagedRecord) {
  WalkFixture fixture;
  const std::string first = fixture.put_some(3, 10);
  fixture.put_raw(Family::kData, first, "nonsense");
  for (const auto& [storage_key, stored] : fixture.stored) {
    fixture.put_raw(Family::kDigests, transient_key(storage_key), "");
  }
  const Result<TransientSlice> slice = transient_slice(fixture.engine, {});
  ASSERT_TRUE(slice.ok());
  EXPECT_TRUE(slice->at_end);
  EXPECT_EQ(slice->entries.size(), 2U);
}

}  // namespace
}  // namespace ringkv
