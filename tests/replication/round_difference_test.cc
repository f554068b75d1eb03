#include "replication/round_difference.h"

#include <gtest/gtest.h>

namespace ringkv {
namespace {

constexpr Actor kA{NodeId{1}, Boot{10}};
constexpr Actor kB{NodeId{2}, Boot{20}};

CausalContext context(std::vector<std::pair<Actor, uint64_t>> entries) {
  CausalContext context;
  for (const auto& [actor, counter] : entries) context.vector.raise(actor, counter);
  return context;
}
bool nothing(const Dot&) { return false; }

TEST(RoundDifference, AVersionThatWasNeverMergedHereIsLacking) {
  EXPECT_EQ(difference_of({{kA, 1}}, nullptr, {}, nothing), Difference::kLacking);
  const OwnKey own{.dots = {{kB, 1}}, .context = context({{kB, 1}})};
  EXPECT_EQ(difference_of({{kA, 1}, {kB, 1}}, &own, {}, nothing), Difference::kLacking);
}

TEST(RoundDifference, WhatIsHeldOrSupersededHereIsNone) {
  const OwnKey held{.dots = {{kA, 1}}, .context = context({{kA, 1}})};
  EXPECT_EQ(difference_of({{kA, 1}}, &held, {}, nothing), Difference::kNone);
  const OwnKey superseded{.dots = {{kB, 1}}, .context = context({{kA, 1}, {kB, 1}})};
  EXPECT_EQ(difference_of({{kA, 1}}, &superseded, {}, nothing), Difference::kNone);
}

// A tombstone that was let go here isn't copied back.
TEST(RoundDifference, WhatTheOwnFloorCoversIsNone) {
  const auto up_to_five = [](const Dot& dot) { return dot.actor == kA && dot.counter <= 5; };
  EXPECT_EQ(difference_of({{kA, 5}}, nullptr, {}, up_to_five), Difference::kNone);
  EXPECT_EQ(difference_of({{kA, 6}}, nullptr, {}, up_to_five), Difference::kLacking);
}

TEST(RoundDifference, AVersionThatIsGoneThereUnderItsFloorIsSuperseded) {
  const OwnKey own{.dots = {{kA, 1}, {kB, 7}}, .context = context({{kA, 1}, {kB, 7}})};
  const SourceClaims source{.floor = context({{kA, 3}, {kB, 6}}), .closed = {}};
  EXPECT_EQ(difference_of({{kB, 7}}, &own, source, nothing), Difference::kSuperseded);
  EXPECT_EQ(gone_dots(own, {{kB, 7}}, source), (std::vector<Dot>{{kA, 1}}));
  // Above its floor it may just not have come there yet.
  EXPECT_EQ(difference_of({{kA, 1}}, &own, source, nothing), Difference::kNone);
  EXPECT_TRUE(gone_dots(own, {{kA, 1}}, source).empty());
}

TEST(RoundDifference, AClosedLifeIsCoveredInWhole) {
  const OwnKey own{.dots = {{kA, 1}, {kB, 7}}, .context = context({{kA, 1}, {kB, 7}})};
  const SourceClaims source{.floor = {}, .closed = {kB}};
  EXPECT_EQ(gone_dots(own, {}, source), (std::vector<Dot>{{kB, 7}}));
}

// Somebody else may hold what it supersedes.
TEST(RoundDifference, ABareContextThatIsNotKnownHereIsLacking) {
  const CausalContext there = context({{kA, 1}, {kB, 2}});
  EXPECT_EQ(bare_difference_of(there, nullptr, {}, nothing), Difference::kLacking);
  const OwnKey partly{.dots = {}, .context = context({{kA, 1}, {kB, 1}})};
  EXPECT_EQ(bare_difference_of(there, &partly, {}, nothing), Difference::kLacking);
  const OwnKey wholly{.dots = {}, .context = context({{kA, 3}, {kB, 2}})};
  EXPECT_EQ(bare_difference_of(there, &wholly, {}, nothing), Difference::kNone);
}

TEST(RoundDifference, ABareContextUnderTheOwnFloorIsNoNews) {
  const auto all = [](const Dot&) { return true; };
  EXPECT_EQ(bare_difference_of(context({{kA, 1}}), nullptr, {}, all), Difference::kNone);
  const OwnKey bare{.dots = {}, .context = context({{kB, 1}})};
  EXPECT_EQ(bare_difference_of(context({{kA, 1}}), &bare, {}, all), Difference::kLacking)
      << "both must come to hold the same";
}

TEST(RoundDifference, ABareContextSupersedesWhatItOrTheSourceCovers) {
  const OwnKey own{.dots = {{kA, 1}}, .context = context({{kA, 1}})};
  EXPECT_EQ(bare_difference_of(context({{kA, 1}}), &own, {}, nothing), Difference::kSuperseded);
  const SourceClaims claims{.floor = context({{kA, 2}}), .closed = {}};
  EXPECT_EQ(bare_difference_of(context({{kB, 1}}), &own, claims, nothing), Difference::kSuperseded);
  const OwnKey other{.dots = {{kB, 9}}, .context = context({{kA, 1}, {kB, 9}})};
  EXPECT_EQ(bare_difference_of(context({{kA, 1}}), &other, {}, nothing), Difference::kNone);
}

TEST(RoundDifference, AFloorNamesOfAClosedLifeOnlyWhatIsAtHand) {
  const auto source = std::make_shared<const Floor>(context({{kA, 3}}));
  EXPECT_EQ(floor_for({{kA, 2}}, source), source);
  const auto raised = floor_for({{kA, 2}, {kB, 7}}, source);
  EXPECT_EQ(raised->vector.counter_of(kB), 7U);
  EXPECT_EQ(raised->vector.counter_of(kA), 3U);
}

TEST(RoundDifference, ABareContextCoversJustWhatIsGone) {
  const OwnKey own{.dots = {{kA, 1}, {kB, 7}}, .context = context({{kA, 4}, {kB, 7}})};
  const CausalContext covering = context_over({{kA, 1}}, own);
  EXPECT_EQ(covering.vector.counter_of(kA), 1U);
  EXPECT_EQ(covering.vector.counter_of(kB), 0U);
}

TEST(RoundDifference, RecordsComeAtOnceOfSmallLeavesAndOfThoseThatAreEmptyHere) {
  const Leaf small{.hash = {1, 1}, .keys = 2, .bytes = 4096};
  const Leaf large{.hash = {2, 2}, .keys = 2, .bytes = 4097};
  const Leaf other{.hash = {3, 3}, .keys = 1, .bytes = 100};
  EXPECT_TRUE(wants_records(other, small));
  EXPECT_FALSE(wants_records(other, large));
  EXPECT_TRUE(wants_records(Leaf(), large));
}

TEST(RoundDifference, WhatIsLackingMayBeToldOfSmallLeavesWithMoreKeys) {
  const Leaf one{.hash = {1, 1}, .keys = 1, .bytes = 100};
  EXPECT_TRUE(may_lack_keys_only(one, {.hash = {2, 2}, .keys = 64, .bytes = 256 << 10}));
  EXPECT_TRUE(may_lack_keys_only(Leaf(), one));
  EXPECT_FALSE(may_lack_keys_only(one, {.hash = {2, 2}, .keys = 1, .bytes = 200}));
  EXPECT_FALSE(may_lack_keys_only(one, {.hash = {2, 2}, .keys = 65, .bytes = 200}));
  EXPECT_FALSE(may_lack_keys_only(one, {.hash = {2, 2}, .keys = 2, .bytes = (256 << 10) + 1}));
}

// They may differ only by tombstones, which aren't counted.
TEST(RoundDifference, LeavesThatCountTheSameAreListedFirst) {
  const Leaf theirs{.hash = {1, 1}, .keys = 1, .bytes = 10};
  EXPECT_FALSE(wants_records({.hash = {2, 2}, .keys = 1, .bytes = 10}, theirs));
  EXPECT_FALSE(wants_records(Leaf(), {.hash = {1, 1}, .keys = 0, .bytes = 0}));
}

}  // namespace
}  // namespace ringkv
