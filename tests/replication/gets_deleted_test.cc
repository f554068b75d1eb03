// Reads of what was deleted, while some owners have let it go, some still hold its tombstone, and some have
// missed the delete: nothing comes back, and nothing is copied that needn't be.
#include <gtest/gtest.h>

#include "tests/replication/cluster_fixture.h"
#include "tests/replication/equal_floors.h"
#include "tests/storage/sample_records.h"

namespace ringkv {
namespace {

using Values = std::vector<std::string>;

// "v" is on all three owners, its delete on those that have not missed it.
struct Deleted {
  Deleted(ClusterFixture& cluster, const std::set<uint64_t>& missed_by)
      : cluster(cluster), key(cluster.key_of(1)) {
    EXPECT_TRUE(cluster.put(1, {.key = key, .value = "v", .w = 3}).status.ok());
    raise_floors_of_equal_copies(cluster);
    cluster.hold = [missed_by](const auto& letter) {
      return std::holds_alternative<ReplicaPut>(letter.message) && missed_by.contains(letter.to.value);
    };
    EXPECT_TRUE(cluster.put(1, {.key = key, .tombstone = true, .w = 1}).status.ok());
    cluster.in_flight.clear();
    cluster.hold = nullptr;
    raise_floors_of_equal_copies(cluster, missed_by);
  }
  void purge(const std::set<uint64_t>& at) {
    for (const uint64_t number : at) {
      const Place place = cluster.place(key);
      MessageOutbox outbox;
      cluster.node(number).replica->on(EraseRecord{place, place.storage_key}, cluster.now, cluster.wall_now,
                                       outbox);
      cluster.run();
      EXPECT_EQ(cluster.stored(number, key), Record()) << number;
    }
  }
  bool is_gone_at(uint64_t number) { return cluster.values(number, key).empty(); }

