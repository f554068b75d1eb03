// Stamped puts on their way to owners and to those that keep hints for them, on several nodes.
#include <gtest/gtest.h>

#include "tests/replication/cluster_fixture.h"

namespace ringkv {
namespace {

using Values = std::vector<std::string>;
using Letter = ClusterFixture::Letter;

constexpr Duration kHintDelay = std::chrono::milliseconds(200);

// "n1 n2 n4>n3": n4 keeps a hint for n3.
std::string acks_of(const ClientReply& reply) {
  if (!reply.status.ok()) return reply.status.to_string();
  std::set<std::string> acks;
  for (const Acknowledgement& ack : std::get<PutReceipt>(reply.body).acks) {
    EXPECT_EQ(ack.kind == Acknowledgement::Kind::kHint, !ack.hint_for.empty());
    acks.insert(ack.hint_for.empty() ? ack.node : ack.node + ">" + ack.hint_for);
  }
  std::string text;
  for (const std::string& ack : acks) text += (text.empty() ? "" : " ") + ack;
  return text;
}

bool is_put_to(const Letter& letter, uint64_t node) {
  return letter.to == NodeId{node} && std::holds_alternative<ReplicaPut>(letter.message);
}

ConvergenceStatistics& statistics(ClusterFixture& cluster, uint64_t node) {
  return cluster.node(node).environment->statistics;
}

Statistics request_statistics(ClusterFixture& cluster, uint64_t node) {
  Statistics figures;
  cluster.node(node).coordinator->statistics().add_to(figures);
  return figures;
}

TEST(SloppyQuorum, AStandInAcknowledgesForAnOwnerThatIsDown) {
  ClusterFixture cluster(5);
  const std::string key = cluster.key_of(1);  // n1, n2, n3
  cluster.kill(2);
  cluster.kill(3);
  cluster.see_unreachable({2, 3});
  const ClientReply reply = cluster.put(1, {.key = key, .value = "v", .w = 3});
  EXPECT_EQ(acks_of(reply), "n1 n4>n2 n5>n3");
  EXPECT_EQ(cluster.hints_at(4, 2), 1U);
  EXPECT_EQ(cluster.hints_at(5, 3), 1U);
  EXPECT_TRUE(cluster.stored(4, key).versions.empty()) << "a stand-in isn't asked by reads";
  EXPECT_EQ(request_statistics(cluster, 1)["put.hinted"], 2);

  for (const uint64_t node : {2, 3}) cluster.start(node);
  cluster.see_unreachable({});
  cluster.run();
  for (const uint64_t owner : {2, 3}) EXPECT_EQ(cluster.values(owner, key), Values{"v"}) << owner;
  EXPECT_EQ(cluster.stored(2, key).versions.at(0).source, Source::kHint);
  EXPECT_EQ(cluster.hints_everywhere(), 0U);
  EXPECT_EQ(statistics(cluster, 4).hints_delivered, 1U);
}

TEST(SloppyQuorum, AStandInAcknowledgesForAnOwnerThatIsSilent) {
  ClusterFixture cluster(5);
  const std::string key = cluster.key_of(1);
  cluster.hold = [](const Letter& letter) { return is_put_to(letter, 2) || is_put_to(letter, 3); };
  const uint64_t request = cluster.ask(1, ClientPut{.key = key, .value = "v"});
  cluster.run();
  cluster.pass(kHintDelay - Duration(1));
  cluster.run();
  EXPECT_EQ(cluster.answer(request), nullptr);
  EXPECT_EQ(cluster.hints_everywhere(), 0U);
  cluster.pass(Duration(1));
  cluster.run();
  ASSERT_NE(cluster.answer(request), nullptr);
  EXPECT_EQ(acks_of(*cluster.answer(request)), "n1 n4>n2");
}

TEST(SloppyQuorum, ADeleteIsKeptLikeAnyOtherWrite) {
  ClusterFixture cluster(4);
  const std::string key = cluster.key_of(1);
  cluster.put(1, {.key = key, .value = "v"});
  cluster.kill(3);
  cluster.see_unreachable({3});
  EXPECT_EQ(acks_of(cluster.put(1, {.key = key, .tombstone = true, .w = 3})), "n1 n2 n4>n3");
  cluster.start(3);
  ASSERT_EQ(cluster.values(3, key), Values{"v"});
  cluster.see_unreachable({});
  cluster.run();
  EXPECT_TRUE(cluster.values(3, key).empty());
  EXPECT_EQ(cluster.hints_everywhere(), 0U);
}

// In a cluster of N nodes nobody else can keep a hint, and two copies on one node are one.
TEST(SloppyQuorum, ACoordinatorKeepsHintsItselfWhereNobodyElseCanAndDoesNotCountTwice) {
  ClusterFixture cluster(3);
  cluster.kill(3);
  cluster.see_unreachable({3});
  const ClientReply reply = cluster.put(1, {.key = "k", .value = "v"});
  EXPECT_TRUE(reply.status.ok());
  EXPECT_EQ(cluster.hints_at(1, 3), 1U);
  EXPECT_EQ(cluster.put(1, {.key = "k", .value = "w", .w = 3}).status.code(), StatusCode::kUnavailable);
  cluster.start(3);
  cluster.see_unreachable({});
  cluster.run();
  EXPECT_EQ(cluster.values(3, "k"), Values{"v"});
  EXPECT_EQ(cluster.hints_everywhere(), 0U);
}

TEST(SloppyQuorum, PrimaryPutsAreRefusedWithoutEnoughOwnersAndHintsDoNotCount) {
  ClusterFixture cluster(5);
  const std::string key = cluster.key_of(1);
  cluster.see_unreachable({2, 3});
  const ClientReply refused = cluster.put(1, {.key = key, .value = "v", .primary = true});
  EXPECT_EQ(refused.status.code(), StatusCode::kUnavailable);
  EXPECT_NE(refused.status.message().find("n2 and n3 can't be reached"), std::string::npos);
  EXPECT_EQ(cluster.hints_everywhere(), 0U);

  cluster.see_unreachable({3});
  cluster.hold = [](const Letter& letter) { return is_put_to(letter, 2) || is_put_to(letter, 3); };
  const uint64_t request = cluster.ask(1, ClientPut{.key = key, .value = "v", .primary = true});
  cluster.run();
  EXPECT_EQ(cluster.hints_at(4, 3), 1U) << "kept all the same";
  EXPECT_EQ(cluster.answer(request), nullptr);
  cluster.hold = [](const Letter& letter) { return is_put_to(letter, 3); };
  cluster.run();
  ASSERT_NE(cluster.answer(request), nullptr);
  EXPECT_EQ(acks_of(*cluster.answer(request)), "n1 n2 n4>n3");
}

TEST(SloppyQuorum, AnOwnerWithoutSpaceIsStoodInFor) {
  ClusterFixture cluster(4);
  const std::string key = cluster.key_of(1);
  cluster.node(2).replica->refuse_puts("the disk is nearly full");
  EXPECT_EQ(acks_of(cluster.put(1, {.key = key, .value = "v", .w = 3})), "n1 n3 n4>n2");
}

TEST(SloppyQuorum, AHintThatIsRefusedIsNoAcknowledgement) {
  ClusterFixture cluster(4);
  const std::string key = cluster.key_of(1);
  cluster.kill(2);
  cluster.see_unreachable({2});
  cluster.node(4).environment->puts_refused = "the disk is nearly full";
  const ClientReply reply = cluster.put(1, {.key = key, .value = "v", .w = 3});
  EXPECT_EQ(reply.status.code(), StatusCode::kUnknownOutcome);
  EXPECT_NE(reply.status.message().find("n4: keeps no hint"), std::string::npos);
  EXPECT_EQ(cluster.hints_at(1, 2), 1U) << "the coordinator keeps it";
}

TEST(SloppyQuorum, WithoutABudgetNoHintsAreKept) {
  ClusterFixture cluster(4, 3, 0);
  const std::string key = cluster.key_of(1);
  cluster.see_unreachable({2, 3});
  EXPECT_EQ(cluster.put(1, {.key = key, .value = "v"}).status.code(), StatusCode::kUnavailable);
  cluster.see_unreachable({3});
  EXPECT_EQ(acks_of(cluster.put(1, {.key = key, .value = "v"})), "n1 n2");
  EXPECT_EQ(cluster.count_in_flight<HintPut>(), 0U);
  EXPECT_EQ(cluster.node(1).coordinator->statistics().lingering(), 0U);
}

// --- After the answer

TEST(LingeringPuts, AnOwnerThatIsSilentAfterTheAnswerGetsAHint) {
  ClusterFixture cluster(4);
  const std::string key = cluster.key_of(1);
  cluster.hold = [](const Letter& letter) { return is_put_to(letter, 3); };
  EXPECT_EQ(acks_of(cluster.put(1, {.key = key, .value = "v"})), "n1 n2");
  EXPECT_EQ(cluster.node(1).coordinator->under_way(), 0U);
  cluster.pass(kHintDelay);
  cluster.run();
  EXPECT_EQ(cluster.hints_at(4, 3), 1U);
  EXPECT_EQ(cluster.answered_twice, 0U);
}

TEST(LingeringPuts, ALateAcknowledgementCancelsTheHint) {
  ClusterFixture cluster(4);
  const std::string key = cluster.key_of(1);
  cluster.hold = [](const Letter& letter) { return letter.to == NodeId{3}; };  // deliveries, too
  cluster.put(1, {.key = key, .value = "v"});
  cluster.pass(kHintDelay);
  cluster.run();
  ASSERT_EQ(cluster.hints_at(4, 3), 1U);
  cluster.hold = [](const Letter& letter) { return letter.from == NodeId{4}; };
  cluster.run();
  EXPECT_EQ(cluster.hints_at(4, 3), 0U);
  EXPECT_EQ(statistics(cluster, 4).hints_cancelled, 1U);
  EXPECT_EQ(cluster.node(1).coordinator->statistics().lingering(), 0U);
}

// A hint that holds two writes: the late acknowledgement of the first must not take the second with it.
TEST(LingeringPuts, ALateAcknowledgementTakesNoOtherWriteWithIt) {
  ClusterFixture cluster(4);
  const std::string key = cluster.key_of(1);
  cluster.hold = [](const Letter& letter) { return letter.to == NodeId{3}; };
  cluster.put(1, {.key = key, .value = "first"});
  cluster.pass(kHintDelay);
  cluster.run();
  const size_t of_first = cluster.in_flight.size();
  EXPECT_EQ(acks_of(cluster.put(1, {.key = key, .value = "second"})), "n1 n2");
  cluster.pass(kHintDelay);
  cluster.run();
  cluster.in_flight.resize(of_first);  // n3 never hears of the second
  cluster.hold = [](const Letter& letter) { return letter.from == NodeId{4}; };
  cluster.run();
  EXPECT_EQ(cluster.values(3, key), Values{"first"});
  EXPECT_EQ(cluster.hints_at(4, 3), 1U);
  cluster.hold = nullptr;
  cluster.pass(std::chrono::seconds(6));
  cluster.run();
  cluster.pass(std::chrono::seconds(1));
  cluster.run();
  EXPECT_EQ(cluster.values(3, key), Values{"second"});
  EXPECT_EQ(cluster.hints_everywhere(), 0U);
}

// Every node is alive and slow, up to 2 s: hints come about, and none stays.
TEST(LingeringPuts, SaturationAloneLeavesNoHintsBehind) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    SeededRandom random(seed);
    ClusterFixture cluster(seed % 2 == 0 ? 5 : 3);
    std::vector<Time> arrives;
    cluster.hold = [&](const Letter& letter) {
      const auto index = static_cast<size_t>(&letter - cluster.in_flight.data());
      while (arrives.size() <= index) {
        arrives.push_back(cluster.now + std::chrono::milliseconds(random.below(2000)));
      }
      if (arrives[index] > cluster.now) return true;
      arrives.erase(arrives.begin() + static_cast<ptrdiff_t>(index));
      return false;
    };
    uint64_t hints_most = 0;
    for (int step = 0; step < 200; ++step) {
      if (step < 100) {
        cluster.ask(1 + random.below(3), ClientPut{.key = cluster.key_of(1), .value = std::to_string(step)},
                    std::chrono::seconds(10));
      }
      cluster.run();
      cluster.pass(std::chrono::milliseconds(100));
      hints_most = std::max(hints_most, cluster.hints_everywhere());
    }
    EXPECT_GT(hints_most, 0U);
    EXPECT_EQ(cluster.hints_everywhere(), 0U);
    for (const auto& [request, reply] : cluster.answers) EXPECT_TRUE(reply.status.ok());
    const Record first = cluster.stored(1, cluster.key_of(1));
    for (const uint64_t owner : {2, 3}) {
      EXPECT_EQ(cluster.stored(owner, cluster.key_of(1)).versions.size(), first.versions.size());
    }
  }
}

