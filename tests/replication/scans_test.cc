// Scans through the coordinators of several nodes.
#include "replication/scans.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "base/text.h"
#include "tests/replication/cluster_fixture.h"

namespace ringkv {
namespace {

struct Scanned {
  std::vector<std::string> keys;
  std::vector<std::string> values;
  size_t pages = 0;
  Status status;
};

Scanned scan_all(ClusterFixture& cluster, uint64_t at, ClientScan scan) {
  Scanned scanned;
  do {
    const uint64_t request = cluster.ask(at, scan);
    cluster.run();
    const ClientReply* reply = cluster.answer(request);
    EXPECT_NE(reply, nullptr);
    if (reply == nullptr) return scanned;
    scanned.status = reply->status;
    if (!reply->status.ok()) return scanned;
    const auto& page = std::get<ScanPage>(reply->body);
    ++scanned.pages;
    for (const ScanEntry& entry : page.entries) {
      scanned.keys.push_back(entry.key);
      for (const std::string& value : entry.values) scanned.values.push_back(value);
    }
    scan.after = page.after;
  } while (!scan.after.empty());
  return scanned;
}

std::vector<std::string> in_token_order(std::vector<std::string> keys) {
  std::sort(keys.begin(), keys.end(), [](const std::string& a, const std::string& b) {
    return StoreFixture::place(a).storage_key < StoreFixture::place(b).storage_key;
  });
  return keys;
}

std::vector<std::string> fill(ClusterFixture& cluster, int keys) {
  std::vector<std::string> all;
  for (int i = 0; i < keys; ++i) {
    all.push_back("k" + std::to_string(i));
    EXPECT_TRUE(cluster.put(1 + i % cluster.nodes.size(), {.key = all.back(), .value = "v"}).status.ok());
  }
  return in_token_order(all);
}

TEST(Scans, ShowEveryKeyOnceInTokenOrderFromAnyNode) {
  ClusterFixture cluster(5);
  const std::vector<std::string> keys = fill(cluster, 200);
  for (uint64_t at = 1; at <= 5; ++at) {
    for (const uint32_t limit : {0, 1, 7, 1000}) {
      const Scanned scanned = scan_all(cluster, at, {.limit = limit});
      EXPECT_TRUE(scanned.status.ok());
      EXPECT_EQ(scanned.keys, keys) << at << ", limit " << limit;
    }
  }
}

TEST(Scans, ShowLiveKeysOfTheirPrefixWithTheirValues) {
  ClusterFixture cluster(3);
  cluster.put(1, {.key = "a1", .value = "1"});
  cluster.put(1, {.key = "a2", .value = "2"});
  cluster.put(1, {.key = "a2", .value = "2b", .context = ""});
  cluster.put(1, {.key = "a3", .value = "3"});
  cluster.put(1, {.key = "a3", .tombstone = true});
  cluster.put(1, {.key = "b", .value = "4"});
  cluster.put(1, {.bucket = "lww", .key = "a4", .value = "5"});
  const Scanned scanned = scan_all(cluster, 2, {.prefix = "a", .values = true});
  EXPECT_EQ(scanned.keys, in_token_order({"a1", "a2"}));
  EXPECT_EQ(scanned.values.size(), 3U);
  EXPECT_EQ(scan_all(cluster, 2, {.bucket = "lww"}).keys, std::vector<std::string>{"a4"});
}

// What one replica has missed another has.
TEST(Scans, MergeWhatReadQuorumsHold) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    SeededRandom random(seed);
    ClusterFixture cluster(5);
    cluster.hold = [&](const auto& letter) {
      return std::holds_alternative<ReplicaPut>(letter.message) && letter.to == NodeId{4};
    };
    std::set<std::string> live;
    for (int i = 0; i < 100; ++i) {
      const std::string key = "k" + std::to_string(random.below(50));
      const bool is_delete = random.below(3) == 0;
      const uint64_t at = 1 + random.below(5);
      cluster.put(at,
                  {.key = key, .value = is_delete ? "" : "v", .tombstone = is_delete, .read_first = true});
      is_delete ? live.erase(key) : live.insert(key).second;
    }
    cluster.in_flight.clear();
    cluster.hold = nullptr;
    for (uint64_t at = 1; at <= 5; ++at) {
      const Scanned scanned = scan_all(cluster, at, {.limit = 10});
      EXPECT_EQ(scanned.keys, in_token_order({live.begin(), live.end()})) << at;
    }
  }
}

TEST(Scans, SurviveTheLossOfOneNodeInThree) {
  ClusterFixture cluster(3);
  const std::vector<std::string> keys = fill(cluster, 50);
  cluster.kill(2);
  cluster.see_unreachable({2});
  EXPECT_EQ(scan_all(cluster, 1, {}).keys, keys);
}

// Never a short answer that looks whole.
TEST(Scans, EndWithAnErrorThatNamesThePartitionWithoutOwners) {
  ClusterFixture cluster(5);
  const std::vector<std::string> keys = fill(cluster, 200);
  cluster.kill(4);
  cluster.kill(5);
  cluster.see_unreachable({4, 5});
  // The lists of partitions 0 and 1 are n1 n2 n3 and n2 n3 n4; of partition 2: n3 n4 n5.
  const Scanned scanned = scan_all(cluster, 1, {.limit = 5});
  EXPECT_EQ(scanned.status.code(), StatusCode::kUnavailable);
  EXPECT_NE(scanned.status.message().find("partition 2: 1 of the 2 owners"), std::string::npos)
      << scanned.status.message();
  EXPECT_NE(scanned.status.message().find("n4: can't be reached; n5: can't be reached"), std::string::npos);
  std::vector<std::string> before;
  for (const std::string& key : keys) {
    if (StoreFixture::place(key).partition < 2) before.push_back(key);
  }
  EXPECT_EQ(scanned.keys, before) << "what comes before it was answered";
}

