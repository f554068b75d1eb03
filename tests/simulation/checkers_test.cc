// Each checker must be able to fail: histories as a broken store would make them.
#include "tools/simulation/checkers.h"

#include <gtest/gtest.h>

#include "tests/simulation/story.h"
#include "tests/storage/store_fixture.h"

namespace ringkv::simulation {
namespace {

using std::chrono::seconds;

TEST(Checkers, AccountsForReplacedAndConcurrentValues) {
  Story story;
  story.get({}, 0);
  story.put("a", 1);
  story.get({"a"}, 1);
  story.put("b", 2, {.context = ""});
  story.get({"a", "b"}, 2);
  story.scan({"a", "b"});
  story.put("c", 3, {.context = context_of(1)});
  story.get({"b", "c"}, 3);
  story.put("", 4, {.tombstone = true});
  story.get({}, 4);
  story.exists(false);
  EXPECT_EQ(story.verdict(), "");
}

TEST(Checkers, FindsALostAcknowledgedWrite) {
  Story story;
  story.put("a", 1);
  story.get({}, 0);
  EXPECT_EQ(story.verdict(), "I1");
}

TEST(Checkers, FindsAnAcknowledgedWriteThatNothingReplaced) {
  Story story;
  story.put("a", 1);
  story.get({}, 1);
  EXPECT_EQ(story.verdict(), "I1");
}

TEST(Checkers, FindsAWriteMissingFromAScanAndFromExists) {
  Story scanned;
  scanned.put("a", 1);
  scanned.scan({});
  EXPECT_EQ(scanned.verdict(), "I1");
  Story asked;
  asked.put("a", 1);
  asked.exists(false);
  EXPECT_EQ(asked.verdict(), "I1");
}

TEST(Checkers, FindsALostDelete) {
  Story story;
  story.put("a", 1);
  story.put("", 2, {.tombstone = true});
  story.get({"a"}, 1);
  EXPECT_EQ(story.verdict(), "I2");
}

TEST(Checkers, FindsReadsThatGoBackInTime) {
  Story story;
  const OperationIndex open = story.begin_put("a");
  story.get({"a"}, 1);
  story.get({}, 0);
  story.fail(open, unknown_outcome("timed out"));
  EXPECT_NE(story.verdict(), "");
}

TEST(Checkers, ExcusesABufferedWriteAfterAPowerCutButNotASyncedOne) {
  Story buffered;
  buffered.put("a", 1, {.durability = Durability::kBuffered});
  buffered.history.cut_power("n1");
  buffered.get({}, 0);
  EXPECT_EQ(buffered.verdict(), "");
  Story synced;
  synced.put("a", 1);
  synced.history.cut_power("n1");
  synced.get({}, 0);
  EXPECT_EQ(synced.verdict(), "I1");
}

TEST(Checkers, DoesNotExcuseTheLossOfASyncedWriteThatItsNodeHadShown) {
  const auto told = [](Durability durability, const std::string& node) {
    Story story(3);
    const OperationIndex open = story.begin_put("a", {.durability = durability});
    VersionInfo version;
    version.value = "a";
    version.dot = "0000000000000001-000000000000000b:1";
    story.local_get(node, {true, {version}, Context(context_of(1))});
    story.history.cut_power(node);
    story.local_get(node, {false, {}, Context()});
    story.fail(open, unknown_outcome("timed out"));
    return story.verdict();
  };
  EXPECT_EQ(told(Durability::kSynced, "n1"), "I1");
  EXPECT_EQ(told(Durability::kBuffered, "n1"), "");
  // Another may have it from a record that was only buffered.
  EXPECT_EQ(told(Durability::kSynced, "n2"), "");
}

TEST(Checkers, DoesNotExcuseABufferedWriteThatALaterSyncMadeSafe) {
  Story story;
  story.put("a", 1, {.durability = Durability::kBuffered});
  story.put("b", 2, {.context = ""});
  story.history.cut_power("n1");
  story.get({"b"}, 2);
  EXPECT_EQ(story.verdict(), "I1");
}

TEST(Checkers, FindsADeletedValueThatComesBack) {
  Story story;
  story.put("a", 1);
  story.put("", 2, {.tombstone = true});
  story.get({"a"}, 2);
  EXPECT_EQ(story.verdict(), "I2");
}

TEST(Checkers, FindsAReplacedValueThatComesBack) {
  Story story;
  story.put("a", 1);
  story.put("b", 2, {.context = context_of(1)});
  story.get({"a", "b"}, 2);
  EXPECT_EQ(story.verdict(), "I3");
}

TEST(Checkers, FindsASiblingDroppedByAWriteThatHadNotSeenIt) {
  Story story;
  story.put("a", 1);
  story.put("b", 2, {.context = ""});
  story.get({"b"}, 2);
  EXPECT_EQ(story.verdict(), "I1");
}

TEST(Checkers, FindsAContextThatCoversWhatItsAnswerDoesNotShow) {
  Story story;
  story.put("a", 1);
  const OperationIndex under_way = story.begin_put("b", {.context = ""});
  story.get({"a"}, 2);
  story.acknowledge(under_way, 2);
  EXPECT_EQ(story.verdict(), "I3");
}

TEST(Checkers, FindsADotThatNamesTwoWrites) {
  Story story;
  story.put("a", 1);
  story.put("b", 1, {.context = ""});
  EXPECT_EQ(story.verdict(), "I4");
}

TEST(Checkers, FindsADotTwiceInARecord) {
  Story story;
  story.put("a", 1);
  const OperationIndex open = story.begin_put("b", {.context = ""});
  story.local_get({{"a", "1"}, {"b", "1"}});
  story.fail(open, unknown_outcome("timed out"));
  EXPECT_EQ(story.verdict(), "I4");
}

TEST(Checkers, FindsAnOperationThatWasAppliedTwice) {
  Story by_receipts;
  const OperationIndex first = by_receipts.put("a", 1);
  by_receipts.put("a", 2, {.first_try = first});
  EXPECT_EQ(by_receipts.verdict(), "I5");
  Story by_record;
  by_record.fail(by_record.begin_put("a"), unknown_outcome("timed out"));
  by_record.local_get({{"a", "1"}, {"a", "2"}});
  EXPECT_EQ(by_record.verdict(), "I5");
}

TEST(Checkers, FindsAFailedWriteThatAppears) {
  Story story;
  story.fail(story.begin_put("a"), unavailable("nothing was written"));
  story.get({"a"}, 1);
  EXPECT_EQ(story.verdict(), "I5");
}

TEST(Checkers, LetsAnUnknownWriteAppearOrNot) {
  Story appears;
  appears.fail(appears.begin_put("a"), unknown_outcome("timed out"));
  appears.get({}, 0);
  appears.get({"a"}, 1);
  EXPECT_EQ(appears.verdict(), "");
  Story never;
  never.fail(never.begin_put("a"), unknown_outcome("timed out"));
  never.get({}, 0);
  EXPECT_EQ(never.verdict(), "");
}

// Its dot is never told: it is covered by whatever covers the context of an answer that showed it.
TEST(Checkers, LetsAnUnknownWriteAppearOnlyOnce) {
  const auto told = [](bool comes_back) {
    Story story;
    story.fail(story.begin_put("a"), unknown_outcome("timed out"));
    story.get({"a"}, 1);
    story.put("", 2, {.context = context_of(1), .tombstone = true});
    story.get({}, 2);
    story.get(comes_back ? std::vector<std::string>{"a"} : std::vector<std::string>(), 3);
    return story.verdict();
  };
  EXPECT_EQ(told(false), "");
  EXPECT_EQ(told(true), "I2");
}

TEST(Checkers, FindsAnUnknownWriteThatABlindPutHadReplaced) {
  Story story;
  story.fail(story.begin_put("a"), unknown_outcome("timed out"));
  story.get({"a"}, 1);
  story.put("b", 2);
  story.get({"a", "b"}, 2);
  EXPECT_EQ(story.verdict(), "I3");
}

TEST(Checkers, FindsAnUnknownWriteThatIsCoveredAndThatNothingReplaced) {
  Story story;
  story.fail(story.begin_put("a"), unknown_outcome("timed out"));
  story.get({"a"}, 1);
  story.put("b", 2, {.context = ""});
  story.get({"b"}, 2);
  EXPECT_EQ(story.verdict(), "I1");
}

// By what isn't known: both writes are of unknown outcome.
TEST(Checkers, FindsAValueThatWasReplacedAndIsBackOnceAllHasConverged) {
  const auto told = [](const std::vector<std::string>& meanwhile, bool power_cut, const std::string& bucket) {
    Story story(1, bucket);
    story.put("a", 1);
    story.fail(story.begin_put("", {.tombstone = true}), unknown_outcome("timed out"));
    story.fail(story.begin_put("b"), unknown_outcome("timed out"));
    story.get(meanwhile, Dots{{kActor, 2}});
    if (power_cut) story.history.cut_power("n1");
    story.history.heal();
    story.get({"a"}, Dots{{kActor, 3}});
    return story.verdict();
  };
  for (const std::string bucket : {"", "lww"}) {
    EXPECT_EQ(told({"a"}, false, bucket), "");
    EXPECT_EQ(told({}, false, bucket), "I2");
    EXPECT_EQ(told({"b"}, false, bucket), "I3");
    EXPECT_EQ(told({}, true, bucket), "");  // what replaced it may be lost
  }
}

TEST(Checkers, FindsBytesThatNobodyWroteUnderTheKey) {
  Story story;
  story.put("a", 1);
  story.get({"a", "z"}, 1);
  EXPECT_EQ(story.verdict(), "I6");
}

TEST(Checkers, FindsBytesFromTheFuture) {
  Story story;
  story.get({"a"}, 1);
  story.put("a", 1);
  EXPECT_EQ(story.verdict(), "I6");
}

TEST(Checkers, FindsRequestsThatAreAnsweredLateOrNever) {
  Story never;
  never.begin_put("a");
  EXPECT_EQ(never.verdict(), "deadline");
  Story late;
  const OperationIndex put = late.begin_put("a");
  late.now += seconds(6);
  late.acknowledge(put, 1);
  EXPECT_EQ(late.verdict(), "deadline");
}

TEST(Checkers, FindsAnswersThatNothingExplains) {
  Story story;
  story.fail(story.begin_put("a"), corruption("a damaged record"));
  EXPECT_EQ(story.verdict(), "honest answers");
}

TEST(Checkers, LetsANodeNotKnowABucketThatIsNewerThanItsRing) {
  const auto told = [](uint64_t epoch) {
    History history;
    Operation get;
    get.request = {ClientGet{"lww", "k", 0, true}, seconds(5)};
    const OperationIndex index = history.invoke(get, Time());
    history.complete(index, {invalid_argument("there is no such bucket"), {}, epoch, kActor.boot, {}},
                     Time());
    return check_answers(history, {.lww_bucket = "lww", .bucket_since = {{"lww", 3}}}).has_value();
  };
  EXPECT_FALSE(told(2));
  EXPECT_TRUE(told(3));
}

TEST(Checkers, FindsLeavesThatDoNotMatchTheirData) {
  StoreFixture fixture;
  fixture.put("a", "1");
  ASSERT_TRUE(fixture.commit().ok());
  RingDescription ring;
  ring.secret = std::string(32, 's');
  EXPECT_FALSE(check_leaves(fixture.store->leaves(), ring, fixture.disk).has_value());

  const std::unique_ptr<Batch> batch = fixture.engine->new_batch();
  batch->erase(Family::kData, StoreFixture::place("a").storage_key);
  ASSERT_TRUE(fixture.engine->write(*batch, true).ok());
  EXPECT_TRUE(check_leaves(fixture.store->leaves(), ring, fixture.disk).has_value());
}

}  // namespace
}  // namespace ringkv::simulation
