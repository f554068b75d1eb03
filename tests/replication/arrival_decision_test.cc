#include "replication/arrival_decision.h"

#include <gtest/gtest.h>

#include <array>

#include "tests/storage/sample_records.h"

namespace ringkv {
namespace {

using sample::context;
using sample::kA;
using sample::kB;
using sample::value;

RecordHead head(const Record& record) { return head_of(record, {}, 0); }

RecordOutline outline(const Record& record) {
  RecordOutline outline{head(record), record.versions};
  for (Version& version : outline.versions) version.value.clear();
  return outline;
}

Record record_of(const Version& version, std::vector<Dot> seen = {}) {
  seen.push_back(version.dot);
  return {context(seen, version.time), {version}};
}

TEST(ArrivalDecision, WhatIsHeldAlreadyIsNothingNew) {
  const Record held = record_of(value({kA, 2}, "b", 2), {{kA, 1}});
  EXPECT_EQ(effect_of(outline(held), head(held), Conflict::kSiblings, Source::kPut),
            ArrivalEffect::kNothingNew);
  const Record superseded = record_of(value({kA, 1}, "a"));
  EXPECT_EQ(effect_of(outline(superseded), head(held), Conflict::kSiblings, Source::kPut),
            ArrivalEffect::kNothingNew);
}

// The way of nearly every put: bytes go to the disk as they came, and nothing is read.
TEST(ArrivalDecision, ARecordThatCoversAllThatIsHeldTakesItsPlaceAsItCame) {
  const Record held = record_of(value({kA, 1}, "a"));
  const Record next = record_of(value({kA, 2}, "b", 2), {{kA, 1}});
  EXPECT_EQ(effect_of(outline(next), head(held), Conflict::kSiblings, Source::kPut),
            ArrivalEffect::kReplacesAll);
  EXPECT_EQ(effect_of(outline(next), RecordHead(), Conflict::kLastWriterWins, Source::kPut),
            ArrivalEffect::kReplacesAll);
}

TEST(ArrivalDecision, ConcurrentVersionsOfOurOwnMustBeRead) {
  const Record held = record_of(value({kA, 1}, "a"));
  const Record other = record_of(value({kB, 1}, "b"));
  EXPECT_EQ(effect_of(outline(other), head(held), Conflict::kSiblings, Source::kPut),
            ArrivalEffect::kNeedsOurs);
}

TEST(ArrivalDecision, InALwwBucketALaterTimeDecidesWithoutReading) {
  const Record held = record_of(value({kA, 1}, "a", 10));
  EXPECT_EQ(effect_of(outline(record_of(value({kB, 1}, "b", 11))), head(held), Conflict::kLastWriterWins,
                      Source::kPut),
            ArrivalEffect::kLeavesNoneOfOurs);
  EXPECT_EQ(effect_of(outline(record_of(value({kB, 1}, "b", 10))), head(held), Conflict::kLastWriterWins,
                      Source::kPut),
            ArrivalEffect::kNeedsOurs);
}

TEST(ArrivalDecision, HowAVersionCameIsKeptForTheOnesHeldAndSetForTheNew) {
  Record held = record_of(value({kA, 1}, "a"));
  held.versions[0].source = Source::kHint;
  Record arriving = record_of(value({kB, 1}, "b"), {{kA, 1}});
  arriving.versions.insert(arriving.versions.begin(), value({kA, 1}, "a"));
  const Record merged = merge_with(held, arriving, Conflict::kSiblings, Source::kReadRepair);
  ASSERT_EQ(merged.versions.size(), 2U);
  EXPECT_EQ(merged.versions[0].source, Source::kHint);
  EXPECT_EQ(merged.versions[1].source, Source::kReadRepair);
}

// Whatever way is taken, the result is the merge.
TEST(ArrivalDecision, EveryWayComesToTheSameAsTheMerge) {
  std::array<size_t, 4> taken{};
  for (uint64_t seed = 1; seed <= 3000; ++seed) {
    SCOPED_TRACE(seed);
    SeededRandom random(seed);
    const Conflict conflict = random.one_in(2) ? Conflict::kSiblings : Conflict::kLastWriterWins;
    std::array<sample::Coordinator, 3> nodes = {sample::Coordinator{sample::actor(1), conflict, 1000},
                                                sample::Coordinator{sample::actor(2), conflict, 1003},
                                                sample::Coordinator{sample::actor(3), conflict, 997}};
    for (int step = 0; step < 12; ++step) {
      sample::Coordinator& node = nodes[random.below(3)];
      node.clock += random.below(4);
      const Record& other = nodes[random.below(3)].record;
      if (random.one_in(2)) {
        const std::string bytes = std::to_string(step);
        random.one_in(3) ? node.put(bytes, other.context) : node.put(bytes);
        continue;
      }
      const ArrivalEffect effect = effect_of(outline(other), head(node.record), conflict, Source::kPut);
      ++taken[static_cast<size_t>(effect)];
      Record merged = merge(node.record, other);
      if (conflict == Conflict::kLastWriterWins) keep_winner(merged);
      Record result = node.record;
      if (effect == ArrivalEffect::kReplacesAll) result = other;
      if (effect == ArrivalEffect::kLeavesNoneOfOurs) {
        result = merge_over(head(node.record), other, conflict, Source::kPut);
      }
      if (effect == ArrivalEffect::kNeedsOurs) {
        result = merge_with(node.record, other, conflict, Source::kPut);
      }
      ASSERT_EQ(result, merged) << static_cast<int>(effect);
      node.record = merged;
    }
  }
  for (const size_t times : taken) EXPECT_GT(times, 100U);
}

}  // namespace
}  // namespace ringkv
