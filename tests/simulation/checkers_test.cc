// Each checker must be able to fail: histories as a broken store would make them.
#include "tools/simulation/checkers.h"

#include <gtest/gtest.h>

#include "storage/place.h"
#include "storage/record_codec.h"
#include "tests/storage/store_fixture.h"

namespace ringkv::simulation {
namespace {

using std::chrono::seconds;

constexpr Actor kActor{NodeId{1}, Boot{11}};
constexpr OperationId kOperation{5, 6};

std::string context_of(uint64_t counter) {
  CausalContext context;
  context.vector.raise(kActor, counter);
  return encode_client_context(context, place_of({.partitions = 1}, "", "k").token);
}

struct PutAs {
  std::optional<std::string> context = {};
  bool tombstone = false;
  Durability durability = Durability::kSynced;
  std::optional<OperationIndex> first_try = {};
};

// Tells a story about key "k" of one ring, one event after another.
class Story {
 public:
  OperationIndex begin_put(const std::string& value, const PutAs& as = {}) {
    ClientPut put;
    put.key = "k";
    put.value = value;
    put.context = as.context;
    put.tombstone = as.tombstone;
    put.durability = as.durability;
    Operation operation;
    operation.request = {put, seconds(5)};
    operation.first_try = as.first_try;
    return history.invoke(operation, now);
  }
  void acknowledge(OperationIndex index, uint64_t counter) {
    PutReceipt receipt;
    receipt.context = Context(context_of(counter));
    receipt.acks = {{.node = "n1", .kind = Acknowledgement::Kind::kSynced, .hint_for = {}}};
    receipt.operation_id = to_text(OperationName{kOperation, kActor.boot});
    complete(index, {{}, receipt, 1, kActor.boot});
  }
  void fail(OperationIndex index, const Status& status) { complete(index, {status, {}, 1, kActor.boot}); }
  OperationIndex put(const std::string& value, uint64_t counter, const PutAs& as = {}) {
    const OperationIndex index = begin_put(value, as);
    acknowledge(index, counter);
    return index;
  }

  void get(const std::vector<std::string>& values, uint64_t counter) {
    GetResult result;
    result.values = values;
    result.context = Context(context_of(counter));
    const OperationIndex index = begin({ClientGet{"", "k", 0, true}, seconds(5)});
    complete(index, {{}, result, 1, kActor.boot});
  }
  void exists(bool found) {
    complete(begin({ClientGet{"", "k", 0, false}, seconds(5)}), {{}, ExistsAnswer{found}, 1, kActor.boot});
  }
  void scan(const std::vector<std::string>& values) {
    ScanPage page;
    if (!values.empty()) page.entries.push_back({"k", values});
    complete(begin({ClientScan{}, seconds(5)}), {{}, page, 1, kActor.boot});
  }
  void local_get(const std::vector<std::pair<std::string, std::string>>& values_and_dots) {
    LocalRecord record;
    for (const auto& [value, dot] : values_and_dots) {
      VersionInfo& version = record.versions.emplace_back();
      version.value = value;
      version.dot = "0000000000000001-000000000000000b:" + dot;
    }
    record.context = Context(context_of(100));
    complete(begin({ClientLocalGet{"n1", "", "k"}, seconds(5)}), {{}, record, 1, kActor.boot});
  }

  OperationIndex begin(const ClientRequest& request) {
    Operation operation;
    operation.request = request;
    return history.invoke(operation, now);
  }
  void complete(OperationIndex index, const ClientReply& reply) { history.complete(index, reply, now); }

  // The broken invariant, or "".
  std::string verdict() const {
    const auto violation = check_history(history, "lww");
    return violation ? violation->invariant : "";
  }

  History history;
  Time now{seconds(100)};
};

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
  story.get({}, 1);
  EXPECT_EQ(story.verdict(), "I1");
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
  buffered.history.cut_power(0);
  buffered.get({}, 0);
  EXPECT_EQ(buffered.verdict(), "");
  Story synced;
  synced.put("a", 1);
  synced.history.cut_power(0);
  synced.get({}, 0);
  EXPECT_EQ(synced.verdict(), "I1");
}

TEST(Checkers, DoesNotExcuseTheLossOfASyncedWriteThatAGetHadShown) {
  Story story;
  const OperationIndex open = story.begin_put("a");
  story.get({"a"}, 1);
  story.history.cut_power(0);
  story.get({}, 0);
  story.fail(open, unknown_outcome("timed out"));
  EXPECT_EQ(story.verdict(), "I1");
}

TEST(Checkers, DoesNotExcuseABufferedWriteThatALaterSyncMadeSafe) {
  Story story;
  story.put("a", 1, {.durability = Durability::kBuffered});
  story.put("b", 2, {.context = ""});
  story.history.cut_power(0);
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