TEST(Scans, AnotherOwnerIsAskedWhereOneFailsOrIsSilent) {
  ClusterFixture cluster(3);
  const std::vector<std::string> keys = fill(cluster, 50);
  cluster.node(2).fixture.disk.fail(DiskCall::kGet, 1, DiskError::kInputOutput);
  EXPECT_EQ(scan_all(cluster, 1, {}).keys, keys);

  cluster.hold = [](const auto& letter) {
    return letter.to == NodeId{2} && std::holds_alternative<ReplicaScan>(letter.message);
  };
  const uint64_t silent = cluster.ask(1, ClientScan{});
  cluster.run();
  EXPECT_EQ(cluster.answer(silent), nullptr);
  cluster.pass(std::chrono::milliseconds(500));
  cluster.run();
  ASSERT_NE(cluster.answer(silent), nullptr);
  EXPECT_EQ(std::get<ScanPage>(cluster.answer(silent)->body).entries.size(), keys.size());

  const uint64_t lost = cluster.ask(1, ClientScan{});
  cluster.run();
  cluster.see_unreachable(1, {2});
  cluster.run();
  EXPECT_NE(cluster.answer(lost), nullptr);
}

TEST(Scans, AReplicaThatIsNotWholeDoesNotCount) {
  ClusterFixture cluster(3);
  fill(cluster, 5);
  cluster.node(2).wholeness.lose_all();
  EXPECT_TRUE(scan_all(cluster, 1, {}).status.ok());
  cluster.node(3).wholeness.lose_all();
  EXPECT_EQ(scan_all(cluster, 1, {}).status.code(), StatusCode::kUnavailable);
}

TEST(Scans, GoOnByANewRing) {
  ClusterFixture cluster(3);
  const std::vector<std::string> keys = fill(cluster, 50);
  const uint64_t request = cluster.ask(1, ClientScan{});
  const Ring& next = cluster.next_ring([](RingDescription&) {});
  for (const uint64_t node : {1, 2, 3}) cluster.adopt(node, next);
  cluster.run();
  ASSERT_NE(cluster.answer(request), nullptr);
  EXPECT_EQ(std::get<ScanPage>(cluster.answer(request)->body).entries.size(), keys.size());
  EXPECT_EQ(cluster.answered_twice, 0U);
}

// The quorum is one of the list that is asked.
TEST(Scans, AskTheNextOwnersOnceTheRingIsSwitched) {
  ClusterFixture cluster(2, 2);
  const std::vector<std::string> keys = fill(cluster, 50);
  const Ring& next = cluster.next_ring([](RingDescription& ring) {
    ring.change = {.members = ring.members, .owners = ring.owners, .replicas = 1, .switched = true};
  });
  for (const uint64_t node : {1, 2}) cluster.adopt(node, next);
  const Scanned scanned = scan_all(cluster, 1, {});
  EXPECT_TRUE(scanned.status.ok()) << scanned.status.message();
  EXPECT_EQ(scanned.keys, keys);
}

TEST(Scans, AtTheDeadlineAnswerWithWhatTheyHaveOrSayThatTheyHaveNothing) {
  ClusterFixture cluster(3);
  fill(cluster, 10);
  cluster.hold = [](const auto& letter) { return std::holds_alternative<ReplicaScan>(letter.message); };
  const uint64_t request = cluster.ask(1, ClientScan{});
  cluster.run();
  cluster.pass(std::chrono::seconds(5));
  EXPECT_EQ(cluster.code(request), StatusCode::kUnavailable);
  EXPECT_EQ(cluster.node(1).coordinator->under_way(), 0U);
}

TEST(Scans, LargeValuesMakeManyPagesAndNoneIsMuchLargerThanOneMebibyte) {
  ClusterFixture cluster(3);
  std::vector<std::string> keys;
  for (int i = 0; i < 20; ++i) {
    keys.push_back("k" + std::to_string(i));
    cluster.put(1, {.key = keys.back(), .value = std::string(300'000, 'v')});
  }
  const Scanned scanned = scan_all(cluster, 1, {.values = true});
  EXPECT_EQ(scanned.keys, in_token_order(keys));
  EXPECT_GE(scanned.pages, 5U);
  const Scanned keys_only = scan_all(cluster, 1, {});
  EXPECT_EQ(keys_only.pages, 1U);
}

TEST(Scans, WhatALostConnectionTookWithItIsAskedAgain) {
  ClusterFixture cluster(3);
  fill(cluster, 10);
  const uint64_t request = cluster.ask(1, ClientScan{});
  cluster.in_flight.clear();
  cluster.restore_link(1, 2);
  cluster.restore_link(1, 3);
  cluster.run();
  EXPECT_NE(cluster.answer(request), nullptr);
}

}  // namespace
}  // namespace ringkv
