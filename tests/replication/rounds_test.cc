#include "replication/rounds.h"

#include <gtest/gtest.h>

#include "tests/replication/round_fixture.h"

namespace ringkv {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kNever{};

// Keys of different partitions, or of one.
std::string key_in(Partition partition, int which = 0) {
  for (int i = 0;; ++i) {
    std::string key = "k" + std::to_string(i);
    if (RoundFixture::place(key).partition == partition && which-- == 0) return key;
  }
}
CausalContext seen(const Dot& dot) {
  CausalContext context;
  context.vector.raise(dot.actor, dot.counter);
  return context;
}
template <class Body>
std::function<bool(const RoundFixture::Letter&)> any() {
  return [](const RoundFixture::Letter& letter) { return std::holds_alternative<Body>(letter.message); };
}

// ---- When

TEST(Rounds, TheFirstBeginsWithinASecondAndTheOthersEveryIntervalOrSo) {
  RoundFixture cluster(2, seconds(10));
  std::vector<Time> began;
  cluster.on_written = [&](auto& from, auto& letter) {
    if (from.id == NodeId{1} && std::holds_alternative<RoundCompare>(letter.message))
      began.push_back(cluster.now);
  };
  const Time start = cluster.now;
  cluster.run_for(seconds(60));

  ASSERT_GE(began.size(), 5U);
  EXPECT_LE(began[0] - start, milliseconds(1100));
  for (size_t i = 1; i < began.size(); ++i) {
    EXPECT_GE(began[i] - began[i - 1], milliseconds(7500));
    EXPECT_LE(began[i] - began[i - 1], milliseconds(12'600));
  }
}

// What it stamped while it owned something here may wait to hear that its life is over (boot_closing.h).
TEST(Rounds, AskWhoSharesNothingWhichLifeItHas) {
  RoundFixture cluster(4, seconds(10), /*replicas=*/2);
  bool asked = false;
  cluster.on_written = [&](auto& from, auto& letter) {
    asked = asked || (from.id == NodeId{1} && letter.to == NodeId{3} &&
                      std::holds_alternative<RoundCompare>(letter.message));
  };
  cluster.run_for(seconds(30));

  EXPECT_TRUE(asked);
  EXPECT_EQ(cluster.statistics(1).rounds_failed, 0U);
  EXPECT_EQ(cluster.statistics(1).rounds_equal, cluster.statistics(1).rounds);
}

TEST(Rounds, BeginAtOnceWhenTheSourceReturns) {
  RoundFixture cluster(2, seconds(10));
  cluster.run_for(seconds(2));
  for (const bool other_life : {false, true}) {
    cluster.see_reachable(1, 2, false);
    cluster.run_for(seconds(1));
    const uint64_t before = cluster.statistics(1).rounds;
    if (other_life) {
      cluster.kill(2);
      cluster.start(2);
    }
    cluster.see_reachable(1, 2, true);
    cluster.run_for(milliseconds(200));
    EXPECT_EQ(cluster.statistics(1).rounds, before + 1);
  }
}

TEST(Rounds, WithoutAnIntervalBeginOnlyWhenAskedFor) {
  RoundFixture cluster(2, kNever);
  cluster.put(1, "a", "x");
  cluster.run_for(seconds(30), milliseconds(100));
  EXPECT_TRUE(cluster.values(2, "a").empty());
  EXPECT_EQ(cluster.repaired(2).differences, 1U);
  EXPECT_EQ(cluster.values(2, "a"), std::vector<std::string>{"x"});
}

// ---- What they find

TEST(Rounds, BetweenEqualNodesAreOneSmallQuestionAndRaiseTheFloor) {
  RoundFixture cluster(2, kNever);
  const Dot dot = cluster.put_everywhere(key_in(3), "x");
  size_t letters = 0;
  cluster.on_written = [&](auto& from, auto& letter) { letters += from.id != letter.to ? 1 : 0; };

  const RepairReport report = cluster.repaired(2);

  EXPECT_EQ(letters, 2U);
  EXPECT_EQ(report.differences, 0U);
  EXPECT_EQ(report.partitions, kTestPartitions);
  for (Partition partition = 0; partition < kTestPartitions; ++partition) {
    EXPECT_TRUE(cluster.node(2).store->floor_covers(partition, dot));
  }
  EXPECT_EQ(cluster.statistics(2).rounds_equal, 1U);
}

TEST(Rounds, BringWhatIsLackingAndWhatIsNewer) {
  RoundFixture cluster(2, kNever);
  const Dot old = cluster.put_everywhere(key_in(3), "old");
  cluster.put(1, key_in(3), "new", false, seen(old));
  cluster.put(1, key_in(7), "other");
  cluster.run();

  const RepairReport report = cluster.repaired(2);

  EXPECT_EQ(report.differences, 2U);
  EXPECT_EQ(report.keys_sent, 2U);
  EXPECT_GT(report.bytes_sent, 0U);
  EXPECT_FALSE(report.partial);
  EXPECT_EQ(cluster.values(2, key_in(3)), std::vector<std::string>{"new"});
  EXPECT_EQ(cluster.values(2, key_in(7)), std::vector<std::string>{"other"});
  EXPECT_EQ(cluster.repaired(2).differences, 0U);
}

TEST(Rounds, PullNothingFromWhoHasLess) {
  RoundFixture cluster(2, kNever);
  cluster.put(2, "a", "x");
  cluster.run();
  EXPECT_EQ(cluster.repaired(2).differences, 0U);
  EXPECT_EQ(cluster.values(2, "a"), std::vector<std::string>{"x"});
}

// Of a partition that was pulled the floor says all that the source's said, of third nodes too.
TEST(Rounds, HandTheSourcesWholeFloorOn) {
  RoundFixture cluster(3, kNever);
  const std::string key = key_in(3);
  const Dot dot = cluster.put(3, key, "x");
  cluster.copy(3, 1, key);
  cluster.repaired(1);
  cluster.put(1, key_in(3, 1), "y");
  cluster.run();
  cluster.kill(3);
  for (const uint64_t at : {1, 2}) cluster.see_reachable(at, 3, false);

  EXPECT_TRUE(cluster.repaired(2).partial);

  EXPECT_TRUE(cluster.node(2).store->floor_covers(3, dot));
}

TEST(Rounds, LetGoWhatIsGoneAtTheSourceUnderItsFloor) {
  RoundFixture cluster(2, kNever);
  const std::string key = key_in(3);
  const Dot value = cluster.put_everywhere(key, "x");
  cluster.repaired(1);
  const Dot tombstone = cluster.put(1, key, "", true, seen(value));
  cluster.run_for(seconds(63), milliseconds(500));  // swept: all of it is of the own life
  EXPECT_TRUE(cluster.stored(1, key).versions.empty());
  EXPECT_TRUE(cluster.node(1).store->erased(3).covers(tombstone));

  const RepairReport report = cluster.repaired(2);

  EXPECT_EQ(report.differences, 1U);
  EXPECT_EQ(report.bytes_sent, 0U);
  EXPECT_TRUE(cluster.values(2, key).empty());
  EXPECT_TRUE(cluster.node(2).store->erased(3).covers(tombstone)) << "for who writes the key anew";
}

// A delete that one replica has let go and the other not yet is no difference, and isn't copied back.
TEST(Rounds, DoNotBringBackTombstonesThatWereLetGo) {
  RoundFixture cluster(2, kNever);
  std::vector<std::string> keys;
  for (int i = 0; i < 40; ++i) keys.push_back("d" + std::to_string(i));
  for (const std::string& key : keys) {
    const Dot value = cluster.put_everywhere(key, "x");
    cluster.put_everywhere(key, "", true, seen(value));
  }
  cluster.run_for(seconds(1));
  const auto tombstones = [&](uint64_t number) {
    size_t count = 0;
    for (const std::string& key : keys) count += cluster.stored(number, key).versions.empty() ? 0 : 1;
    return count;
  };
  ASSERT_EQ(tombstones(1), 0U);
  ASSERT_EQ(tombstones(2), keys.size());

  const RepairReport first = cluster.repaired(1);
  EXPECT_EQ(first.differences, 0U);
  EXPECT_EQ(first.bytes_sent, 0U);
  EXPECT_EQ(cluster.statistics(2).bytes_sent, 0U);
  EXPECT_EQ(tombstones(1), 0U);

  const RepairReport second = cluster.repaired(2);
  EXPECT_EQ(second.differences, 0U);
  EXPECT_EQ(second.bytes_sent, 0U);
  cluster.run_for(seconds(1));
  EXPECT_EQ(tombstones(2), 0U);
}

// One that refills from two others must not miss what only one of them knows to be superseded.
TEST(Rounds, BringABareContextToWhoHasNothingOfTheKey) {
  RoundFixture cluster(2, kNever);
  const std::string key = key_in(3);
  const Dot lost{{NodeId{9}, Boot{9}}, 5};
  RoundFixture::Node& first = cluster.node(1);
  const Place place = RoundFixture::place(key);
  first.store->stage(place, first.store->encoded(place, key, Record{seen(lost), {}}), {});
  cluster.run();

  EXPECT_EQ(cluster.repaired(2).differences, 0U) << "there is no value, and no tombstone, that it lacks";

  EXPECT_TRUE(cluster.stored(2, key).context.covers(lost));
  const LeafTable& there = first.store->leaves();
  EXPECT_EQ(cluster.node(2).store->leaves().partition_hash(3), there.partition_hash(3));
}

// Each knows of the key what the other doesn't, and of others in its partition; neither has a version.
TEST(Rounds, MakeTwoBareContextsOne) {
  RoundFixture cluster(2, kNever);
  const std::string key = key_in(3);
  const Place place = RoundFixture::place(key);
  for (const uint64_t number : {1, 2}) {
    const Dot lost{{NodeId{9}, Boot{number}}, 5};
    RoundFixture::Node& node = cluster.node(number);
    const CausalContext erased = seen({{NodeId{8}, Boot{number}}, 7});
    node.store->raise_floor(place.partition, erased, erased);
    node.store->stage(place, node.store->encoded(place, key, Record{seen(lost), {}}), {});
  }
  cluster.run();
  cluster.repaired(1);
  cluster.repaired(2);
  for (const uint64_t number : {1, 2})
    EXPECT_EQ(cluster.stored(number, key).context.vector.entries().size(), 2U);
  const LeafTable& first = cluster.node(1).store->leaves();
  EXPECT_EQ(first.partition_hash(3), cluster.node(2).store->leaves().partition_hash(3));
  EXPECT_EQ(cluster.repaired(1).bytes_sent, 0U);
}

// Nobody's floor reaches what only this context knows.
TEST(Rounds, BringABareContextThatSupersedesWhatIsHere) {
  RoundFixture cluster(2, kNever);
  const std::string key = key_in(3);
  const Dot dot = cluster.put(2, key, "x");
  cluster.run();
  RoundFixture::Node& first = cluster.node(1);
  const Place place = RoundFixture::place(key);
  first.store->stage(place, first.store->encoded(place, key, Record{seen(dot), {}}), {});
  cluster.run();

  cluster.repaired(2);

  EXPECT_TRUE(cluster.stored(2, key).versions.empty());
}

TEST(Rounds, LetGoWhatOnlyAClosedLifeCovers) {
  for (const bool listed : {false, true}) {
    RoundFixture cluster(2, kNever);
    const std::string key = key_in(3);
    const Dot dot = cluster.put(2, key, "x");
    cluster.run();
    if (listed) cluster.put(1, key, "other");
    cluster.node(1).store->close_lives({dot.actor});
    cluster.run();

    cluster.repaired(2);

    const auto left = listed ? std::vector<std::string>{"other"} : std::vector<std::string>{};
    EXPECT_EQ(cluster.values(2, key), left);
    const RepairReport again = cluster.repaired(2);
    EXPECT_EQ(again.differences, 0U);
  }
}

// Lists of keys and records come in as many pieces as it takes.
TEST(Rounds, RefillAnEmptiedNodePieceByPiece) {
  RoundFixture cluster(3, kNever);
  cluster.slice_bytes_max = 1;
  for (int i = 0; i < 100; ++i)
    cluster.put_everywhere("k" + std::to_string(i), std::string(i % 2 == 0 ? 10 : 5000, 'v'));
  cluster.kill(3);
  cluster.node(3).disk->wipe();
  cluster.start(3);
  cluster.node(3).wholeness->lose_all();

  const RepairReport report = cluster.repaired(3);

  EXPECT_EQ(report.differences, 100U);
  EXPECT_EQ(report.keys_sent, 100U);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(cluster.values(3, "k" + std::to_string(i)).size(), 1U);
  EXPECT_EQ(cluster.node(3).wholeness->incomplete(), 0U);
}

// A delete that an owner has let go is known by its floor alone: it looks as empty as a disk that was wiped.
TEST(Rounds, RefillWithWhatAnEqualSourceKnowsToBeSuperseded) {
  RoundFixture cluster(3, kNever);
  const std::string key = key_in(3);
  const Dot value = cluster.put(2, key, "x");
  cluster.copy(2, 1, key);
  cluster.repaired(1);
  const Dot tombstone = cluster.put(1, key, "", true, seen(value));
  cluster.copy(1, 3, key);
  cluster.run_for(seconds(63), milliseconds(500));  // swept
  ASSERT_TRUE(cluster.stored(1, key).versions.empty());
  cluster.kill(3);
  cluster.node(3).disk->wipe();
  cluster.start(3);
  cluster.node(3).wholeness->lose_all();

  cluster.see_reachable(3, 2, false);
  cluster.repaired(3);
  cluster.see_reachable(3, 2, true);
  cluster.repaired(3);

  EXPECT_EQ(cluster.node(3).wholeness->incomplete(), 0U);
  EXPECT_TRUE(cluster.node(3).store->floor_covers(3, tombstone));
  EXPECT_TRUE(cluster.values(3, key).empty());
}

TEST(Rounds, DoNotOpenALeafThatDiffersOnlyByAWriteUnderWay) {
  RoundFixture cluster(2, kNever);
  cluster.put(1, "a", "x");
  cluster.run();
  const uint64_t request = cluster.repair(2);
  cluster.run();
  cluster.copy(1, 2, "a");
  cluster.run_for(milliseconds(200));

  ASSERT_TRUE(cluster.answers.contains(request));
  EXPECT_EQ(std::get<RepairReport>(cluster.answers[request].body).differences, 0U);
  EXPECT_EQ(cluster.statistics(2).leaves_opened, 0U);
}

// What is merged here and not on the disk yet isn't fetched again.
TEST(Rounds, KnowWhatIsStagedHere) {
  RoundFixture cluster(2, kNever);
  const Place place = RoundFixture::place("k0");
  std::string other;
  for (int i = 1; other.empty(); ++i) {
    if (RoundFixture::place("k" + std::to_string(i)).leaf == place.leaf) other = "k" + std::to_string(i);
  }
  cluster.put(1, "k0", "x");
  cluster.put(1, other, "y");
  cluster.run();
  const uint64_t request = cluster.repair(2);
  cluster.run();  // it pauses
  RecordStore& second = *cluster.node(2).store;
  second.stage(place, second.encoded(place, "k0", cluster.stored(1, "k0")), {});
  cluster.run_for(milliseconds(200), milliseconds(100));

  ASSERT_TRUE(cluster.answers.contains(request));
  EXPECT_EQ(std::get<RepairReport>(cluster.answers[request].body).keys_sent, 1U);
}

// Where groups of partitions were found equal the floor is that of then, however long the rest takes.
TEST(Rounds, ClaimOfWhatWasEqualOnlyWhatWasStampedThen) {
  RoundFixture cluster({.nodes = 2, .round_interval = kNever, .partitions = 4 * kPartitionsPerGroup});
  const auto key_of_group = [](uint32_t group) {
    for (int i = 0;; ++i) {
      const std::string key = "k" + std::to_string(i);
      if (RoundFixture::place(key, 4 * kPartitionsPerGroup).partition / kPartitionsPerGroup == group)
        return key;
    }
  };
  const Dot then = cluster.put(1, key_of_group(0), "differs");
  cluster.run();
  cluster.hold = [](const auto& letter) {
    const auto* compare = std::get_if<RoundCompare>(&letter.message);
    return compare != nullptr && compare->level == DigestLevel::kPartitions;
  };
  cluster.repair(2);
  cluster.run();  // all groups but the first are equal
  const Dot later = cluster.put(1, key_of_group(2), "new");
  cluster.hold = nullptr;
  cluster.run();
  const Partition equal = RoundFixture::place(key_of_group(2), 4 * kPartitionsPerGroup).partition;
  EXPECT_TRUE(cluster.node(2).store->floor_covers(equal, then));
  EXPECT_FALSE(cluster.node(2).store->floor_covers(equal, later));
}

// ---- What goes wrong

TEST(Rounds, GiveUpASilentSourceAndTryAgainSoon) {
  RoundFixture cluster(2, seconds(10));
  cluster.hold = any<RoundDigests>();
  cluster.run_for(milliseconds(6500));
  EXPECT_EQ(cluster.statistics(1).rounds_failed, 1U);
  EXPECT_EQ(cluster.statistics(1).rounds, 0U);
  cluster.hold = nullptr;
  cluster.run_for(milliseconds(1500));
  EXPECT_EQ(cluster.statistics(1).rounds, 1U);
}

// Every question has its time, whoever is silent.
TEST(Rounds, NeverWaitForEver) {
  const std::vector<std::function<bool(const RoundFixture::Letter&)>> lost = {
      any<RoundDigests>(), any<RoundLeaves>(), any<RoundSlice>(), any<RoundWalk>()};
  for (const auto& hold : lost) {
    RoundFixture cluster(2, kNever);
    cluster.put(1, "a", "x");
    cluster.run();
    cluster.hold = hold;
    const uint64_t request = cluster.repair(2);
    cluster.run_for(seconds(12), milliseconds(100));
    ASSERT_TRUE(cluster.answers.contains(request));
    const auto& report = std::get<RepairReport>(cluster.answers[request].body);
    EXPECT_TRUE(report.partial);
    ASSERT_EQ(report.problems.size(), 1U);
    EXPECT_NE(report.problems[0].find("n1"), std::string::npos);
  }
}

TEST(Rounds, APartitionThatFailsHoldsUpNoOther) {
  RoundFixture cluster(2, kNever);
  for (const Partition partition : {2, 3, 4, 5}) cluster.put(1, key_in(partition), "x");
  cluster.run();
  RoundFixture::Node& first = cluster.node(1);
  const std::unique_ptr<Batch> batch = first.engine->new_batch();
  batch->put(Family::kData, RoundFixture::place(key_in(2)).storage_key, "damaged");
  ASSERT_TRUE(first.engine->write(*batch, true).ok());

  const RepairReport report = cluster.repaired(2);

  EXPECT_TRUE(report.partial);
  ASSERT_EQ(report.problems.size(), 1U);
  EXPECT_NE(report.problems[0].find("partition 2"), std::string::npos) << report.problems[0];
  EXPECT_EQ(report.differences, 3U);
  for (const Partition partition : {3, 4, 5}) EXPECT_EQ(cluster.values(2, key_in(partition)).size(), 1U);
}

TEST(Rounds, RaiseNoFloorWhereARecordWasNotStored) {
  RoundFixture cluster(2, kNever);
  RoundFixture::Node& first = cluster.node(1);
  const Place place = place_of({.partitions = kTestPartitions}, "unknown", "a");
  Record record;
  record.versions = {{.dot = first.store->next_dot(), .value = "x"}};
  record.context = seen(record.versions[0].dot);
  first.store->stage(place, first.store->encoded(place, "a", record), {});
  cluster.run();

  EXPECT_TRUE(cluster.repaired(2).partial);

  EXPECT_FALSE(cluster.node(2).store->floor_covers(place.partition, record.versions[0].dot));
}

// What it had when its leaves were read may be what is missing now.
TEST(Rounds, EndWhenTheSourceHasLostDataMeanwhile) {
  RoundFixture cluster(2, kNever);
  const Dot dot = cluster.put(1, key_in(3), "x");
  cluster.put(2, key_in(3, 1), "y");
  cluster.copy(2, 1, key_in(3, 1));
  cluster.run();
  cluster.node(1).store->raise_floor(3, seen({cluster.node(2).store->actor(), 1}), {});
  cluster.hold = any<RoundWalk>();
  const uint64_t request = cluster.repair(2);
  cluster.run_for(milliseconds(300));
  cluster.node(1).store->reset_floor(3);
  cluster.hold = nullptr;
  cluster.run_for(milliseconds(300));

  ASSERT_TRUE(cluster.answers.contains(request));
  EXPECT_TRUE(std::get<RepairReport>(cluster.answers[request].body).partial);
  EXPECT_FALSE(cluster.node(2).store->floor_covers(3, dot));
}

TEST(Rounds, AskABusySourceAgain) {
  RoundFixture cluster(3, kNever);
  cluster.put(1, key_in(3), "x");
  cluster.run();
  RoundFixture::Node& first = cluster.node(1);
  first.store->raise_floor(3, seen({{NodeId{9}, Boot{9}}, 1}), {});  // staged: walks wait
  cluster.hold = any<RoundWalk>();
  const uint64_t request = cluster.repair(2);
  cluster.run_for(milliseconds(200));
  first.store->raise_floor(3, seen({{NodeId{9}, Boot{9}}, 2}), {});
  for (size_t i = 0; i < RoundSource::kWalksMax; ++i) {
    cluster.receive({NodeId{3}, NodeId{1}, RoundWalk{.round = i + 1, .partition = 3}});
  }
  cluster.hold = nullptr;
  cluster.run_for(milliseconds(400));

  ASSERT_TRUE(cluster.answers.contains(request));
  EXPECT_FALSE(std::get<RepairReport>(cluster.answers[request].body).partial);
  EXPECT_EQ(cluster.values(2, key_in(3)).size(), 1U);
}

TEST(Rounds, FetchNothingWhileTheDiskIsNearlyFull) {
  RoundFixture cluster(2, kNever);
  const Dot both = cluster.put_everywhere(key_in(9), "both");
  cluster.put(1, key_in(3), "x");
  cluster.run();
  cluster.node(2).convergence->refuse_puts("the disk is nearly full");

  const RepairReport refused = cluster.repaired(2);
  EXPECT_TRUE(refused.partial);
  EXPECT_NE(refused.problems.at(0).find("the disk is nearly full"), std::string::npos);
  EXPECT_TRUE(cluster.values(2, key_in(3)).empty());
  EXPECT_TRUE(cluster.node(2).store->floor_covers(9, both)) << "what is equal costs nothing";

  cluster.node(2).convergence->take_puts();
  EXPECT_FALSE(cluster.repaired(2).partial);
  EXPECT_EQ(cluster.values(2, key_in(3)).size(), 1U);
}

}  // namespace
}  // namespace ringkv
