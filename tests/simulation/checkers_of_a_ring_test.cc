// Three copies and several coordinators: what a broken ring would do is found, and what a right one may do is
// let pass.
#include <gtest/gtest.h>

#include "tests/simulation/story.h"

namespace ringkv::simulation {
namespace {

constexpr Dot kA1{kActor, 1};
constexpr Dot kA2{kActor, 2};
constexpr Dot kB1{kOther, 1};
constexpr Dot kB2{kOther, 2};

Receipt by_first(const Dots& left) { return {.left = left, .nodes = {"n1", "n3"}}; }
Receipt by_second(const Dots& left) { return {.boot = kOther.boot, .left = left, .nodes = {"n2", "n3"}}; }

TEST(CheckersOfARing, LetBlindWritesOfTwoCoordinatorsBeSiblingsOrNot) {
  Story siblings(3);
  siblings.put("a", by_first({kA1}));
  siblings.put("b", by_second({kB1}), {.client = 1});
  siblings.get({"a", "b"}, {kA1, kB1});
  EXPECT_EQ(siblings.verdict(), "");
  Story replaced(3);
  replaced.put("a", by_first({kA1}));
  replaced.put("b", by_second({kA1, kB1}), {.client = 1});
  replaced.get({"b"}, {kA1, kB1});
  EXPECT_EQ(replaced.verdict(), "");
}

TEST(CheckersOfARing, FindAReplacedValueByTheContextThatTheBlindWriteLeft) {
  Story story(3);
  story.put("a", by_first({kA1}));
  story.put("b", by_second({kA1, kB1}), {.client = 1});
  story.get({"a", "b"}, {kA1, kB1});
  EXPECT_EQ(story.verdict(), "I3");
}

TEST(CheckersOfARing, FindASiblingDroppedByAWriteThatDidNotCoverIt) {
  Story story(3);
  story.put("a", by_first({kA1}));
  story.put("b", by_second({kB1}), {.client = 1});
  story.get({"b"}, {kA1, kB1});
  EXPECT_EQ(story.verdict(), "I1");
}

TEST(CheckersOfARing, FindAnAcknowledgedWriteThatAReadQuorumMisses) {
  Story story(3);
  story.put("a", by_first({kA1}));
  story.put("b", by_second({kB1}), {.client = 1});
  story.get({"b"}, {kB1});
  EXPECT_EQ(story.verdict(), "I1");
}

TEST(CheckersOfARing, AllowStaleAnswersOfOneOwnerAndWritesThatOneAcknowledged) {
  Story one_reads(3);
  one_reads.put("a", by_first({kA1}));
  one_reads.get({}, {}, {.r = 1});
  EXPECT_EQ(one_reads.verdict(), "");
  Story one_wrote(3);
  one_wrote.put("a", {.left = {kA1}, .nodes = {"n1"}}, {.w = 1});
  one_wrote.get({}, Dots{});
  EXPECT_EQ(one_wrote.verdict(), "");
}

TEST(CheckersOfARing, FindAWriteOfOneThatAllOwnersShouldShow) {
  Story story(3);
  story.put("a", {.left = {kA1}, .nodes = {"n1"}}, {.w = 1});
  story.get({}, {}, {.r = 3});
  EXPECT_EQ(story.verdict(), "I1");
}

TEST(CheckersOfARing, FindAConfirmedAnswerThatIsLostAgain) {
  Story value(3);
  const OperationIndex open = value.begin_put("a");
  value.get({"a"}, {kA1});
  value.get({}, Dots{});
  value.fail(open, unknown_outcome("timed out"));
  EXPECT_EQ(value.verdict(), "I1");
  // A delete shows only in contexts.
  Story context(3);
  context.put("a", by_second({kB1}));
  context.put("", {.left = {kA1, kB1}, .nodes = {"n1"}},
              {.context = context_of(Dots{kB1}), .tombstone = true, .w = 1});
  context.get({}, {kA1, kB1});
  context.get({"a"}, {kB1});
  EXPECT_EQ(context.verdict(), "I2");
}

TEST(CheckersOfARing, DoNotHoldAnUnconfirmedAnswerAgainstLaterOnes) {
  Story story(3);
  const OperationIndex open = story.begin_put("a");
  story.get({"a"}, {kA1}, {.unconfirmed = true});
  story.get({}, Dots{});
  story.fail(open, unknown_outcome("timed out"));
  EXPECT_EQ(story.verdict(), "");
}

TEST(CheckersOfARing, FindADeletedValueThatComesBackThroughAnotherOwner) {
  Story story(3);
  story.put("a", by_first({kA1}));
  story.put("", by_second({kA1, kB1}), {.tombstone = true, .client = 1});
  story.get({"a"}, {kA1, kB1});
  EXPECT_EQ(story.verdict(), "I2");
}

TEST(CheckersOfARing, KnowWhatAPutThatReadFirstMustHaveReplaced) {
  Story story(3);
  story.put("a", by_first({kA1}));
  story.put("b", by_second({kA1, kB1}), {.context = context_of(Dots{}), .client = 1});
  Receipt receipt = by_second({kA1, kB1, kB2});
  receipt.siblings_stay = true;
  story.put("c", receipt, {.client = 1, .read_first = true});
  story.get({"a", "c"}, {kA1, kB2});
  EXPECT_EQ(story.verdict(), "I3");
}

TEST(CheckersOfARing, FindABlindWriteThatDoesNotFollowItsClientsEarlierOne) {
  Story story(3);
  story.put("a", by_first({kA1}));
  story.put("b", by_second({kB1}));
  EXPECT_EQ(story.verdict(), "I3");
}

TEST(CheckersOfARing, ExcuseABufferedWriteOnlyWhenTooFewHoldersKeptIt) {
  const PutAs buffered{.durability = Durability::kBuffered};
  Story one_lost(3);
  one_lost.put("a", {.left = {kA1}, .nodes = {"n1", "n2"}}, buffered);
  one_lost.history.cut_power("n2");
  one_lost.get({}, Dots{});
  EXPECT_EQ(one_lost.verdict(), "");
  Story one_lost_of_three(3);
  one_lost_of_three.put("a", {.left = {kA1}, .nodes = {"n1", "n2", "n3"}}, buffered);
  one_lost_of_three.history.cut_power("n2");
  one_lost_of_three.get({}, Dots{});
  EXPECT_EQ(one_lost_of_three.verdict(), "I1");
  Story another_node(3);
  another_node.put("a", {.left = {kA1}, .nodes = {"n1", "n2"}}, buffered);
  another_node.history.cut_power("n3");
  another_node.get({}, Dots{});
  EXPECT_EQ(another_node.verdict(), "I1");
}

TEST(CheckersOfARing, FindACopyThatLostWhatItHadShown) {
  Story story(3);
  const OperationIndex open = story.begin_put("a");
  VersionInfo version;
  version.value = "a";
  version.dot = "0000000000000001-000000000000000b:1";
  story.local_get("n2", {true, {version}, Context(context_of(1))});
  story.local_get("n2", {false, {}, Context()});
  story.fail(open, unknown_outcome("timed out"));
  EXPECT_EQ(story.verdict(), "I1");
}

TEST(CheckersOfARing, TakeNoDotFromTheReceiptOfARepeatedOperation) {
  Story story(3);
  const OperationIndex open = story.begin_put("a");
  story.fail(open, unknown_outcome("timed out"));
  story.put("b", by_second({kB1}), {.context = context_of(Dots{}), .client = 1});
  Receipt from_record{.boot = kActor.boot, .left = {kA2, kB1}, .nodes = {}};
  story.put("a", from_record, {.first_try = open});
  story.get({"a", "b"}, {kA1, kB1});
  EXPECT_EQ(story.verdict(), "");
}

// Of two concurrent winners either may have the later time, whatever the order of their acknowledgements; one
// that the other follows may not.
TEST(CheckersOfARing, LetEitherOfTwoConcurrentWritesWin) {
  for (const std::string winner : {"a", "b"}) {
    Story story(3, "lww");
    story.put("b", by_second({kB1}));
    story.put("a", by_first({kA1}), {.client = 1});
    story.get({winner}, {kA1, kB1});
    EXPECT_EQ(story.verdict(), "") << winner;
  }
  Story story(3, "lww");
  story.put("b", by_second({kB1}));
  story.put("a", by_first({kA1, kB1}), {.client = 1});
  story.get({"b"}, {kA1, kB1});
  EXPECT_EQ(story.verdict(), "I3");
}

}  // namespace
}  // namespace ringkv::simulation
