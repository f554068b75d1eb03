#include "replication/scrubber.h"

#include <gtest/gtest.h>

#include <functional>

#include "base/random.h"
#include "base/text.h"
#include "replication/placer.h"
#include "storage/range_walk.h"
#include "tests/storage/store_fixture.h"

namespace ringkv {
namespace {

constexpr NodeId kSelf{1};
constexpr Duration kTick = std::chrono::milliseconds(10);
constexpr Requester kOperator{.connection = 7, .request = 1};

RingDescription alone() {
  RingDescription ring;
  ring.replicas = 1;
  ring.members = {{.node = kSelf, .name = "n1", .rack = "r1", .weight = 1}};
  ring.owners = place_balanced({}, {}, ring.members, kTestPartitions, 1);
  ring.buckets = {BucketDescription()};
  ring.secret = std::string(32, 's');
  return ring;
}

// One node's store, its scrubber, and the shell between: commits and reads are done when the test says so.
class ScrubbedNode {
 public:
  explicit ScrubbedNode(Duration interval = {})
      : environment({.self = kSelf, .boot = Boot{5}, .scrub_interval = interval}, ring_, *fixture.store,
                    hints_, wholeness_) {}

  void tick() {
    now_ += kTick;
    scrubber.tick({now_, 0}, outbox_);
    route();
  }

  // The one read under way.
  bool is_reading() const { return read_.has_value(); }
  // `between`: after the disk was read, before the answer is there.
  void finish_read(const std::function<void()>& between = nullptr) {
    ASSERT_TRUE(read_);
    RangeRead result{.ticket = read_->ticket, .status = {}, .slice = {}};
    const RangeStep step = read_->step;
    read_.reset();
    ++reads;
    Result<RangeSlice> slice = range_slice(*fixture.engine, step);
    if (between) between();
    if (slice.ok()) {
      result.slice = *std::move(slice);
    } else {
      result.status = slice.status();
    }
    EXPECT_TRUE(scrubber.on(result, {now_, 0}, outbox_));
    route();
  }

  void commit() {
    const BatchNumber batch = fixture.store->open_batch();
    ASSERT_TRUE(fixture.commit().ok());
    scrubber.on_committed(batch, {now_, 0}, outbox_);
    route();
  }

  void ask(Duration timeout = std::chrono::hours(1)) {
    scrubber.on(Arrival{.requester = kOperator, .deadline = now_ + timeout, .now = now_}, ClientScrub{},
                outbox_);
  }

  void step() {
    if (read_) {
      finish_read();
    } else if (fixture.store->has_staged()) {
      commit();
    } else {
      tick();
    }
  }

