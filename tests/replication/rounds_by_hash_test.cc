// Rounds that learn from the hashes of leaves what is lacking, and what they do where hashes don't tell.
#include <gtest/gtest.h>

#include "replication/rounds.h"
#include "tests/replication/round_fixture.h"

namespace ringkv {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kNever{};

// The first of them is k0.
std::vector<std::string> keys_of_a_leaf(size_t count) {
  std::vector<std::string> keys;
  const LeafId leaf = RoundFixture::place("k0").leaf;
  for (int i = 0; keys.size() < count; ++i) {
    const std::string key = "k" + std::to_string(i);
    if (RoundFixture::place(key).leaf == leaf) keys.push_back(key);
  }
  return keys;
}

// What the second node's pulls ask and are told from now on.
struct RoundTraffic {
  explicit RoundTraffic(RoundFixture& cluster) {
    cluster.on_written = [this](auto& from, auto& letter) {
      const bool is_pulling = from.id == NodeId{2};
      if (const auto* slice = std::get_if<RoundSlice>(&letter.message)) entries += slice->entries.size();
      if (is_pulling && std::holds_alternative<RoundWalk>(letter.message)) ++walks;
      if (is_pulling && std::holds_alternative<ReadRange>(letter.message)) ++own_reads;
    };
  }

