// Hints that acknowledge, disks that are lost, values that expire and tombstones that go: what a broken ring
// would do is found, and what a right one may do is let pass.
#include <gtest/gtest.h>

#include "tests/simulation/story.h"

namespace ringkv::simulation {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

constexpr Dot kA1{kActor, 1};
constexpr Dot kA2{kActor, 2};
constexpr Dot kB1{kOther, 1};

Receipt by_owners(const Dots& left, const std::vector<std::string>& nodes = {"n1", "n2"}) {
  return {.left = left, .nodes = nodes};
}
Receipt with_hint(const Dots& left) { return {.left = left, .nodes = {"n1"}, .hints_at = {"n4"}}; }

TEST(ConvergingHistories, DoNotExpectAWriteAtOnceThatAHintHelpedToAcknowledge) {
  Story story(3);
  story.put("a", with_hint({kA1}));
  story.get({}, Dots{});
  EXPECT_EQ(story.verdict(), "");
}

TEST(ConvergingHistories, ExpectItOnceHintsAreDrained) {
  Story story(3);
  story.put("a", with_hint({kA1}));
  story.history.heal();
  story.get({}, Dots{});
  EXPECT_EQ(story.verdict(), "I1");
}

// Holders are owners and hint holders alike: one that kept its disk is enough.
TEST(ConvergingHistories, ExcuseALossOnlyWhenAllHoldersHaveLostTheirDisks) {
  const auto told = [](const std::vector<std::string>& losers) {
    Story story(3);
    story.put("a", with_hint({kA1}));
    for (const std::string& node : losers) story.history.lose_disk(node);
    story.history.heal();
    story.get({}, Dots{});
    return story.verdict();
  };
  EXPECT_EQ(told({"n1"}), "I1");
  EXPECT_EQ(told({"n4"}), "I1");
  EXPECT_EQ(told({"n1", "n2"}), "I1");
  EXPECT_EQ(told({"n1", "n4"}), "");
}

// It doesn't count for reads until it has fetched what the others hold.
TEST(ConvergingHistories, ExpectAWriteAtOnceThatOneHolderStillHas) {
  Story one_lost(3);
  one_lost.put("a", by_owners({kA1}));
  one_lost.history.lose_disk("n1");
  one_lost.get({}, Dots{});
  EXPECT_EQ(one_lost.verdict(), "I1");
  Story both_lost(3);
  both_lost.put("a", by_owners({kA1}));
  both_lost.history.lose_disk("n1");
  both_lost.history.lose_disk("n2");
  both_lost.get({}, Dots{});
  EXPECT_EQ(both_lost.verdict(), "");
}

TEST(ConvergingHistories, ExpectOfACopyThatIsPutBackWhatItHeldThen) {
  Story story(3);
  story.put("a", by_owners({kA1}));
  const Step copied = story.history.mark();
  story.history.lose_disk("n1", copied);
  story.history.lose_disk("n2", copied);
  story.get({}, Dots{});
  EXPECT_EQ(story.verdict(), "I1");
}

TEST(ConvergingHistories, ExpectNothingOfAReplicaThatLostItsDisk) {
  Story story(3);
  story.put("a", by_owners({kA1}));
  story.history.lose_disk("n2");
  story.local_get("n2", {false, {}, Context()});
  EXPECT_EQ(story.verdict(), "");
  story.local_get("n1", {false, {}, Context()});
  EXPECT_EQ(story.verdict(), "I1");
}

TEST(ConvergingHistories, LetAValueGoOnceItMayHaveExpired) {
  const auto told = [](Duration after, bool wrong = false) {
    Story story(3);
    story.put("a", by_owners({kA1}), {.ttl_ms = 30'000});
    if (wrong) story.history.calendar().note_wrong(story.now, story.now + seconds(1));
    story.now += after;
    story.get({}, {kA1});
    return story.verdict();
  };
  EXPECT_EQ(told(seconds(19)), "I1");
  EXPECT_EQ(told(seconds(21)), "");
  EXPECT_EQ(told(seconds(19), true), "");
}

TEST(ConvergingHistories, FindAValueThatIsShownAfterItHasExpired) {
  const auto told = [](Duration after, bool wrong = false) {
    Story story(3);
    story.put("a", by_owners({kA1}), {.ttl_ms = 30'000});
    if (wrong) story.history.calendar().note_wrong(story.now, story.now + seconds(1));
    story.now += after;
    story.get({"a"}, {kA1});
    return story.verdict();
  };
  EXPECT_EQ(told(seconds(39)), "");
  EXPECT_EQ(told(seconds(41)), "expiry");
  EXPECT_EQ(told(seconds(41), true), "");
}

TEST(ConvergingHistories, CountTheDaysThatPassInNoTime) {
  Story story(3);
  story.put("a", by_owners({kA1}), {.ttl_ms = 30'000});
  story.now += seconds(1);
  story.history.calendar().leap(story.now, hours(24));
  story.get({}, {kA1});
  EXPECT_EQ(story.verdict(), "");
  story.get({"a"}, {kA1});
  EXPECT_EQ(story.verdict(), "expiry");
}

TEST(ConvergingHistories, LetWhatAnExpiredValueHadReplacedStayAway) {
  Story story(3);
  story.put("a", by_owners({kA1}));
  story.put("b", by_owners({kA1, kA2}), {.ttl_ms = 1'000});
  story.now += seconds(60);
  story.get({}, {kA1, kA2});
  EXPECT_EQ(story.verdict(), "");
  story.get({"a"}, {kA1, kA2});
  EXPECT_EQ(story.verdict(), "I3");
}

// The tombstone is gone, and with it the context; what comes later needn't know of it.
TEST(ConvergingHistories, LetATombstoneGoWithItsContext) {
  Story story(3);
  story.put("a", by_owners({kA1}));
  story.put("", by_owners({kA1, kA2}), {.context = context_of(Dots{kA1}), .tombstone = true});
  story.get({}, Dots{});
  story.put("b", {.boot = kOther.boot, .left = {kB1}, .nodes = {"n2", "n3"}}, {.client = 1});
  story.get({"b"}, {kB1});
  EXPECT_EQ(story.verdict(), "");
}

TEST(ConvergingHistories, FindADeletedValueThatComesBackAfterItsTombstoneWent) {
  Story story(3);
  story.put("a", by_owners({kA1}));
  story.put("", by_owners({kA1, kA2}), {.context = context_of(Dots{kA1}), .tombstone = true});
  story.get({}, Dots{});
  story.get({"a"}, {kA1});
  EXPECT_EQ(story.verdict(), "I2");
}

// Only a delete or an expiry lets a context go: a value that replaces another says so.
TEST(ConvergingHistories, FindAValueThatIsShownInTheStepsOfOneThatItDoesNotCover) {
  Story story(3);
  story.put("a", by_owners({kA1}));
  story.put("b", by_owners({kA1, kA2}), {.context = context_of(Dots{kA1})});
  story.get({"b"}, {kA2});
  EXPECT_EQ(story.verdict(), "");  // kA2 claims kA1
  Story other(3);
  other.put("a", by_owners({kA1}));
  other.put("b", {.boot = kOther.boot, .left = {kA1, kB1}, .nodes = {"n2", "n3"}},
            {.context = context_of(Dots{kA1}), .client = 1});
  other.get({"b"}, {kB1});
  EXPECT_EQ(other.verdict(), "I1");
}

TEST(ConvergingHistories, LetContextsLeaveOutClosedLives) {
  Story story(3);
  story.put("a", by_owners({kA1}));
  story.put("b", {.boot = kOther.boot, .left = {kB1}, .nodes = {"n2", "n3"}}, {.client = 0});
  EXPECT_EQ(story.verdict(), "I3");
  story.closed_lives = {kActor};
  EXPECT_EQ(story.verdict(), "");
}

// Its stamper needn't have known what it wins over, nor the owners that are asked.
TEST(ConvergingHistories, LetAWinnerNotCoverWhatItHasReplacedByItsTime) {
  Story story(3, "lww");
  story.put("a", by_owners({kA1}));
  story.put("b", {.boot = kOther.boot, .left = {kB1}, .nodes = {"n2", "n3"}}, {.client = 1});
  story.get({"b"}, {kB1});
  EXPECT_EQ(story.verdict(), "");
}

TEST(ConvergingHistories, FindAWinnerThatIsTooOldToWin) {
  const auto told = [](Duration apart, bool wrong = false) {
    Story story(3, "lww");
    if (wrong) story.history.calendar().note_wrong(story.now - seconds(1), story.now);
    story.put("b", {.boot = kOther.boot, .left = {kB1}, .nodes = {"n2", "n3"}}, {.client = 1});
    story.now += apart;
    story.put("a", by_owners({kA1}));
    story.get({"b"}, {kB1});
    return story.verdict();
  };
  EXPECT_EQ(told(seconds(9)), "");
  EXPECT_EQ(told(seconds(11)), "I1");
  EXPECT_EQ(told(seconds(11), true), "");
}

}  // namespace
}  // namespace ringkv::simulation