  ScrubReport scrub() {
    answers.clear();
    ask();
    for (int steps = 0; answers.empty() && steps < 10'000; ++steps) step();
    if (fixture.store->has_staged()) commit();
    EXPECT_EQ(answers.size(), 1U);
    return std::get<ScrubReport>(answers.at(0).body);
  }

  // As if a mistake of ours, or a bit, had changed it.
  void spoil_leaf(const std::string& key) {
    const LeafId id = StoreFixture::place(key).leaf;
    Leaf leaf = fixture.store->leaves().at(id);
    leaf.hash.low ^= 1;
    leaf.keys += 1;
    fixture.store->correct_leaf(id, leaf);
    commit();
  }
  Leaf leaf_of_key(const std::string& key) const {
    return fixture.store->leaves().at(StoreFixture::place(key).leaf);
  }

  StoreFixture fixture;
  uint64_t reads = 0;
  std::vector<ClientReply> answers;

 private:
  void route() {
    for (auto& envelope : outbox_.envelopes()) {
      if (auto* read = std::get_if<ReadRange>(&envelope.message)) {
        EXPECT_FALSE(read_) << "two reads at once";
        read_ = std::move(*read);
      } else if (auto* answer = std::get_if<ClientAnswer>(&envelope.message)) {
        answers.push_back(std::move(answer->reply));
      }
    }
    outbox_.clear();
  }

  const Ring ring_{alone()};
  HintStore hints_{*fixture.engine, *fixture.store, {}};
  Wholeness wholeness_{kTestPartitions};
  MessageOutbox outbox_;
  std::optional<ReadRange> read_;
  Time now_{};

 public:
  ConvergenceEnvironment environment;
  Scrubber scrubber{environment};
};

std::string key_of(uint64_t number) { return cat("key ", number); }

void put_some(ScrubbedNode& node, int count) {
  for (int i = 0; i < count; ++i) node.fixture.put(key_of(static_cast<uint64_t>(i)), cat("value ", i));
  node.commit();
}

// Bug log B52.
TEST(Scrubber, CorrectsALeafThatDoesNotFitItsRecordsOnce) {
  ScrubbedNode node;
  put_some(node, 50);
  const Leaf right = node.leaf_of_key("key 3");
  node.spoil_leaf("key 3");

  ScrubReport report = node.scrub();
  EXPECT_EQ(report.partitions, kTestPartitions);
  EXPECT_EQ(report.records, 50U);
  EXPECT_EQ(report.leaves_corrected, 1U);
  EXPECT_TRUE(report.problems.empty());
  EXPECT_EQ(node.leaf_of_key("key 3"), right);

  EXPECT_EQ(node.scrub().leaves_corrected, 0U);
  node.fixture.kill();
  EXPECT_EQ(node.leaf_of_key("key 3"), right) << "not on disk";
}

TEST(Scrubber, CorrectsALeafWithoutAnyRecord) {
  ScrubbedNode node;
  node.spoil_leaf("nobody");
  EXPECT_EQ(node.scrub().leaves_corrected, 1U);
  EXPECT_EQ(node.leaf_of_key("nobody"), Leaf());
}

TEST(Scrubber, CountsDeletedKeysAsTheStoreDoes) {
  ScrubbedNode node;
  put_some(node, 20);
  node.fixture.put("key 3", "", VersionKind::kTombstone);
  node.commit();
  const ScrubReport report = node.scrub();
  EXPECT_EQ(report.records, 20U);
  EXPECT_EQ(report.leaves_corrected, 0U);
}

// Writes that are staged, committed, or arrive while it looks are no mistakes; wrong leaves are found among
// them.
TEST(Scrubber, IsNotMisledByWritesUnderWay) {
  uint64_t corrected = 0;
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(cat("seed ", seed));
    SeededRandom random(seed);
    ScrubbedNode node;
    put_some(node, 60);
    const bool spoils = random.one_in(2);
    if (spoils) node.spoil_leaf("key 3");
    node.ask();
    for (int steps = 0; node.answers.empty() && steps < 20'000; ++steps) {
      if (random.one_in(3)) node.fixture.put(key_of(4 + random.below(80)), cat("newer ", steps));
      if (random.one_in(2) && node.fixture.store->has_staged()) node.commit();
      node.step();
    }
    ASSERT_EQ(node.answers.size(), 1U);
    const auto& report = std::get<ScrubReport>(node.answers[0].body);
    EXPECT_LE(report.leaves_corrected, spoils ? 1U : 0U);
    EXPECT_TRUE(report.problems.empty());
    corrected += report.leaves_corrected;
    if (node.fixture.store->has_staged()) node.commit();
    EXPECT_EQ(node.scrub().leaves_corrected, spoils ? 1U - report.leaves_corrected : 0U);
  }
  EXPECT_GT(corrected, 30U);
}

// The leaf is as it was noted, though what was read between was another state.
TEST(Scrubber, AChangeThatIsUndoneWhileItReadsIsNoMistake) {
  ScrubbedNode node;
  put_some(node, 50);
  const Place place = StoreFixture::place("fleeting");
  node.ask();
  while (node.answers.empty()) {
    const bool disturbed = node.is_reading() && node.reads < kTestPartitions;
    if (!disturbed) {
      node.step();
      continue;
    }
    node.fixture.put("fleeting", "value");
    node.commit();
    node.finish_read([&] {
      const RecordHead head = **node.fixture.store->newest_head(place);
      node.fixture.store->erase(place, head, head.context);
      node.commit();
    });
  }
  EXPECT_EQ(std::get<ScrubReport>(node.answers[0].body).leaves_corrected, 0U);
}

TEST(Scrubber, NamesARecordWhoseContentIsNotWhatItsHashSays) {
  ScrubbedNode node;
  put_some(node, 5);
  std::string bytes;
  const std::string storage_key = StoreFixture::place("key 2").storage_key;
  ASSERT_TRUE(node.fixture.engine->get(Family::kData, storage_key, bytes).ok());
  bytes.back() = static_cast<char>(bytes.back() ^ 1);  // of the value
  auto batch = node.fixture.engine->new_batch();
  batch->put(Family::kData, storage_key, bytes);
  ASSERT_TRUE(node.fixture.engine->write(*batch, true).ok());

  const ScrubReport report = node.scrub();
  ASSERT_EQ(report.problems.size(), 1U);
  EXPECT_NE(report.problems[0].find("key 2"), std::string::npos) << report.problems[0];
  EXPECT_EQ(report.leaves_corrected, 0U);
  EXPECT_EQ(node.environment.statistics.scrub_problems, 1U);
}

TEST(Scrubber, NamesWhatItCannotReadAndGoesOn) {
  ScrubbedNode node;
  put_some(node, 50);
  const std::string damaged = StoreFixture::place("key 2").storage_key;
  node.fixture.disk.damage(Family::kData, damaged, damaged);
  node.spoil_leaf("key 3");
  ASSERT_NE(StoreFixture::place("key 2").partition, StoreFixture::place("key 3").partition);
  const ScrubReport report = node.scrub();
  EXPECT_EQ(report.problems.size(), 1U);
  EXPECT_EQ(report.partitions, kTestPartitions);
  EXPECT_EQ(report.leaves_corrected, 1U);
}

TEST(Scrubber, ByItselfItScrubsEveryPartitionOnceInAnInterval) {
  const Duration interval = kTick * (10 * kTestPartitions);
  ScrubbedNode node(interval);
  put_some(node, 50);
  node.spoil_leaf("key 3");
  for (int tick = 0; tick < 10 * static_cast<int>(kTestPartitions) + 20; ++tick) {
    node.tick();
    if (node.is_reading()) node.finish_read();
    while (node.fixture.store->has_staged()) node.commit();
    while (node.is_reading()) node.finish_read();
    EXPECT_LE(node.reads, static_cast<uint64_t>(tick) / 10 + 4) << "all at once";
  }
  EXPECT_EQ(node.environment.statistics.leaves_corrected, 1U);
  EXPECT_GE(node.environment.statistics.scrubbed_records, 50U);
  EXPECT_LE(node.reads, 2 * kTestPartitions);
}

TEST(Scrubber, WithoutAnIntervalItOnlyScrubsWhenAsked) {
  ScrubbedNode node;
  for (int tick = 0; tick < 1000; ++tick) node.tick();
  EXPECT_EQ(node.reads, 0U);
  EXPECT_FALSE(node.is_reading());
}

TEST(Scrubber, ATickReadsNoMoreThanItsShare) {
  ScrubbedNode node;
  for (int i = 0; i < 40; ++i) node.fixture.put(key_of(static_cast<uint64_t>(i)), std::string(100'000, 'x'));
  node.commit();
  node.ask();
  int ticks = 0;
  while (node.answers.empty()) {
    node.tick();
    ++ticks;
    const uint64_t before = node.environment.statistics.scrubbed_records;
    while (node.is_reading()) node.finish_read();
    EXPECT_LE(node.environment.statistics.scrubbed_records - before, 9U);
  }
  EXPECT_GE(ticks, 5);
}

TEST(Scrubber, AnswersThoseThatWaitWhenTheirTimeIsOverOrTheLifeEnds) {
  ScrubbedNode node;
  node.ask(std::chrono::milliseconds(15));
  node.tick();
  EXPECT_TRUE(node.answers.empty());
  node.tick();
  ASSERT_EQ(node.answers.size(), 1U);
  EXPECT_EQ(node.answers[0].status.code(), StatusCode::kUnavailable);
  MessageOutbox outbox;
  node.ask();
  node.scrubber.fail_all(unavailable("the store failed"), outbox);
  ASSERT_EQ(outbox.envelopes().size(), 1U);
}

}  // namespace
}  // namespace ringkv
