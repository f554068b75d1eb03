// Gets through the coordinators of several nodes: quorums, repairs, confirmation, hedges.
#include "replication/gets.h"

#include <gtest/gtest.h>

#include "tests/replication/cluster_fixture.h"

namespace ringkv {
namespace {

using Values = std::vector<std::string>;

template <class Body>
bool is_to(const ClusterFixture::Letter& letter, uint64_t node) {
  return letter.to == NodeId{node} && std::holds_alternative<Body>(letter.message);
}

// A key whose list is n1, n2, n3 and that n1 and n2 hold, or only one of them.
struct Written {
  explicit Written(ClusterFixture& cluster, std::set<uint64_t> missing_at, const std::string& value = "v")
      : key(cluster.key_of(1)) {
    cluster.hold = [missing_at](const auto& letter) {
      return std::holds_alternative<ReplicaPut>(letter.message) && missing_at.contains(letter.to.value);
    };
    cluster.ask(1, ClientPut{.key = key, .value = value, .w = 1});
    cluster.run();
    cluster.in_flight.clear();
    cluster.hold = nullptr;
  }
  std::string key;
};

TEST(Gets, AskOneOwnerForTheRecordAndTheOthersForADigest) {
  ClusterFixture cluster(4);
  const Written written(cluster, {});
  cluster.ask(4, ClientGet{.key = written.key});
  ASSERT_EQ(cluster.in_flight.size(), 2U);
  EXPECT_FALSE(std::get<ReplicaGet>(cluster.in_flight[0].message).digest);
  EXPECT_TRUE(std::get<ReplicaGet>(cluster.in_flight[1].message).digest);
  EXPECT_EQ(cluster.in_flight[0].to, NodeId{1});
  EXPECT_EQ(cluster.in_flight[1].to, NodeId{2});
}

TEST(Gets, AnyNodeAnswersWithWhatIsThere) {
  ClusterFixture cluster(5);
  const Written written(cluster, {});
  for (uint64_t at = 1; at <= 5; ++at) {
    const GetResult result = cluster.get(at, written.key);
    EXPECT_EQ(result.values, Values{"v"}) << at;
    EXPECT_FALSE(result.unconfirmed) << at;
  }
  EXPECT_TRUE(cluster.get(4, "absent").values.empty());
}

TEST(Gets, OfAgreeingReplicasWriteNothing) {
  ClusterFixture cluster(3);
  const Written written(cluster, {});
  const size_t commits = cluster.commits;
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(cluster.get(1 + i % 3, written.key, i % 4).values, Values{"v"});
  }
  EXPECT_EQ(cluster.commits, commits);
}

// --- Differences

TEST(Gets, BringOwnersThatDifferUpToDateBeforeTheyAnswer) {
  ClusterFixture cluster(3);
  const Written written(cluster, {2, 3});
  cluster.hold = [](const auto& letter) { return is_to<ReplicaPut>(letter, 2); };
  const uint64_t request = cluster.ask(1, ClientGet{.key = written.key});
  cluster.run();
  EXPECT_EQ(cluster.answer(request), nullptr) << "one owner isn't enough to be found by every later quorum";
  cluster.hold = nullptr;
  cluster.run();
  ASSERT_NE(cluster.answer(request), nullptr);
  EXPECT_FALSE(std::get<GetResult>(cluster.answer(request)->body).unconfirmed);
  EXPECT_EQ(cluster.values(2, written.key), Values{"v"});
  EXPECT_EQ(cluster.stored(2, written.key).versions.at(0).source, Source::kReadRepair);
}

TEST(Gets, MergeSiblingsThatNoReplicaHoldsTogether) {
  ClusterFixture cluster(3);
  const std::string key = cluster.key_of(1);
  cluster.hold = [](const auto& letter) { return std::holds_alternative<ReplicaPut>(letter.message); };
  cluster.ask(1, ClientPut{.key = key, .value = "a"});
  cluster.ask(2, ClientPut{.key = key, .value = "b"});
  cluster.run();
  cluster.in_flight.clear();
  cluster.hold = nullptr;
  EXPECT_EQ(cluster.get(1, key).values, (Values{"a", "b"}));
  for (const uint64_t owner : {1, 2}) EXPECT_EQ(cluster.values(owner, key), (Values{"a", "b"})) << owner;
}

TEST(Gets, InALwwBucketTheLatestWinsOnAllReplicas) {
  ClusterFixture cluster(3);
  cluster.hold = [](const auto& letter) { return std::holds_alternative<ReplicaPut>(letter.message); };
  cluster.ask(2, ClientPut{.bucket = "lww", .key = "k", .value = "later"});
  cluster.wall_now -= 1'000'000;
  cluster.ask(1, ClientPut{.bucket = "lww", .key = "k", .value = "earlier"});
  cluster.run();
  cluster.in_flight.clear();
  cluster.hold = nullptr;
  cluster.see_unreachable({3});
  EXPECT_EQ(cluster.get(1, "k", 0, "lww").values, Values{"later"});
  for (const uint64_t owner : {1, 2}) EXPECT_EQ(cluster.values(owner, "k", "lww"), Values{"later"}) << owner;
}

TEST(Gets, ARepairThatFailsGoesOnToTheNextOwner) {
  ClusterFixture cluster(3);
  const Written written(cluster, {2, 3});
  cluster.node(2).replica->refuse_puts("the disk is nearly full");
  EXPECT_FALSE(cluster.get(1, written.key).unconfirmed);
  EXPECT_TRUE(cluster.values(2, written.key).empty());
  EXPECT_EQ(cluster.values(3, written.key), Values{"v"});
}

TEST(Gets, AreUnconfirmedWhereNoRepairSucceedsInTime) {
  ClusterFixture cluster(3);
  const Written written(cluster, {2, 3});
  cluster.hold = [](const auto& letter) { return std::holds_alternative<ReplicaPut>(letter.message); };
  const uint64_t request = cluster.ask(1, ClientGet{.key = written.key});
  cluster.run();
  cluster.pass(std::chrono::milliseconds(190));
  EXPECT_EQ(cluster.answer(request), nullptr);
  cluster.pass(std::chrono::milliseconds(20));
  ASSERT_NE(cluster.answer(request), nullptr);
  EXPECT_TRUE(std::get<GetResult>(cluster.answer(request)->body).unconfirmed);
  EXPECT_EQ(std::get<GetResult>(cluster.answer(request)->body).values, Values{"v"});
}

TEST(Gets, WithOneAnswerAreUnconfirmedAtOnceWhereNobodyElseCanBeReached) {
  ClusterFixture cluster(3);
  const Written written(cluster, {});
  cluster.see_unreachable({2, 3});
  EXPECT_TRUE(cluster.get(1, written.key, 1).unconfirmed);
  cluster.see_unreachable({3});
  EXPECT_FALSE(cluster.get(1, written.key, 1).unconfirmed);
}

// N - r + 1 counts the smallest default r of any bucket: its readers must not miss what was answered either.
TEST(Gets, AskAllWhereABucketReadsFromOne) {
  ClusterFixture cluster(3);
  const Ring& next = cluster.next_ring([](RingDescription& ring) { ring.buckets[1].read_quorum = 1; });
  for (const uint64_t node : {1, 2, 3}) cluster.adopt(node, next);
  const Written written(cluster, {3});
  EXPECT_FALSE(cluster.get(1, written.key).unconfirmed);
  EXPECT_EQ(cluster.values(3, written.key), Values{"v"});
}

TEST(Gets, AStragglerThatDiffersIsRepairedAfterTheAnswer) {
  ClusterFixture cluster(3);
  const Written written(cluster, {2});
  cluster.hold = [](const auto& letter) { return is_to<ReplicaGet>(letter, 2); };
  const uint64_t request = cluster.ask(1, ClientGet{.key = written.key});
  cluster.run();
  cluster.pass(std::chrono::milliseconds(60));  // n3 is asked instead
  cluster.run();
  EXPECT_NE(cluster.answer(request), nullptr);
  EXPECT_TRUE(cluster.values(2, written.key).empty());
  cluster.hold = nullptr;
  cluster.run();
  EXPECT_EQ(cluster.values(2, written.key), Values{"v"});
  EXPECT_EQ(cluster.answered_twice, 0U);
}

TEST(Gets, RepairsKeepTheContextSoThatNothingComesBack) {
  ClusterFixture cluster(3);
  const Written written(cluster, {});
  cluster.hold = [](const auto& letter) { return is_to<ReplicaPut>(letter, 3); };
  cluster.put(1, {.key = written.key, .value = "new"});
  cluster.put(1, {.key = written.key, .tombstone = true});
  ASSERT_EQ(cluster.in_flight.size(), 2U);
  cluster.in_flight.pop_back();  // of the delete
  EXPECT_TRUE(cluster.get(3, written.key).values.empty());
  cluster.hold = nullptr;
  cluster.run();
  EXPECT_TRUE(cluster.values(3, written.key).empty()) << "the late put must not bring its value back";
}

// --- Owners that are slow, silent or broken

// Row B50: the other replica freezes just after its digest reply.
TEST(Gets, AReplicaThatFreezesAfterItsDigestIsReplacedByAnother) {
  ClusterFixture cluster(3);
  const Written written(cluster, {2});
  cluster.hold = [](const auto& letter) {
    return is_to<ReplicaGet>(letter, 2) && !std::get<ReplicaGet>(letter.message).digest;
  };
  const uint64_t request = cluster.ask(1, ClientGet{.key = written.key});
  cluster.run();
  EXPECT_EQ(cluster.answer(request), nullptr);
  cluster.pass(std::chrono::milliseconds(60));
  cluster.run();
  ASSERT_NE(cluster.answer(request), nullptr);
  EXPECT_EQ(std::get<GetResult>(cluster.answer(request)->body).values, Values{"v"});
}

TEST(Gets, AtTheDeadlineTheErrorCountsReplicasTruly) {
  ClusterFixture cluster(3);
  const Written written(cluster, {2});
  cluster.see_unreachable({3});
  cluster.hold = [](const auto& letter) {
    return is_to<ReplicaGet>(letter, 2) && !std::get<ReplicaGet>(letter.message).digest;
  };
  const uint64_t request = cluster.ask(1, ClientGet{.key = written.key});
  cluster.run();
  cluster.pass(std::chrono::seconds(5));
  EXPECT_EQ(cluster.code(request), StatusCode::kUnavailable);
  EXPECT_NE(cluster.message(request).find("1 of 2 answers"), std::string::npos) << cluster.message(request);
  EXPECT_NE(cluster.message(request).find("n2: has answered with a digest"), std::string::npos);
  EXPECT_NE(cluster.message(request).find("n3: can't be reached"), std::string::npos);
}

TEST(Gets, WithTooFewOwnersAreUnavailableAtOnceAndNameThem) {
  ClusterFixture cluster(5);
  const std::string key = cluster.key_of(1);
  cluster.see_unreachable({2, 3});
  for (const uint64_t at : {1, 5}) {
    const uint64_t request = cluster.ask(at, ClientGet{.key = key});
    EXPECT_EQ(cluster.code(request), StatusCode::kUnavailable) << at;
    EXPECT_NE(cluster.message(request).find("0 of 2 answers"), std::string::npos) << cluster.message(request);
    EXPECT_NE(cluster.message(request).find("n2: can't be reached; n3: can't be reached"), std::string::npos);
  }
}

TEST(Gets, AskAnotherWhereAnOwnerIsLostUnderWay) {
  ClusterFixture cluster(3);
  const Written written(cluster, {});
  cluster.hold = [](const auto& letter) { return is_to<ReplicaGet>(letter, 2); };
  const uint64_t request = cluster.ask(1, ClientGet{.key = written.key});
  cluster.run();
  cluster.see_unreachable(1, {2});
  cluster.run();
  ASSERT_NE(cluster.answer(request), nullptr);
  EXPECT_EQ(std::get<GetResult>(cluster.answer(request)->body).values, Values{"v"});
}

TEST(Gets, AnErrorOfOneReplicaIsMadeUpForByAnother) {
  ClusterFixture cluster(3);
  const Written written(cluster, {});
  cluster.node(1).fixture.disk.fail(DiskCall::kGet, 1, DiskError::kInputOutput);
  EXPECT_EQ(cluster.get(1, written.key).values, Values{"v"});
}

TEST(Gets, AnOwnerThatIsSlowerThanItUsesToBeIsJoinedByAnother) {
  ClusterFixture cluster(3);
  const Written written(cluster, {});
  for (int i = 0; i < 100; ++i) {
    const uint64_t request = cluster.ask(1, ClientGet{.key = written.key});
    cluster.now += std::chrono::milliseconds(4);
    cluster.run();
    ASSERT_NE(cluster.answer(request), nullptr);
  }
  cluster.hold = [](const auto& letter) { return is_to<ReplicaGet>(letter, 2); };
  const uint64_t request = cluster.ask(1, ClientGet{.key = written.key});
  cluster.run();
  cluster.pass(std::chrono::milliseconds(3));
  EXPECT_EQ(cluster.count_in_flight<ReplicaGet>(), 1U);
  cluster.pass(std::chrono::milliseconds(2));
  EXPECT_EQ(cluster.count_in_flight<ReplicaGet>(), 2U);
  cluster.run();
  EXPECT_NE(cluster.answer(request), nullptr);
}

TEST(Gets, WhatALostConnectionTookWithItIsAskedAgain) {
  ClusterFixture cluster(3);
  const Written written(cluster, {});
  cluster.see_unreachable({3});
  const uint64_t request = cluster.ask(1, ClientGet{.key = written.key});
  cluster.in_flight.clear();
  cluster.run();
  EXPECT_EQ(cluster.answer(request), nullptr);
  cluster.restore_link(1, 2);
  cluster.run();
  EXPECT_NE(cluster.answer(request), nullptr);
}

TEST(Gets, BeginAnewByANewRing) {
  ClusterFixture cluster(4);
  const std::string key = cluster.key_of(1);
  cluster.put(1, {.key = key, .value = "v"});
  cluster.hold = [](const auto& letter) { return std::holds_alternative<ReplicaGetReply>(letter.message); };
  const uint64_t request = cluster.ask(4, ClientGet{.key = key});
  cluster.run();
  const Ring& next = cluster.next_ring([](RingDescription& ring) {
    for (uint16_t& owner : ring.owners) owner = owner == 2 ? 3 : owner;
  });
  for (const uint64_t node : {1, 2, 3, 4}) cluster.adopt(node, next);
  cluster.hold = nullptr;
  cluster.run();
  ASSERT_NE(cluster.answer(request), nullptr);
  EXPECT_EQ(std::get<GetResult>(cluster.answer(request)->body).values, Values{"v"});
  EXPECT_EQ(cluster.answered_twice, 0U);
}

// The newer ring is on its way to the coordinator; until then the owner has neither answered nor failed.
TEST(Gets, AStaleEpochIsNoFailure) {
  ClusterFixture cluster(3);
  const Written written(cluster, {});
  cluster.see_unreachable({3});
  const Ring& next = cluster.next_ring([](RingDescription&) {});
  cluster.adopt(2, next);
  const uint64_t request = cluster.ask(1, ClientGet{.key = written.key});
  cluster.run();
  EXPECT_EQ(cluster.answer(request), nullptr);
  cluster.adopt(1, next);
  cluster.run();
  EXPECT_NE(cluster.answer(request), nullptr);
}

// --- Whole, or for people

TEST(Gets, AReplicaThatIsNotWholeDoesNotCountForReads) {
  ClusterFixture cluster(3);
  const Written written(cluster, {2, 3});
  cluster.node(2).wholeness.lose_all();
  EXPECT_EQ(cluster.get(1, written.key, 2).values, Values{"v"});
  cluster.node(3).wholeness.lose_all();
  const uint64_t request = cluster.ask(1, ClientGet{.key = written.key});
  cluster.run();
  EXPECT_EQ(cluster.code(request), StatusCode::kUnavailable);
  EXPECT_NE(cluster.message(request).find("n2: isn't whole yet"), std::string::npos);
}

TEST(Gets, ALocalGetShowsOneReplicaAloneWholeOrNot) {
  ClusterFixture cluster(3);
  const Written written(cluster, {3});
  cluster.node(2).wholeness.lose_all();
  for (const auto& [node, found] : {std::pair{"n1", true}, std::pair{"n2", true}, std::pair{"n3", false}}) {
    const uint64_t request = cluster.ask(3, ClientLocalGet{.node = node, .key = written.key});
    cluster.run();
    ASSERT_NE(cluster.answer(request), nullptr);
    EXPECT_EQ(std::get<LocalRecord>(cluster.answer(request)->body).found, found) << node;
  }
  EXPECT_TRUE(cluster.values(3, written.key).empty()) << "it repairs nothing";
}

TEST(Gets, ALocalGetOfANodeThatCanNotBeReachedIsUnavailableAtOnce) {
  ClusterFixture cluster(3);
  cluster.see_unreachable({2});
  const uint64_t request = cluster.ask(1, ClientLocalGet{.node = "n2", .key = "k"});
  EXPECT_EQ(cluster.code(request), StatusCode::kUnavailable);
  EXPECT_NE(cluster.message(request).find("n2"), std::string::npos);
}

TEST(Gets, ExplainShowsEveryOwnerAndDeadOnesAtOnce) {
  ClusterFixture cluster(3);
  const Written written(cluster, {2});
  cluster.see_unreachable({3});
  const uint64_t request = cluster.ask(2, ClientExplain{.key = written.key});
  cluster.run();
  ASSERT_NE(cluster.answer(request), nullptr);
  const auto& explanation = std::get<Explanation>(cluster.answer(request)->body);
  ASSERT_EQ(explanation.replicas.size(), 3U);
  EXPECT_TRUE(explanation.replicas[0].alive);
  EXPECT_EQ(explanation.replicas[0].versions.size(), 1U);
  EXPECT_TRUE(explanation.replicas[1].alive);
  EXPECT_TRUE(explanation.replicas[1].versions.empty());
  EXPECT_FALSE(explanation.replicas[2].alive);
  EXPECT_EQ(explanation.would_answer, (Values{"found", "found", "unavailable"}));
}

TEST(Gets, ExplainAnswersWithinASecondWhateverIsSilent) {
  ClusterFixture cluster(3);
  const Written written(cluster, {});
  cluster.hold = [](const auto& letter) { return is_to<ReplicaGet>(letter, 2); };
  const uint64_t request = cluster.ask(1, ClientExplain{.key = written.key});
  cluster.run();
  cluster.pass(std::chrono::milliseconds(800));
  ASSERT_NE(cluster.answer(request), nullptr);
  EXPECT_FALSE(std::get<Explanation>(cluster.answer(request)->body).replicas[1].alive);
}

TEST(Gets, ExistsAsksAQuorum) {
  ClusterFixture cluster(3);
  const Written written(cluster, {2, 3});
  const uint64_t request = cluster.ask(2, ClientGet{.key = written.key, .values = false});
  cluster.run();
  EXPECT_TRUE(std::get<ExistsAnswer>(cluster.answer(request)->body).found);
}

}  // namespace
}  // namespace ringkv