TEST(LingeringPuts, EndWithTheirDeadline) {
  ClusterFixture cluster(4);
  cluster.hold = [](const Letter& letter) { return letter.to == NodeId{3}; };
  cluster.put(1, {.key = cluster.key_of(1), .value = "v"});
  EXPECT_EQ(cluster.node(1).coordinator->statistics().lingering(), 1U);
  cluster.pass(std::chrono::seconds(5));
  EXPECT_EQ(cluster.node(1).coordinator->statistics().lingering(), 0U);
}

TEST(LingeringPuts, PastTheirNumberHintsAreKeptAtOnce) {
  ClusterFixture cluster(4);
  const std::string key = cluster.key_of(1);
  cluster.hold = [](const Letter& letter) { return letter.to == NodeId{3}; };
  for (size_t i = 0; i < Puts::kLingeringMax; ++i) {
    cluster.put(1, {.key = key, .value = "v"});
    if (i % 1000 == 0) cluster.in_flight.clear();
  }
  ASSERT_EQ(cluster.node(1).coordinator->statistics().lingering(), Puts::kLingeringMax);
  ASSERT_EQ(cluster.hints_everywhere(), 0U);
  EXPECT_EQ(acks_of(cluster.put(1, {.key = key, .value = "last"})), "n1 n2");
  EXPECT_EQ(cluster.hints_at(4, 3), 1U);
  EXPECT_EQ(cluster.node(1).coordinator->statistics().lingering(), Puts::kLingeringMax);
  EXPECT_EQ(request_statistics(cluster, 1)["put.not_waited_for"], 1);
}