  size_t walks = 0;
  size_t entries = 0;
  size_t own_reads = 0;
};

CausalContext seen(const Dot& dot) {
  CausalContext context;
  context.vector.raise(dot.actor, dot.counter);
  return context;
}

std::string key_in(Partition partition, int which = 0) {
  for (int i = 0;; ++i) {
    std::string key = "k" + std::to_string(i);
    if (RoundFixture::place(key).partition == partition && which-- == 0) return key;
  }
}

size_t count_held(RoundFixture& cluster, uint64_t number, const std::vector<std::string>& keys) {
  size_t held = 0;
  for (const std::string& key : keys) held += cluster.values(number, key).size();
  return held;
}

// Some leaf of them holds many large records: keys first, then what is lacking. (One of the others differs
// too, so that the hash of the leaf doesn't tell what that is.)
TEST(RoundsByHash, FetchOfALargeLeafOnlyWhatIsLacking) {
  RoundFixture cluster(2, kNever);
  const std::vector<std::string> keys = keys_of_a_leaf(6);
  for (size_t i = 0; i < 5; ++i) cluster.put_everywhere(keys[i], std::string(3000, 'v'));
  cluster.put(2, keys[0], "own");
  cluster.put(1, keys[5], std::string(3000, 'v'));
  cluster.run();

  const RepairReport report = cluster.repaired(2);

  EXPECT_EQ(report.keys_sent, 1U);
  EXPECT_EQ(cluster.statistics(1).keys_sent, 1U);
  EXPECT_EQ(cluster.values(2, keys[5]).size(), 1U);
}

// Where nothing else differs.
TEST(RoundsByHash, LearnWhichKeysAreLackingByTheHashOfTheLeaf) {
  RoundFixture cluster(2, kNever);
  const std::vector<std::string> keys = keys_of_a_leaf(20);
  for (size_t i = 0; i < 10; ++i) cluster.put_everywhere(keys[i], "v");
  for (size_t i = 10; i < 20; ++i) cluster.put(1, keys[i], "v");
  cluster.run();
  RoundTraffic traffic(cluster);

  const RepairReport report = cluster.repaired(2);

  EXPECT_EQ(report.keys_sent, 10U);
  EXPECT_EQ(traffic.entries, 10U);
  EXPECT_EQ(traffic.own_reads, 0U);
  EXPECT_EQ(cluster.repaired(2).differences, 0U);
}

// Some other record of the leaf is newer at the source: nothing can be told, all of the leaf is listed.
TEST(RoundsByHash, ListALeafWhereTheHashDoesNotTell) {
  RoundFixture cluster(2, kNever);
  const std::vector<std::string> keys = keys_of_a_leaf(5);
  for (size_t i = 0; i < 4; ++i) cluster.put_everywhere(keys[i], "v");
  cluster.put(1, keys[0], "newer", false, seen(cluster.stored(1, keys[0]).versions.front().dot));
  cluster.put(1, keys[4], "v");
  cluster.run();

  const RepairReport report = cluster.repaired(2);

  EXPECT_EQ(report.keys_sent, 2U);
  EXPECT_EQ(cluster.values(2, keys[0]), std::vector<std::string>{"newer"});
  EXPECT_EQ(cluster.repaired(2).differences, 0U);
}

// The source writes on while its leaves are on their way: what it has now is as good.
TEST(RoundsByHash, TakeALeafForWholeThatIsWhatTheSourceHasNow) {
  RoundFixture cluster(2, kNever);
  const std::vector<std::string> keys = keys_of_a_leaf(3);
  cluster.put_everywhere(keys[0], "v");
  cluster.put(1, keys[1], "v");
  cluster.run();
  RoundTraffic traffic(cluster);
  const uint64_t request = cluster.repair(2);
  cluster.run();  // it pauses
  cluster.put(1, keys[2], "v");
  cluster.run_for(milliseconds(200));

  ASSERT_TRUE(cluster.answers.contains(request));
  EXPECT_EQ(std::get<RepairReport>(cluster.answers[request].body).keys_sent, 2U);
  EXPECT_EQ(traffic.own_reads, 0U);
}

// What the source hasn't is told by its hash, and asked of nobody.
TEST(RoundsByHash, AskNothingOfWhoHasLessInALeaf) {
  RoundFixture cluster(2, kNever);
  const std::vector<std::string> keys = keys_of_a_leaf(8);
  for (size_t i = 0; i < 4; ++i) cluster.put_everywhere(keys[i], "v");
  for (size_t i = 4; i < 8; ++i) cluster.put(2, keys[i], "v");
  cluster.run();
  RoundTraffic traffic(cluster);

  EXPECT_EQ(cluster.repaired(2).differences, 0U);

  EXPECT_EQ(traffic.walks, 0U);
  EXPECT_EQ(cluster.values(2, keys[7]).size(), 1U);
}

// Of two sources that both have what is lacking here.
TEST(RoundsByHash, HearOfAPartitionThatIsEqualByNowOnlyThatItIs) {
  RoundFixture cluster(3, kNever);
  for (int i = 0; i < 40; ++i) {
    cluster.put(1, key_in(3, i), "v");
    cluster.copy(1, 2, key_in(3, i));
  }
  cluster.run();
  size_t leaves = 0, equal = 0;
  cluster.on_written = [&](auto&, auto& letter) {
    const auto* answer = std::get_if<RoundLeaves>(&letter.message);
    if (answer == nullptr || letter.to != NodeId{3}) return;
    leaves += answer->leaves.size();
    equal += answer->equal ? 1 : 0;
  };
  cluster.repaired(3);
  EXPECT_GT(leaves, 0U);
  EXPECT_LE(leaves, 40U);
  EXPECT_EQ(equal, 1U);
  EXPECT_TRUE(cluster.node(3).store->floor_covers(3, {cluster.node(1).store->actor(), 1}));
}

// It can't be told what is lacking, and an empty leaf here mustn't pass for such a one.
TEST(RoundsByHash, LoseNothingOfALeafThatGrowsTooLargeMeanwhile) {
  RoundFixture cluster(2, kNever);
  const std::vector<std::string> keys = keys_of_a_leaf(65);
  for (size_t i = 0; i < 64; ++i) cluster.put(1, keys[i], "v");
  cluster.run();
  const uint64_t request = cluster.repair(2);
  cluster.run();  // it pauses
  cluster.put(1, keys[64], "v");
  cluster.run_for(milliseconds(200));
  ASSERT_TRUE(cluster.answers.contains(request));
  EXPECT_EQ(count_held(cluster, 2, keys), 65U);

  cluster.repaired(1);

  EXPECT_EQ(count_held(cluster, 1, keys), 65U);
}

TEST(RoundsByHash, LoseNothingOfALeafWithManyTombstones) {
  RoundFixture cluster(2, kNever);
  const std::vector<std::string> keys = keys_of_a_leaf(66);
  for (const std::string& key : keys) cluster.put(1, key, "v");
  cluster.run();
  for (size_t i = 60; i < 66; ++i)
    cluster.put(1, keys[i], "", true, seen(cluster.stored(1, keys[i]).versions.front().dot));
  cluster.run();
  cluster.repaired(2);
  EXPECT_EQ(count_held(cluster, 2, keys), 60U);

  cluster.repaired(1);

  EXPECT_EQ(count_held(cluster, 1, keys), 60U);
}

// In as many slices as there are leaves, among them a source that is busy for a while.
TEST(RoundsByHash, ComeInAnyNumberOfSlices) {
  RoundFixture cluster(2, kNever);
  cluster.slice_bytes_max = 1;
  std::vector<std::string> keys;
  for (int i = 0; i < 20; ++i) keys.push_back(key_in(3, i));
  for (size_t i = 0; i < 10; ++i) cluster.put(1, keys[i], "v");
  for (size_t i = 10; i < 20; ++i) cluster.put(2, keys[i], "v");
  cluster.run();
  size_t slices = 0;
  cluster.on_written = [&](auto&, auto& letter) {
    auto* slice = std::get_if<RoundSlice>(&letter.message);
    if (slice == nullptr || ++slices != 3) return;
    *slice = {.round = slice->round, .source = slice->source, .status = {StatusCode::kOverloaded, "busy"}};
  };
  EXPECT_EQ(cluster.repaired(2).keys_sent, 10U);
  EXPECT_EQ(slices, 11U);
  EXPECT_EQ(cluster.repaired(1).keys_sent, 10U);
  EXPECT_EQ(count_held(cluster, 1, keys), 20U);
  EXPECT_EQ(count_held(cluster, 2, keys), 20U);
}

// What the source holds no more is told by its hash, where nothing else differs.
TEST(RoundsByHash, LetGoWhatIsGoneThereWithoutAQuestion) {
  RoundFixture cluster(2, kNever);
  const std::vector<std::string> keys = keys_of_a_leaf(4);
  for (const std::string& key : keys) cluster.put_everywhere(key, "v");
  for (size_t i = 2; i < 4; ++i)
    cluster.put(1, keys[i], "", true, seen(cluster.stored(1, keys[i]).versions.front().dot));
  cluster.run_for(seconds(1));  // n1 has both, under its floor
  cluster.repaired(1);
  cluster.run_for(seconds(1));
  ASSERT_TRUE(cluster.stored(1, keys[3]).versions.empty());
  RoundTraffic traffic(cluster);

  cluster.repaired(2);

  EXPECT_EQ(traffic.walks, 0U);
  EXPECT_EQ(count_held(cluster, 2, keys), 2U);
  EXPECT_EQ(cluster.repaired(2).differences, 0U);
}

// All at once in one leaf, so that it has to be listed, in as many slices as there are records.
TEST(RoundsByHash, ListWhatIsGoneWhatIsNewerAndWhatIsLackingOfOneLeaf) {
  for (const size_t value_bytes : {size_t{10}, size_t{3000}}) {
    RoundFixture cluster(2, kNever);
    cluster.slice_bytes_max = 1;
    const std::vector<std::string> keys = keys_of_a_leaf(6);
    for (size_t i = 0; i < 5; ++i) cluster.put_everywhere(keys[i], std::string(value_bytes, 'v'));
    cluster.put(1, keys[0], "", true, seen(cluster.stored(1, keys[0]).versions.front().dot));
    cluster.put(1, keys[1], "newer", false, seen(cluster.stored(1, keys[1]).versions.front().dot));
    cluster.put(1, keys[5], std::string(value_bytes, 'v'));
    cluster.run_for(seconds(1));
    cluster.repaired(1);
    cluster.run_for(seconds(1));
    ASSERT_TRUE(cluster.stored(1, keys[0]).versions.empty());
    ASSERT_EQ(cluster.values(2, keys[0]).size(), 1U);
    RoundTraffic traffic(cluster);

    cluster.repaired(2);

    EXPECT_GT(traffic.own_reads, 1U);
    EXPECT_TRUE(cluster.values(2, keys[0]).empty());
    EXPECT_EQ(cluster.values(2, keys[1]), std::vector<std::string>{"newer"});
    EXPECT_EQ(cluster.values(2, keys[5]).size(), 1U);
    EXPECT_EQ(cluster.repaired(2).differences, 0U);
  }
}

// A peer may say anything.
TEST(RoundsByHash, GiveUpASourceThatAnswersForOtherLeaves) {
  RoundFixture cluster(2, kNever);
  const Hash128 own{7, 7};
  cluster.put(1, key_in(3, 0), "v");
  cluster.put(2, key_in(3, 1), "v");
  cluster.run();
  const auto leaf = static_cast<uint8_t>(RoundFixture::place(key_in(3, 1)).leaf % kLeavesPerPartition);
  cluster.on_written = [&](auto&, auto& letter) {
    auto* slice = std::get_if<RoundSlice>(&letter.message);
    if (slice != nullptr) slice->answered.push_back({leaf, own});
  };
  const RepairReport report = cluster.repaired(2);
  ASSERT_TRUE(report.partial);
  EXPECT_NE(report.problems.at(0).find("a leaf that wasn't asked for"), std::string::npos)
      << report.problems.at(0);
}

TEST(RoundsByHash, StopWhenTheDiskIsNearlyFullMeanwhile) {
  RoundFixture cluster(2, kNever);
  cluster.slice_bytes_max = 1;
  std::vector<std::string> keys;
  for (int i = 0; i < 10; ++i) keys.push_back(key_in(3, i));
  for (const std::string& key : keys) cluster.put(1, key, "v");
  cluster.run();
  size_t slices = 0;
  cluster.on_written = [&](auto&, auto& letter) {
    if (std::holds_alternative<RoundSlice>(letter.message) && ++slices == 3)
      cluster.node(2).convergence->refuse_puts("the disk is nearly full");
  };
  const RepairReport report = cluster.repaired(2);
  ASSERT_TRUE(report.partial);
  EXPECT_NE(report.problems.at(0).find("the disk is nearly full"), std::string::npos);
  EXPECT_EQ(count_held(cluster, 2, keys), 3U);
}

}  // namespace
}  // namespace ringkv
