#include "storage/scan.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/storage/store_fixture.h"

namespace ringkv {
namespace {

std::vector<std::string> keys_of(const ScanSlice& slice) {
  std::vector<std::string> keys;
  for (const ScanEntry& entry : slice.entries) keys.push_back(entry.key);
  return keys;
}

TEST(Scan, PagesShowEveryKeyOnceInTokenOrder) {
  StoreFixture fixture;
  for (int i = 0; i < 100; ++i) fixture.put("k" + std::to_string(i), "v");
  ASSERT_TRUE(fixture.commit().ok());

  std::vector<std::string> keys;
  ScanStep step{.entries_max = 7};
  while (true) {
    const Result<ScanSlice> slice = scan_slice(*fixture.engine, step);
    ASSERT_TRUE(slice.ok());
    EXPECT_LE(slice->entries.size(), 7U);
    for (const std::string& key : keys_of(*slice)) keys.push_back(key);
    if (slice->at_end) break;
    step.after = slice->last;
  }
  EXPECT_EQ(keys.size(), 100U);
  EXPECT_EQ(std::set<std::string>(keys.begin(), keys.end()).size(), 100U);
  for (size_t i = 1; i < keys.size(); ++i) {
    EXPECT_LT(StoreFixture::place(keys[i - 1]).token, StoreFixture::place(keys[i]).token);
  }
}

TEST(Scan, ShowsOnlyLiveValuesOfItsBucketAndPrefix) {
  StoreFixture fixture;
  fixture.put("a1", "v");
  fixture.put("a2", "v");
  fixture.put("a2", "", VersionKind::kTombstone);
  fixture.put("b1", "v");
  ASSERT_TRUE(fixture.commit().ok());

  const Result<ScanSlice> slice =
      scan_slice(*fixture.engine, {.prefix = "a", .entries_max = 10, .values = true});
  EXPECT_EQ(keys_of(*slice), std::vector<std::string>{"a1"});
  EXPECT_EQ(slice->entries[0].values, std::vector<std::string>{"v"});
  EXPECT_TRUE(slice->at_end);

  EXPECT_TRUE(scan_slice(*fixture.engine, {.bucket = "other", .entries_max = 10})->entries.empty());
}

TEST(Scan, APageOfLargeValuesEndsAtItsBytes) {
  StoreFixture fixture;
  for (int i = 0; i < 10; ++i) fixture.put("k" + std::to_string(i), std::string(400'000, 'v'));
  ASSERT_TRUE(fixture.commit().ok());
  const Result<ScanSlice> slice = scan_slice(*fixture.engine, {.entries_max = 100, .values = true});
  EXPECT_EQ(slice->entries.size(), 3U);
  EXPECT_FALSE(slice->at_end);
}

TEST(Scan, ADamagedRecordIsNamedAndNeverShown) {
  StoreFixture fixture;
  const Place place = StoreFixture::place("k");
  const std::unique_ptr<Batch> batch = fixture.engine->new_batch();
  batch->put(Family::kData, place.storage_key, "not a record");
  ASSERT_TRUE(fixture.engine->write(*batch, true).ok());
  const Result<ScanSlice> slice = scan_slice(*fixture.engine, {.entries_max = 10});
  EXPECT_EQ(slice.status().code(), StatusCode::kCorruption);
  EXPECT_NE(slice.status().message().find("'k'"), std::string::npos);
}

TEST(Scan, EqualSiblingValuesAreShownOnce) {
  Record record;
  for (uint64_t i = 1; i <= 3; ++i) {
    record.versions.push_back({.dot = {{NodeId{1}, Boot{1}}, i}, .value = i == 2 ? "b" : "a"});
  }
  EXPECT_EQ(live_values(record, 0), (std::vector<std::string>{"a", "b"}));
}

TEST(Scan, AnExpiredValueIsNotShown) {
  Record record;
  record.versions = {{.dot = {{NodeId{1}, Boot{1}}, 1}, .expires_at_ms = 100, .value = "a"}};
  EXPECT_EQ(live_values(record, 99).size(), 1U);
  EXPECT_TRUE(live_values(record, 100).empty());
}

}  // namespace
}  // namespace ringkv