TEST(LingeringPuts, AreSentAgainWhenALinkIsRestored) {
  ClusterFixture cluster(4);
  const std::string key = cluster.key_of(1);
  cluster.hold = [](const Letter& letter) { return is_put_to(letter, 3); };
  cluster.put(1, {.key = key, .value = "v"});
  cluster.in_flight.clear();
  cluster.hold = nullptr;
  cluster.restore_link(1, 3);
  cluster.run();
  EXPECT_EQ(cluster.values(3, key), Values{"v"});
  EXPECT_EQ(cluster.node(1).coordinator->statistics().lingering(), 0U);
}

TEST(LingeringPuts, AskAgainForAHintThatALinkHasLost) {
  ClusterFixture cluster(4);
  const std::string key = cluster.key_of(1);
  cluster.hold = [](const Letter&) { return true; };
  cluster.see_unreachable({3});
  const uint64_t request = cluster.ask(1, ClientPut{.key = key, .value = "v"});
  cluster.in_flight.clear();
  cluster.hold = nullptr;
  cluster.restore_link(1, 4);
  cluster.run();
  EXPECT_EQ(cluster.hints_at(4, 3), 1U);
  EXPECT_EQ(acks_of(*cluster.answer(request)), "n1 n4>n3");
}

TEST(LingeringPuts, GoToOwnersThatANewRingHasAdded) {
  ClusterFixture cluster(4);
  const std::string key = cluster.key_of(1);  // n1, n2, n3
  cluster.hold = [](const Letter& letter) { return is_put_to(letter, 3); };
  cluster.put(1, {.key = key, .value = "v", .operation = {77, 1}});
  const Ring& next = cluster.next_ring([&](RingDescription& ring) {  // n4 instead of n3
    for (uint16_t& owner : ring.owners) owner = owner == 2 ? 3 : owner;
  });
  size_t copies = 0;
  cluster.observe = [&](const Letter& letter) {
    copies += std::holds_alternative<ReplicaPut>(letter.message) ? 1 : 0;
  };
  for (const uint64_t node : {2, 3, 4, 1}) cluster.adopt(node, next);
  cluster.run();
  EXPECT_EQ(cluster.values(4, key), Values{"v"});
  EXPECT_EQ(copies, 1U) << "who holds it isn't sent it again";
  EXPECT_EQ(cluster.node(1).coordinator->statistics().lingering(), 0U);
  // It is answered, and stays so.
  const uint64_t retry =
      cluster.ask(1, ClientPut{.key = key, .value = "v", .operation = {77, 1}, .first_tried = {}});
  ASSERT_NE(cluster.answer(retry), nullptr);
  EXPECT_TRUE(cluster.answer(retry)->status.ok());
}

}  // namespace
}  // namespace ringkv
