// Each checker must be able to fail: histories as a broken store would make them.
#include "tools/simulation/checkers.h"

#include <gtest/gtest.h>

#include "storage/place.h"
#include "storage/record_codec.h"
#include "tests/storage/store_fixture.h"

namespace ringkv::simulation {
namespace {

using std::chrono::seconds;

// Of the only node of a ring of one copy; or of the first of three.
constexpr Actor kActor{NodeId{1}, Boot{11}};
constexpr Actor kOther{NodeId{2}, Boot{22}};
constexpr OperationId kOperation{5, 6};

using Dots = std::vector<Dot>;

std::string context_of(const Dots& dots, const std::string& bucket = "") {
  CausalContext context;
  for (const Dot& dot : dots) context.vector.raise(dot.actor, dot.counter);
  return encode_client_context(context, place_of({.partitions = 1}, bucket, "k").token);
}
std::string context_of(uint64_t counter) { return context_of(Dots{{kActor, counter}}); }

struct PutAs {
  std::optional<std::string> context = {};
  bool tombstone = false;
  Durability durability = Durability::kSynced;
  std::optional<OperationIndex> first_try = {};
  uint32_t w = 0;
  uint32_t client = 0;
  bool read_first = false;
};

// What a receipt tells: who acknowledged it, the record's context, and whether siblings stayed.
struct Receipt {
  Boot boot = kActor.boot;
  Dots left;
  std::vector<std::string> nodes = {"n1"};
  bool siblings_stay = false;
};

struct GetAs {
  uint32_t r = 0;
  bool unconfirmed = false;
};

// Tells a story about key "k" of one ring, one event after another.
class Story {
 public:
  explicit Story(uint32_t copies = 1, std::string bucket = "")
      : copies_(copies), bucket_(std::move(bucket)) {}

  OperationIndex begin_put(const std::string& value, const PutAs& as = {}) {
    ClientPut put;
    put.bucket = bucket_;
    put.key = "k";
    put.value = value;
    put.context = as.context;
    put.tombstone = as.tombstone;
    put.durability = as.durability;
    put.w = as.w;
    put.read_first = as.read_first;
    Operation operation;
    operation.client = as.client;
    operation.request = {put, seconds(5)};
    operation.first_try = as.first_try;
    return history.invoke(operation, now);
  }
  void acknowledge(OperationIndex index, const Receipt& as) {
    const auto& put = std::get<ClientPut>(history.operations()[index].request.body);
    PutReceipt receipt;
    ClientReply reply;
    if (!as.left.empty()) reply.seen = context_of(as.left, bucket_);
    if (!as.siblings_stay) receipt.context = Context(reply.seen);
    const bool synced = put.durability == Durability::kSynced;
    for (const std::string& node : as.nodes) {
      receipt.acks.push_back(
          {node, synced ? Acknowledgement::Kind::kSynced : Acknowledgement::Kind::kBuffered, {}});
    }
    receipt.operation_id = to_text(OperationName{kOperation, as.boot});
    reply.body = receipt;
    reply.boot = as.boot;
    complete(index, reply);
  }
  // By the only node. Beside a put with a context siblings stay.
  void acknowledge(OperationIndex index, uint64_t counter) {
    const auto& put = std::get<ClientPut>(history.operations()[index].request.body);
    acknowledge(index, Receipt{.left = {{kActor, counter}}, .siblings_stay = put.context.has_value()});
  }
  void fail(OperationIndex index, const Status& status) { complete(index, {status, {}, 1, kActor.boot, {}}); }
  OperationIndex put(const std::string& value, uint64_t counter, const PutAs& as = {}) {
    const OperationIndex index = begin_put(value, as);
    acknowledge(index, counter);
    return index;
  }
  OperationIndex put(const std::string& value, const Receipt& receipt, const PutAs& as = {}) {
    const OperationIndex index = begin_put(value, as);
    acknowledge(index, receipt);
    return index;
  }

  void get(const std::vector<std::string>& values, const Dots& dots, const GetAs& as = {}) {
    GetResult result;
    result.values = values;
    result.context = Context(context_of(dots, bucket_));
    result.unconfirmed = as.unconfirmed;
    const OperationIndex index = begin({ClientGet{bucket_, "k", as.r, true}, seconds(5)});
    complete(index, {{}, result, 1, kActor.boot, {}});
  }
  void get(const std::vector<std::string>& values, uint64_t counter) { get(values, Dots{{kActor, counter}}); }
  void exists(bool found) {
    complete(begin({ClientGet{"", "k", 0, false}, seconds(5)}),
             {{}, ExistsAnswer{found}, 1, kActor.boot, {}});
  }
  void scan(const std::vector<std::string>& values) {
    ScanPage page;
    if (!values.empty()) page.entries.push_back({"k", values});
    complete(begin({ClientScan{}, seconds(5)}), {{}, page, 1, kActor.boot, {}});
  }
  void local_get(const std::vector<std::pair<std::string, std::string>>& values_and_dots) {
    LocalRecord record;
    for (const auto& [value, dot] : values_and_dots) {
      VersionInfo& version = record.versions.emplace_back();
      version.value = value;
      version.dot = "0000000000000001-000000000000000b:" + dot;
    }
    record.context = Context(context_of(100));
    local_get("n1", record);
  }
  void local_get(const std::string& node, const LocalRecord& record) {
    complete(begin({ClientLocalGet{node, "", "k"}, seconds(5)}), {{}, record, 1, kActor.boot, {}});
  }

  OperationIndex begin(const ClientRequest& request) {
    Operation operation;
    operation.request = request;
    return history.invoke(operation, now);
  }
  void complete(OperationIndex index, const ClientReply& reply) { history.complete(index, reply, now); }

  // The broken invariant, or "".
  std::string verdict() const {
    const RingFacts ring{.copies = copies_,
                         .lww_bucket = "lww",
                         .names = {{kActor.node, "n1"}, {kOther.node, "n2"}, {NodeId{3}, "n3"}}};
    const auto violation = check_history(history, ring);
    return violation ? violation->invariant : "";
  }

  History history;
  Time now{seconds(100)};

 private:
  const uint32_t copies_;
  const std::string bucket_;
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

// ---- Several coordinators, three copies.

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
  context.put("", {.left = {kA1}, .nodes = {"n1"}}, {.tombstone = true, .w = 1});
  context.get({}, {kA1});
  context.get({}, Dots{});
  EXPECT_EQ(context.verdict(), "I1");
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
