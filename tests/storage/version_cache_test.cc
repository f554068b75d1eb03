#include "storage/version_cache.h"

#include <gtest/gtest.h>

namespace ringkv {
namespace {

constexpr Actor kA{NodeId{1}, Boot{10}};
constexpr Actor kB{NodeId{2}, Boot{20}};

RecordHead plain_head(uint64_t counter) {
  RecordHead head;
  head.context.vector.raise(kA, counter);
  head.context.vector.raise(kB, 7);
  head.context.highest_time = 99;
  head.dots = {{kA, counter}};
  head.hash = {.low = counter, .high = 5};
  head.content_bytes = 123;
  return head;
}

KeyIdentity key(uint64_t number) { return identity_of("", std::to_string(number)); }

TEST(VersionCache, GivesBackWhatItWasGiven) {
  VersionCache cache(1 << 20);
  cache.insert(key(1), plain_head(3));
  EXPECT_EQ(cache.find(key(1)), plain_head(3));
  EXPECT_EQ(cache.find(key(2)), std::nullopt);
}

TEST(VersionCache, ANewerHeadTakesThePlaceOfTheOlder) {
  VersionCache cache(1 << 20);
  cache.insert(key(1), plain_head(3));
  cache.insert(key(1), plain_head(4));
  EXPECT_EQ(cache.find(key(1)), plain_head(4));
}

TEST(VersionCache, KnowsWhatMayGoSomeDay) {
  VersionCache cache(1 << 20);
  RecordHead head = plain_head(3);
  cache.insert(key(1), head);
  EXPECT_FALSE(cache.find(key(1))->transient);
  head.transient = true;
  cache.insert(key(1), head);
  EXPECT_TRUE(cache.find(key(1))->transient);
}

// A record that is erased, or keeps its context alone, must not be found with the versions that it had.
TEST(VersionCache, AHeadWithoutVersionsTakesTheOlderOneAway) {
  VersionCache cache(1 << 20);
  RecordHead bare;
  bare.context = plain_head(4).context;
  for (const RecordHead& head : {RecordHead(), bare}) {
    cache.insert(key(1), plain_head(3));
    cache.insert(key(1), head);
    EXPECT_EQ(cache.find(key(1)), std::nullopt);
  }
}

TEST(VersionCache, AStrippedContextStaysMarked) {
  VersionCache cache(1 << 20);
  RecordHead head = plain_head(3);
  head.context.stripped = true;
  cache.insert(key(1), head);
  EXPECT_EQ(cache.find(key(1)), head);
}

// A head that can't be packed must not leave an older one behind: a stamp would not see what it replaces.
TEST(VersionCache, AHeadThatDoesNotFitDropsTheOlderOne) {
  VersionCache cache(1 << 20);
  cache.insert(key(1), plain_head(3));
  RecordHead siblings = plain_head(4);
  siblings.dots.push_back({kB, 7});
  cache.insert(key(1), siblings);
  EXPECT_EQ(cache.find(key(1)), std::nullopt);

  cache.insert(key(1), plain_head(3));
  RecordHead many = plain_head(5);
  for (uint64_t i = 30; i < 33; ++i) many.context.vector.raise({NodeId{i}, Boot{i}}, 1);
  cache.insert(key(1), many);
  EXPECT_EQ(cache.find(key(1)), std::nullopt);

  cache.insert(key(1), plain_head(3));
  RecordHead dot_behind_context = plain_head(6);
  dot_behind_context.dots = {{kA, 2}};
  cache.insert(key(1), dot_behind_context);
  EXPECT_EQ(cache.find(key(1)), std::nullopt);
}

TEST(VersionCache, StaysWithinItsMemoryAndNeverMixesKeysUp) {
  VersionCache cache(16 << 10);
  for (uint64_t i = 0; i < 5000; ++i) cache.insert(key(i), plain_head(i + 1));
  size_t found = 0;
  for (uint64_t i = 0; i < 5000; ++i) {
    const std::optional<RecordHead> head = cache.find(key(i));
    if (!head) continue;
    ++found;
    EXPECT_EQ(*head, plain_head(i + 1));
  }
  EXPECT_GT(found, 50U);
  EXPECT_LT(found, 500U);
}

// Keys of one partition have the same first bits.
TEST(VersionCache, KeysOfOnePartitionUseAllOfIt) {
  VersionCache cache(64 << 10);
  size_t inserted = 0;
  std::vector<KeyIdentity> keys;
  for (uint64_t i = 0; inserted < 300; ++i) {
    if (digest_of("", std::to_string(i)).sha1[0] != 0x5a) continue;
    keys.push_back(key(i));
    cache.insert(keys.back(), plain_head(++inserted));
  }
  size_t found = 0;
  for (const KeyIdentity& each : keys) found += cache.find(each) ? 1 : 0;
  EXPECT_GT(found, 200U);
}

}  // namespace
}  // namespace ringkv
