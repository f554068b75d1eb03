// One broken store for each of I1 to I6, in a bucket of siblings and in one in which the last writer wins.
#include <gtest/gtest.h>

#include "tests/simulation/story.h"

namespace ringkv::simulation {
namespace {

using std::chrono::seconds;

constexpr Dot kA1{kActor, 1};
constexpr Dot kA2{kActor, 2};
constexpr Dot kB1{kOther, 1};

class PlantedViolations : public testing::TestWithParam<const char*> {
 protected:
  std::string context(const Dots& dots) const { return context_of(dots, GetParam()); }
  OperationIndex put(const std::string& value, const Dots& left, const PutAs& as = {}) {
    return story.put(value, {.boot = left.front().actor.boot, .left = left}, as);
  }

  Story story{1, GetParam()};
};

TEST_P(PlantedViolations, NoneWhereEachWriteReplacesTheOneBefore) {
  put("a", {kA1});
  story.get({"a"}, {kA1});
  put("b", {kA2}, {.context = context({kA1})});
  story.get({"b"}, {kA2});
  put("", {{kActor, 3}}, {.context = context({kA2}), .tombstone = true});
  story.get({}, Dots{{kActor, 3}});
  EXPECT_EQ(story.verdict(), "");
}

TEST_P(PlantedViolations, I1AnAcknowledgedWriteIsLost) {
  put("a", {kA1});
  story.get({}, Dots{});
  EXPECT_EQ(story.verdict(), "I1");
}

TEST_P(PlantedViolations, I1AnAcknowledgedWriteIsLostForAnOlderOne) {
  put("a", {kA1});
  put("b", {kA2}, {.context = context({kA1})});
  story.get({"a"}, {kA1});
  EXPECT_EQ(story.verdict(), "I3");  // what had replaced it must have been seen
  Story healed(1, GetParam());
  healed.put("a", 1);
  healed.history.heal();
  healed.get({}, 1);
  EXPECT_EQ(healed.verdict(), "I1");
}

TEST_P(PlantedViolations, I2ADeletedValueComesBack) {
  put("a", {kA1});
  put("", {kA2}, {.context = context({kA1}), .tombstone = true});
  story.get({"a"}, {kA2});
  EXPECT_EQ(story.verdict(), "I2");
}

TEST_P(PlantedViolations, I2AnUnknownWriteThatWasDeletedComesBack) {
  story.fail(story.begin_put("a"), unknown_outcome("timed out"));
  story.get({"a"}, {kA1});
  put("", {kA2}, {.context = context({kA1}), .tombstone = true});
  story.get({}, {kA2});
  story.get({"a"}, Dots{{kActor, 3}});
  EXPECT_EQ(story.verdict(), "I2");
}

TEST_P(PlantedViolations, I3AReplacedValueComesBack) {
  put("a", {kA1});
  put("b", {kA2}, {.context = context({kA1})});
  story.get({"a"}, {kA2});
  EXPECT_EQ(story.verdict(), "I3");
}

TEST_P(PlantedViolations, I3AClientsOwnWriteIsNotFollowed) {
  put("a", {kA1}, {.client = 1});
  put("b", {kB1}, {.client = 1});
  EXPECT_EQ(story.verdict(), "I3");
}

TEST_P(PlantedViolations, I4ADotNamesTwoWrites) {
  put("a", {kA1});
  put("b", {kA1});
  EXPECT_EQ(story.verdict(), "I4");
}

TEST_P(PlantedViolations, I5AFailedWriteAppears) {
  story.fail(story.begin_put("a"), unavailable("nothing was written"));
  story.get({"a"}, {kA1});
  EXPECT_EQ(story.verdict(), "I5");
}

TEST_P(PlantedViolations, I5AnOperationIsAppliedTwice) {
  const OperationIndex first = put("a", {kA1});
  put("a", {kA2}, {.first_try = first});
  EXPECT_EQ(story.verdict(), "I5");
}

TEST_P(PlantedViolations, I6WhatNobodyWroteIsShown) {
  put("a", {kA1});
  story.get({"z"}, {kA1});
  EXPECT_EQ(story.verdict(), "I6");
}

TEST_P(PlantedViolations, I6WhatIsWrittenLaterIsShown) {
  story.get({"a"}, {kA1});
  put("a", {kA1});
  EXPECT_EQ(story.verdict(), "I6");
}

INSTANTIATE_TEST_SUITE_P(Buckets, PlantedViolations, testing::Values("", "lww"),
                         [](const auto& info) { return *info.param == '\0' ? "Siblings" : "Winners"; });

// ---- of winners alone

TEST(PlantedWinner, ThatIsTooOldHidesALaterOne) {
  const auto told = [](Duration between) {
    Story story(1, "lww");
    story.put("a", {.left = {kA1}});
    story.now += between;
    story.put("b", {.boot = kOther.boot, .left = {kB1}}, {.client = 1});
    story.get({"a"}, {kA1, kB1});
    return story.verdict();
  };
  EXPECT_EQ(told(seconds(2)), "");  // by clocks that differ it may have won
  EXPECT_EQ(told(seconds(60)), "I1");
}

TEST(PlantedWinner, IsTheOnlyValue) {
  Story story(1, "lww");
  story.put("a", {.left = {kA1}});
  story.put("b", {.boot = kOther.boot, .left = {kB1}}, {.client = 1});
  story.get({"a", "b"}, {kA1, kB1});
  EXPECT_EQ(story.verdict(), "I3");
}

}  // namespace
}  // namespace ringkv::simulation