  ClusterFixture& cluster;
  std::string key;
};

// Row B42.
TEST(GetsDeleted, ReadRepairWritesNothingDeletedBack) {
  ClusterFixture cluster(3, 3, 0);
  Deleted deleted(cluster, {3});
  for (int i = 0; i < 10; ++i) {
    const GetResult result = cluster.get(1 + i % 3, deleted.key, 3);
    EXPECT_TRUE(result.values.empty());
    EXPECT_FALSE(result.unconfirmed);
  }
  const Record held = cluster.stored(3, deleted.key);
  ASSERT_EQ(held.versions.size(), 1U);
  EXPECT_EQ(held.versions[0].kind, VersionKind::kTombstone);
  EXPECT_EQ(held.versions[0].source, Source::kReadRepair);
}

// Row B49: whoever purges, and through whomever it is asked, by however many.
TEST(GetsDeleted, StayDeletedWhoeverHasPurgedTheTombstone) {
  for (const std::set<uint64_t>& purged : {std::set<uint64_t>{}, {1}, {2}, {1, 2}}) {
    for (const std::set<uint64_t>& away : {std::set<uint64_t>{}, {1}, {2}}) {
      for (uint64_t first = 1; first <= 3; ++first) {
        if (away.contains(first)) continue;
        ClusterFixture cluster(3, 3, 0);
        Deleted deleted(cluster, {3});
        deleted.purge(purged);
        cluster.see_unreachable(away);
        for (uint64_t i = 0; i < 9; ++i) {
          const uint64_t at = 1 + (first + i) % 3;
          if (away.contains(at)) continue;
          const GetResult result = cluster.get(at, deleted.key, 2);
          ASSERT_TRUE(result.values.empty()) << "purged at " << purged.size() << ", asked at " << at;
          ASSERT_FALSE(result.unconfirmed);
        }
        cluster.see_unreachable({});
        EXPECT_TRUE(cluster.get(3, deleted.key, 3).values.empty());
        EXPECT_TRUE(deleted.is_gone_at(3)) << "who has missed the delete is told";
        for (const uint64_t number : purged) EXPECT_EQ(cluster.stored(number, deleted.key), Record());
      }
    }
  }
}

// What was merged carries no version, and goes out all the same: with it the read is confirmed.
TEST(GetsDeleted, AreConfirmedOnceEnoughOwnersKnowOfTheDelete) {
  ClusterFixture cluster(3, 3, 0);
  Deleted deleted(cluster, {2, 3});
  deleted.purge({1});
  cluster.see_unreachable({3});
  cluster.hold = [](const auto& letter) { return std::holds_alternative<ReplicaPut>(letter.message); };
  const uint64_t request = cluster.ask(1, ClientGet{.key = deleted.key});
  cluster.run();
  EXPECT_EQ(cluster.answer(request), nullptr);
  ASSERT_EQ(cluster.count_in_flight<ReplicaPut>(), 1U);
  EXPECT_TRUE(decode_record(*std::get<ReplicaPut>(cluster.in_flight[0].message).record)->versions.empty());
  cluster.hold = nullptr;
  cluster.run();
  ASSERT_NE(cluster.answer(request), nullptr);
  EXPECT_TRUE(std::get<GetResult>(cluster.answer(request)->body).values.empty());
  EXPECT_FALSE(std::get<GetResult>(cluster.answer(request)->body).unconfirmed);

  cluster.see_unreachable({1});
  EXPECT_TRUE(cluster.get(2, deleted.key).values.empty()) << "no later quorum sees it";
  EXPECT_TRUE(deleted.is_gone_at(3));
}

TEST(GetsDeleted, AreUnconfirmedWhereWhoHoldsTheValueTakesNoRepair) {
  ClusterFixture cluster(3, 3, 0);
  Deleted deleted(cluster, {2, 3});
  deleted.purge({1});
  cluster.see_unreachable({3});
  cluster.hold = [](const auto& letter) { return std::holds_alternative<ReplicaPut>(letter.message); };
  const uint64_t request = cluster.ask(1, ClientGet{.key = deleted.key});
  cluster.run();
  cluster.pass(std::chrono::milliseconds(250));
  ASSERT_NE(cluster.answer(request), nullptr);
  EXPECT_TRUE(std::get<GetResult>(cluster.answer(request)->body).values.empty());
  EXPECT_TRUE(std::get<GetResult>(cluster.answer(request)->body).unconfirmed);
}

TEST(GetsDeleted, AStragglerThatHasMissedTheDeleteIsToldAfterTheAnswer) {
  ClusterFixture cluster(3, 3, 0);
  Deleted deleted(cluster, {2});
  deleted.purge({1});
  cluster.hold = [](const auto& letter) {
    return letter.to == NodeId{2} && std::holds_alternative<ReplicaGet>(letter.message);
  };
  const uint64_t request = cluster.ask(1, ClientGet{.key = deleted.key});
  cluster.run();
  cluster.pass(std::chrono::milliseconds(60));  // n3 is asked instead
  cluster.run();
  ASSERT_NE(cluster.answer(request), nullptr);
  EXPECT_TRUE(std::get<GetResult>(cluster.answer(request)->body).values.empty());
  EXPECT_FALSE(deleted.is_gone_at(2));
  cluster.hold = nullptr;
  cluster.run();
  EXPECT_TRUE(deleted.is_gone_at(2));
}

// A copy that a slow owner sends late is dropped by those who know better.
TEST(GetsDeleted, ARepairThatWasDecidedBeforeThePurgeBringsNothingBack) {
  ClusterFixture cluster(3, 3, 0);
  const std::string key = cluster.key_of(1);
  cluster.hold = [](const auto& letter) { return std::holds_alternative<ReplicaPut>(letter.message); };
  cluster.ask(1, ClientPut{.key = key, .value = "v", .w = 1});
  cluster.run();
  cluster.in_flight.clear();
  cluster.ask(2, ClientGet{.key = key});  // finds it, and repairs n2: late
  cluster.run();
  ASSERT_EQ(cluster.count_in_flight<ReplicaPut>() + cluster.values(2, key).size(), 1U);
  std::vector<ClusterFixture::Letter> late = std::exchange(cluster.in_flight, {});
  cluster.hold = nullptr;
  EXPECT_TRUE(cluster.put(1, {.key = key, .tombstone = true, .w = 3}).status.ok());
  raise_floors_of_equal_copies(cluster);
  for (const auto& node : cluster.nodes) {
    const Place place = cluster.place(key);
    MessageOutbox outbox;
    node->replica->on(EraseRecord{place, place.storage_key}, cluster.now, cluster.wall_now, outbox);
  }
  cluster.run();
  cluster.in_flight = late;
  cluster.in_flight.insert(cluster.in_flight.end(), late.begin(), late.end());
  cluster.run();
  for (const uint64_t number : {1, 2, 3}) EXPECT_EQ(cluster.stored(number, key), Record()) << number;
  EXPECT_TRUE(cluster.get(3, key, 3).values.empty());
}

// ---- Reads that find nothing to do

// Row B45: by whatever path the copies came.
TEST(GetsDeleted, EqualCopiesAreNeverRepairedHoweverTheyCame) {
  ClusterFixture cluster(5);
  const std::string key = cluster.key_of(1);
  cluster.see_unreachable({3});
  cluster.kill(3);
  EXPECT_TRUE(cluster.put(1, {.key = key, .value = "v"}).status.ok());  // n3's copy is a hint
  cluster.in_flight.clear();
  cluster.start(3);
  cluster.see_unreachable({});
  for (int i = 0; i < 50; ++i) {
    cluster.run();
    cluster.pass(std::chrono::milliseconds(100));
  }
  ASSERT_EQ(cluster.stored(3, key).versions.at(0).source, Source::kHint);
  cluster.kill(2);
  cluster.close(2);
  cluster.node(2).fixture.disk.wipe();
  cluster.start(2);
  EXPECT_EQ(cluster.get(1, key, 3).values, Values{"v"});  // n2's by read repair
  ASSERT_EQ(cluster.stored(2, key).versions.at(0).source, Source::kReadRepair);
  raise_floors_of_equal_copies(cluster);

  const size_t commits = cluster.commits;
  size_t floors_asked = 0;
  cluster.observe = [&](const auto& letter) {
    const auto* get = std::get_if<ReplicaGet>(&letter.message);
    floors_asked += get != nullptr && get->with_floor ? 1 : 0;
  };
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(cluster.get(1 + i % 5, key, 3).values, Values{"v"});
  EXPECT_EQ(cluster.commits, commits);
  EXPECT_EQ(floors_asked, 0U);
}

TEST(GetsDeleted, OfOneThatIsAGoneAndOneThatIsATombstoneWriteOnceAtMost) {
  ClusterFixture cluster(3, 3, 0);
  Deleted deleted(cluster, {});
  deleted.purge({1});
  for (uint64_t at = 1; at <= 3; ++at) EXPECT_TRUE(cluster.get(at, deleted.key, 3).values.empty());
  const size_t commits = cluster.commits;
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(cluster.get(1 + i % 3, deleted.key, 1 + i % 3).values.empty());
  EXPECT_EQ(cluster.commits, commits);
}

// Row B44.
TEST(GetsDeleted, KeysOfOneTokenAreNeverMixedUp) {
  const TokenFunction cut = [](const KeyDigest& digest) { return token_of(digest) & 0xffff'0000'0000'0000U; };
  ClusterFixture cluster(3, 3, 0, cut);
  std::map<Token, std::string> seen;
  std::string one;
  std::string other;
  for (int i = 0; one.empty(); ++i) {
    const std::string key = "k" + std::to_string(i);
    const auto [at, is_new] = seen.emplace(cluster.place(key).token, key);
    if (is_new) continue;
    one = at->second;
    other = key;
  }
  ASSERT_EQ(cluster.place(one).token, cluster.place(other).token);
  for (const auto& [key, missed] : {std::pair(one, 2U), std::pair(other, 3U)}) {
    cluster.hold = [missed = missed](const auto& letter) {
      return std::holds_alternative<ReplicaPut>(letter.message) && letter.to == NodeId{missed};
    };
    EXPECT_TRUE(cluster.put(1, {.key = key, .value = "of " + key, .w = 2}).status.ok());
    cluster.in_flight.clear();
  }
  cluster.hold = nullptr;
  for (uint64_t at = 1; at <= 3; ++at) {
    for (const std::string& key : {one, other})
      EXPECT_EQ(cluster.get(at, key, 3).values, Values{"of " + key}) << at;
  }
  for (uint64_t number = 1; number <= 3; ++number) {
    for (const std::string& key : {one, other}) EXPECT_EQ(cluster.values(number, key), Values{"of " + key});
  }
  EXPECT_TRUE(cluster.put(1, {.key = one, .tombstone = true, .w = 3}).status.ok());
  EXPECT_EQ(cluster.get(2, other, 3).values, Values{"of " + other});
}

// ---- Scans

std::vector<std::string> scanned(ClusterFixture& cluster, uint64_t at) {
  const uint64_t request = cluster.ask(at, ClientScan{});
  cluster.run();
  std::vector<std::string> keys;
  EXPECT_EQ(cluster.code(request), StatusCode::kOk);
  for (const ScanEntry& entry : std::get<ScanPage>(cluster.answer(request)->body).entries)
    keys.push_back(entry.key);
  return keys;
}

TEST(GetsDeleted, ScansDoNotShowWhatOneOwnerHasErased) {
  for (const std::set<uint64_t>& purged : {std::set<uint64_t>{}, {1}, {2}, {1, 2}}) {
    for (const uint64_t at : {1, 2, 3}) {
      for (const uint64_t away : {1, 2}) {
        if (away == at) continue;
        ClusterFixture cluster(3, 3, 0);
        Deleted deleted(cluster, {3});
        deleted.purge(purged);
        cluster.see_unreachable({away});
        EXPECT_EQ(scanned(cluster, at), std::vector<std::string>()) << at << " without " << away;
      }
    }
  }
}

// Under a record that it still holds, which doesn't name it.
TEST(GetsDeleted, ScansDoNotShowWhatOneOwnerKnowsToBeGoneByItsFloorAlone) {
  ClusterFixture cluster(3, 3, 0);
  const std::string key = cluster.key_of(1);
  const Actor old{NodeId{9}, Boot{9}};
  const auto stage = [&](uint64_t number, const Record& record) {
    RecordStore& store = *cluster.node(number).fixture.store;
    const Place place = cluster.place(key);
    store.stage(place, store.encoded(place, key, record), {});
  };
  const Version kept = sample::value({old, 2}, "kept");
  const Version gone = sample::value({old, 1}, "gone");
  stage(1, {sample::context({}), {kept}});
  stage(2, {sample::context({}), {gone, kept}});
  cluster.node(1).fixture.store->raise_floor(cluster.place(key).partition, sample::context({{old, 2}}), {});
  cluster.run();
  cluster.see_unreachable({3});
  for (const uint64_t at : {1, 2}) {
    const uint64_t request = cluster.ask(at, ClientScan{.values = true});
    cluster.run();
    ASSERT_EQ(cluster.code(request), StatusCode::kOk);
    const auto& entries = std::get<ScanPage>(cluster.answer(request)->body).entries;
    ASSERT_EQ(entries.size(), 1U);
    EXPECT_EQ(entries[0].values, Values{"kept"}) << "asked at " << at;
  }
}

TEST(GetsDeleted, ScansShowWhatWasWrittenWhereSomethingElseWasErased) {
  ClusterFixture cluster(3, 3, 0);
  Deleted deleted(cluster, {});
  deleted.purge({1, 2, 3});
  std::string neighbour;
  for (int i = 0; neighbour.empty(); ++i) {
    const std::string key = "n" + std::to_string(i);
    if (cluster.place(key).partition == cluster.place(deleted.key).partition) neighbour = key;
  }
  cluster.hold = [](const auto& letter) {
    return std::holds_alternative<ReplicaPut>(letter.message) && letter.to == NodeId{1};
  };
  EXPECT_TRUE(cluster.put(2, {.key = neighbour, .value = "v", .w = 2}).status.ok());
  EXPECT_EQ(scanned(cluster, 1), Values{neighbour}) << "n1 has missed it";
}

// The key goes after the owner has noted what was erased, and before it reads.
TEST(GetsDeleted, AScanDoesNotShowWhatIsErasedWhileItReads) {
  ClusterFixture cluster(3, 3, 0);
  Deleted deleted(cluster, {3});
  cluster.see_unreachable({2});
  const uint64_t request = cluster.ask(1, ClientScan{});
  ASSERT_EQ(cluster.node(1).slices.size(), 1U);
  const std::vector<ReadSlice> slices = std::exchange(cluster.node(1).slices, {});
  deleted.purge({1});
  cluster.node(1).slices = slices;
  cluster.run();
  ASSERT_EQ(cluster.code(request), StatusCode::kOk);
  EXPECT_TRUE(std::get<ScanPage>(cluster.answer(request)->body).entries.empty());
}

// ---- Explain

Explanation explained(ClusterFixture& cluster, uint64_t at, const std::string& key) {
  const uint64_t request = cluster.ask(at, ClientExplain{.key = key});
  cluster.run();
  EXPECT_EQ(cluster.code(request), StatusCode::kOk);
  return std::get<Explanation>(cluster.answer(request)->body);
}

TEST(GetsDeleted, ExplainTakesFloorsIntoAccount) {
  ClusterFixture cluster(3, 3, 0);
  Deleted deleted(cluster, {3});
  deleted.purge({1});
  const Explanation explanation = explained(cluster, 2, deleted.key);
  ASSERT_EQ(explanation.replicas.size(), 3U);
  EXPECT_TRUE(explanation.replicas[0].versions.empty());
  EXPECT_TRUE(explanation.replicas[1].versions.at(0).tombstone);
  EXPECT_EQ(explanation.replicas[2].versions.at(0).value, "v");
  EXPECT_EQ(explanation.would_answer, (Values{"not found", "not found", "not found"}));
  EXPECT_FALSE(cluster.values(3, deleted.key).empty()) << "it repairs nothing";
}

TEST(GetsDeleted, ExplainNamesTheLivesThatATombstoneWaitsFor) {
  ClusterFixture cluster(3, 3, 0);
  const std::string key = cluster.key_of(1);
  EXPECT_TRUE(cluster.put(3, {.key = key, .value = "v", .w = 3}).status.ok());
  EXPECT_TRUE(cluster.put(1, {.key = key, .tombstone = true, .w = 3}).status.ok());
  const Explanation explanation = explained(cluster, 1, key);
  ASSERT_EQ(explanation.replicas[0].blocked_by.size(), 1U);
  EXPECT_EQ(explanation.replicas[0].blocked_by[0].substr(0, 9), "n3's life");
  EXPECT_EQ(explanation.replicas[2].blocked_by.at(0).substr(0, 9), "n1's life");
}

TEST(GetsDeleted, ExplainShowsHintsBehindTheOwnersAndWhoIsNotWhole) {
  ClusterFixture cluster(5);
  const std::string key = cluster.key_of(1);
  cluster.kill(3);
  cluster.see_unreachable({3});
  EXPECT_TRUE(cluster.put(1, {.key = key, .value = "v", .w = 3}).status.ok());
  cluster.node(2).wholeness.lose_all();
  const Explanation explanation = explained(cluster, 2, key);
  ASSERT_EQ(explanation.replicas.size(), 4U);
  EXPECT_TRUE(explanation.replicas[0].whole);
  EXPECT_FALSE(explanation.replicas[1].whole);
  EXPECT_FALSE(explanation.replicas[2].alive);
  EXPECT_EQ(explanation.replicas[3].node, "n4");
  EXPECT_EQ(explanation.replicas[3].hint_for, "n3");
  EXPECT_EQ(explanation.replicas[3].versions.at(0).value, "v");
  EXPECT_EQ(explanation.would_answer, (Values{"found", "unavailable", "unavailable"}));
}

}  // namespace
}  // namespace ringkv
