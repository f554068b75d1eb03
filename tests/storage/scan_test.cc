#include "storage/scan.h"

#include <gtest/gtest.h>

#include <set>

#include "storage/storage_key.h"
#include "tests/storage/store_fixture.h"

namespace ringkv {
namespace {

std::vector<Partition> all_partitions() {
  std::vector<Partition> all;
  for (Partition partition = 0; partition < kTestPartitions; ++partition) all.push_back(partition);
  return all;
}

ScanStep step_of(size_t records_max) {
  return {.partitions = all_partitions(), .ring_partitions = kTestPartitions, .records_max = records_max};
}

std::vector<std::string> keys_of(const ScanSlice& slice) {
  std::vector<std::string> keys;
  for (const ScanRecord& record : slice.records) {
    keys.emplace_back(parse_storage_key(record.storage_key)->key);
  }
  return keys;
}

std::vector<std::string> walk(StoreFixture& fixture, ScanStep step) {
  std::vector<std::string> keys;
  while (true) {
    const Result<ScanSlice> slice = scan_slice(*fixture.engine, step);
    EXPECT_TRUE(slice.ok());
    EXPECT_LE(slice->records.size(), step.records_max);
    for (const std::string& key : keys_of(*slice)) keys.push_back(key);
    if (slice->at_end) return keys;
    step.after = slice->last;
  }
}

TEST(Scan, StepsShowEveryRecordOnceInTokenOrder) {
  StoreFixture fixture;
  for (int i = 0; i < 100; ++i) fixture.put("k" + std::to_string(i), "v");
  ASSERT_TRUE(fixture.commit().ok());

  const std::vector<std::string> keys = walk(fixture, step_of(7));
  EXPECT_EQ(keys.size(), 100U);
  EXPECT_EQ(std::set<std::string>(keys.begin(), keys.end()).size(), 100U);
  for (size_t i = 1; i < keys.size(); ++i) {
    EXPECT_LT(StoreFixture::place(keys[i - 1]).token, StoreFixture::place(keys[i]).token);
  }
}

TEST(Scan, ShowsOnlyThePartitionsAskedFor) {
  StoreFixture fixture;
  for (int i = 0; i < 100; ++i) fixture.put("k" + std::to_string(i), "v");
  ASSERT_TRUE(fixture.commit().ok());

  ScanStep step = step_of(5);
  step.partitions = {1, 2, 7, 15};
  const std::vector<std::string> keys = walk(fixture, step);
  size_t wanted = 0;
  for (int i = 0; i < 100; ++i) {
    const Partition partition = StoreFixture::place("k" + std::to_string(i)).partition;
    wanted += partition == 1 || partition == 2 || partition == 7 || partition == 15 ? 1 : 0;
  }
  EXPECT_EQ(keys.size(), wanted);
  for (const std::string& key : keys) {
    const Partition partition = StoreFixture::place(key).partition;
    EXPECT_TRUE(partition == 1 || partition == 2 || partition == 7 || partition == 15) << partition;
  }
  step.partitions = {kTestPartitions, kTestPartitions + 1};
  EXPECT_TRUE(walk(fixture, step).empty()) << "partitions that the ring doesn't have";
}

// A deleted record replaces what another replica still holds.
TEST(Scan, ShowsRecordsOfItsBucketAndPrefixDeletedOnesToo) {
  StoreFixture fixture;
  fixture.put("a1", "v");
  fixture.put("a2", "v");
  fixture.put("a2", "", VersionKind::kTombstone);
  fixture.put("b1", "v");
  ASSERT_TRUE(fixture.commit().ok());

  ScanStep step = step_of(10);
  step.prefix = "a";
  step.values = true;
  const Result<ScanSlice> slice = scan_slice(*fixture.engine, step);
  ASSERT_EQ(slice->records.size(), 2U);
  EXPECT_TRUE(slice->at_end);
  for (const ScanRecord& record : slice->records) {
    const bool deleted = parse_storage_key(record.storage_key)->key == "a2";
    EXPECT_EQ(decode_record(record.bytes)->has_live_value(0), !deleted);
  }

  step = step_of(10);
  step.bucket = "other";
  EXPECT_TRUE(scan_slice(*fixture.engine, step)->records.empty());
}

TEST(Scan, WithoutValuesRecordsStillTellWhoLives) {
  StoreFixture fixture;
  fixture.put("k", std::string(1000, 'v'));
  ASSERT_TRUE(fixture.commit().ok());
  const Result<ScanSlice> slice = scan_slice(*fixture.engine, step_of(10));
  ASSERT_EQ(slice->records.size(), 1U);
  EXPECT_LT(slice->records[0].bytes.size(), 200U);
  EXPECT_TRUE(decode_record(slice->records[0].bytes)->has_live_value(0));
}

TEST(Scan, AStepOverLargeValuesEndsAtItsBytes) {
  StoreFixture fixture;
  for (int i = 0; i < 10; ++i) fixture.put("k" + std::to_string(i), std::string(400'000, 'v'));
  ASSERT_TRUE(fixture.commit().ok());
  ScanStep step = step_of(100);
  step.values = true;
  const Result<ScanSlice> slice = scan_slice(*fixture.engine, step);
  EXPECT_EQ(slice->records.size(), 3U);
  EXPECT_FALSE(slice->at_end);
  EXPECT_EQ(walk(fixture, step).size(), 10U);
}

TEST(Scan, ADamagedRecordIsNamedAndNeverShown) {
  StoreFixture fixture;
  const Place place = StoreFixture::place("k");
  const std::unique_ptr<Batch> batch = fixture.engine->new_batch();
  batch->put(Family::kData, place.storage_key, "not a record");
  ASSERT_TRUE(fixture.engine->write(*batch, true).ok());
  const Result<ScanSlice> slice = scan_slice(*fixture.engine, step_of(10));
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
