#include "storage/record.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/storage/sample_records.h"

namespace ringkv {
namespace {

using namespace sample;
using Values = std::vector<std::string>;

constexpr uint64_t kNowMs = 1'000'000;

Version expiring(Version version, uint64_t at_ms) {
  version.expires_at_ms = at_ms;
  return version;
}

TEST(Version, IsLiveUntilItsTimeHasRunOut) {
  EXPECT_TRUE(is_live(value({kA, 1}, "x"), kNowMs));
  EXPECT_TRUE(is_live(expiring(value({kA, 1}, "x"), kNowMs + 1), kNowMs));
  EXPECT_FALSE(is_live(expiring(value({kA, 1}, "x"), kNowMs), kNowMs));
  EXPECT_FALSE(is_live(tombstone({kA, 1}), kNowMs));
}

TEST(Record, HasALiveValueWhenOneSiblingIsLive) {
  EXPECT_FALSE(Record{}.has_live_value(kNowMs));
  EXPECT_FALSE((Record{context({{kA, 1}}), {tombstone({kA, 1})}}).has_live_value(kNowMs));
  EXPECT_TRUE(
      (Record{context({{kA, 1}, {kB, 1}}), {tombstone({kA, 1}), value({kB, 1}, "")}}).has_live_value(kNowMs));
}

TEST(Stamped, ReplacesExactlyWhatTheWriterHasSeen) {
  const Record current{context({{kA, 2}, {kB, 1}}), {value({kA, 2}, "seen"), value({kB, 1}, "unseen")}};

  const Record result = stamped(current, {value({kC, 1}, "new"), context({{kA, 2}})}, Conflict::kSiblings);

  EXPECT_EQ(values_of(result), (Values{"unseen", "new"}));
  EXPECT_EQ(result.context, context({{kA, 2}, {kB, 1}, {kC, 1}}));
}

TEST(Stamped, BlindlyReplacesAllThatTheRecordHolds) {
  const Record current{context({{kA, 1}, {kB, 1}}), {value({kA, 1}, "a"), value({kB, 1}, "b")}};
  const Record result = stamped(current, {value({kC, 1}, "c"), {}}, Conflict::kSiblings);
  EXPECT_EQ(values_of(result), Values{"c"});
}

// What a client saw through another coordinator is covered here too, though it never arrived.
TEST(Stamped, TakesTheWritersContextIntoItsOwn) {
  const Record result = stamped({}, {value({kA, 1}, "new", 8), context({{kB, 7}}, 5)}, Conflict::kSiblings);

  EXPECT_EQ(result.context, context({{kA, 1}, {kB, 7}}, 8));
  EXPECT_EQ(values_of(merge(result, {context({{kB, 7}}), {value({kB, 7}, "late")}})), Values{"new"});
}

TEST(Stamped, KeepsVersionsInOrderOfDot) {
  const Record current{context({{kC, 1}}), {value({kC, 1}, "c")}};
  const Record result = stamped(current, {value({kA, 1}, "a"), CausalContext{}}, Conflict::kSiblings);
  EXPECT_EQ(dots_of(result), (std::vector<Dot>{{kA, 1}, {kC, 1}}));
}

// A stripped context leaves out what the floor covers; the dots that the record holds are seen all the same.
TEST(Stamped, CountsADotThatTheStrippedContextLeftOutAsCovered) {
  const Record stripped{context({}), {value({kA, 4}, "old")}};

  const Record result = stamped(stripped, {value({kB, 1}, "new"), {}}, Conflict::kSiblings);

  EXPECT_EQ(values_of(result), Values{"new"});
  EXPECT_TRUE(result.context.covers({kA, 4}));
}

TEST(Merge, DropsOnlyWhatTheOtherSideHasSeenAndNoLongerHolds) {
  const Record older{context({{kA, 1}}), {value({kA, 1}, "old")}};
  const Record newer{context({{kA, 1}, {kB, 1}}), {value({kB, 1}, "new")}};
  const Record apart{context({{kC, 1}}), {value({kC, 1}, "apart")}};

  EXPECT_EQ(values_of(merge(older, newer)), Values{"new"});
  EXPECT_EQ(values_of(merge(newer, older)), Values{"new"});
  EXPECT_EQ(values_of(merge(newer, apart)), (Values{"new", "apart"}));
  EXPECT_EQ(merge(older, apart).context, context({{kA, 1}, {kC, 1}}));
}

TEST(Merge, KeepsWhatBothSidesHoldAlthoughBothCoverIt) {
  const Record a{context({{kA, 1}, {kB, 5}}), {value({kA, 1}, "x")}};
  const Record b{context({{kA, 1}, {kC, 5}}), {value({kA, 1}, "x")}};
  EXPECT_EQ(values_of(merge(a, b)), Values{"x"});
}

// Collapsing equal siblings would lose the one that a delete had not seen.
TEST(Merge, KeepsEqualValuesOfTwoWritersApart) {
  const Record ab =
      merge({context({{kA, 1}}), {value({kA, 1}, "x")}}, {context({{kB, 1}}), {value({kB, 1}, "x")}});
  EXPECT_EQ(ab.versions.size(), 2U);

  const Record deleted_b =
      stamped({context({{kB, 1}}), {value({kB, 1}, "x")}}, {tombstone({kB, 2}), {}}, Conflict::kSiblings);
  EXPECT_EQ(dots_of(merge(ab, deleted_b)), (std::vector<Dot>{{kA, 1}, {kB, 2}}));
}

TEST(Merge, AgreesOnSourceAndOperationFromEitherSide) {
  Version by_hint = value({kA, 1}, "x");
  by_hint.source = Source::kHint;
  by_hint.operation = {7, 1};
  Version by_round = value({kA, 1}, "x");
  by_round.source = Source::kAntiEntropy;
  const Record a{context({{kA, 1}}), {by_hint}};
  const Record b{context({{kA, 1}}), {by_round}};

  EXPECT_EQ(merge(a, b).versions[0].source, Source::kHint);
  EXPECT_EQ(merge(a, b).versions[0].operation, (OperationId{7, 1}));
  EXPECT_EQ(merge(a, b), merge(b, a));
}

// It can't happen as long as no dot names two events; if it does, replicas must not differ for ever.
TEST(Merge, PicksTheSameContentWhereOneDotHasTwo) {
  const Record a{context({{kA, 1}}), {value({kA, 1}, "x")}};
  const Record b{context({{kA, 1}}), {value({kA, 1}, "y")}};
  EXPECT_EQ(merge(a, b), merge(b, a));
  EXPECT_EQ(merge(a, b).versions.size(), 1U);
}

TEST(MergeUnderFloor, DropsWhatLiesUnderTheFloorAndIsNotHeld) {
  const Record arriving{context({{kA, 3}}), {value({kA, 3}, "superseded")}};

  EXPECT_EQ(values_of(merge_under_floor({}, arriving, context({{kA, 3}}))), Values{});
  EXPECT_EQ(values_of(merge_under_floor({}, arriving, context({{kA, 2}}))), Values{"superseded"});
}

TEST(MergeUnderFloor, KeepsWhatIsHeldUnderTheFloor) {
  const Record own{context({}), {value({kA, 3}, "held")}};  // stripped
  const Record arriving{context({{kA, 3}, {kB, 1}}), {value({kA, 3}, "held"), value({kB, 1}, "new")}};

  const Record result = merge_under_floor(own, arriving, context({{kA, 9}}, 4));

  EXPECT_EQ(values_of(result), (Values{"held", "new"}));
  EXPECT_EQ(result.context, context({{kA, 9}, {kB, 1}}, 4)) << "filled with the floor";
}

TEST(MergeUnderFloor, LetsAnArrivingContextSupersedeWhatIsHeld) {
  const Record own{context({}), {value({kA, 3}, "held")}};
  const Record arriving{context({{kA, 3}, {kB, 1}}), {tombstone({kB, 1})}};
  EXPECT_EQ(dots_of(merge_under_floor(own, arriving, context({{kA, 9}}))), (std::vector<Dot>{{kB, 1}}));
}

// The other side's floor came with the record: it dropped a tombstone that we never saw.
TEST(MergeUnderFloor, LetsTheSendersFloorSupersedeThroughItsFilledContext) {
  const Record own{context({{kA, 3}}), {value({kA, 3}, "deleted elsewhere")}};
  Record absent_there;
  fill(absent_there.context, context({{kA, 3}, {kB, 1}}));
  EXPECT_EQ(values_of(merge_under_floor(own, absent_there, {})), Values{});
}

TEST(Beats, GoesByTimeThenExpiryThenDot) {
  const Version base = value({kB, 5}, "x", 10);
  EXPECT_TRUE(beats(value({kA, 1}, "x", 11), base));
  EXPECT_FALSE(beats(base, value({kA, 1}, "x", 11)));

  EXPECT_TRUE(beats(base, expiring(value({kC, 9}, "x", 10), kNowMs))) << "no expiry before any";
  EXPECT_TRUE(beats(expiring(value({kA, 1}, "x", 10), kNowMs + 1), expiring(base, kNowMs)));
  EXPECT_TRUE(beats(value({kC, 1}, "x", 10), base));
  EXPECT_TRUE(beats(value({kB, 6}, "x", 10), base));
  EXPECT_FALSE(beats(base, base));
}

TEST(KeepWinner, LeavesOneVersionAndTheWholeContext) {
  Record record{context({{kA, 1}, {kB, 1}, {kC, 1}}, 20),
                {value({kA, 1}, "a", 10), value({kB, 1}, "b", 20), value({kC, 1}, "c", 15)}};
  keep_winner(record);
  EXPECT_EQ(values_of(record), Values{"b"});
  EXPECT_EQ(record.context, context({{kA, 1}, {kB, 1}, {kC, 1}}, 20));

  Record nothing{context({{kA, 1}}), {}};
  keep_winner(nothing);
  EXPECT_TRUE(nothing.versions.empty());
}

TEST(NextTime, IsLaterThanTheClockAndAllThatMayBeCovered) {
  const CausalContext writer = context({}, 300);
  EXPECT_EQ(next_time(100, {}, nullptr, {}), 101U);
  EXPECT_EQ(next_time(100, context({}, 200), nullptr, {}), 201U);
  EXPECT_EQ(next_time(100, context({}, 200), &writer, {}), 301U);
  EXPECT_EQ(next_time(100, context({}, 200), &writer, context({}, 400)), 401U);
}

TEST(NextTime, DoesNotStartAgainAtTheEndOfTime) {
  const HybridTime end = std::numeric_limits<HybridTime>::max();
  EXPECT_EQ(next_time(100, context({}, end), nullptr, {}), end);
}

TEST(Strip, LeavesOutWhatTheFloorCoversButForOneActorAndFillPutsItBack) {
  const Floor floor = context({{kA, 5}, {kB, 5}, {kC, 5}}, 50);
  CausalContext seen = context({{kA, 5}, {kB, 6}, {kC, 1}}, 7);

  strip(seen, floor, kC);
  CausalContext stripped = context({{kB, 6}, {kC, 1}}, 7);
  stripped.stripped = true;
  EXPECT_EQ(seen, stripped);

  fill(seen, floor);
  EXPECT_EQ(seen, context({{kA, 5}, {kB, 6}, {kC, 5}}, 50));
}

class Droppable : public testing::Test {
 protected:
  const Floor floor_ = context({{kA, 5}, {kB, 5}}, 50);
  static bool droppable(const Record& record, const Floor& floor) {
    return is_droppable(record, floor, kNowMs);
  }
};

TEST_F(Droppable, IsATombstoneOrAnExpiredValueWhoseWholeContextLiesUnderTheFloor) {
  EXPECT_TRUE(droppable({context({{kA, 5}, {kB, 2}}), {tombstone({kA, 5})}}, floor_));
  EXPECT_TRUE(droppable({context({{kA, 5}}), {expiring(value({kA, 5}, "x"), kNowMs)}}, floor_));
  EXPECT_TRUE(droppable({context({{kA, 5}}), {}}, floor_));
  EXPECT_TRUE(droppable({}, floor_));
}

TEST_F(Droppable, IsNothingThatIsLive) {
  EXPECT_FALSE(droppable({context({{kA, 5}}), {value({kA, 5}, "x")}}, floor_));
  EXPECT_FALSE(droppable({context({{kA, 5}}), {expiring(value({kA, 5}, "x"), kNowMs + 1)}}, floor_));
  EXPECT_FALSE(droppable({context({{kA, 5}, {kB, 1}}), {tombstone({kA, 5}), value({kB, 1}, "x")}}, floor_));
}

TEST_F(Droppable, IsNotARecordThatSaysMoreThanTheFloor) {
  EXPECT_FALSE(droppable({context({{kA, 6}}), {tombstone({kA, 5})}}, floor_));
  EXPECT_FALSE(droppable({context({{kA, 5}, {kC, 1}}), {tombstone({kA, 5})}}, floor_));
  EXPECT_FALSE(droppable({context({{kC, 1}}), {}}, floor_));
  EXPECT_FALSE(droppable({context({}), {tombstone({kA, 6})}}, floor_)) << "stripped";
  EXPECT_FALSE(droppable({context({{kA, 5}}, 51), {tombstone({kA, 5})}}, floor_))
      << "a later put would be stamped before the delete";
}

}  // namespace
}  // namespace ringkv
