// Rounds as operators ask for them, and what they are told.
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
template <class Body>
std::function<bool(const RoundFixture::Letter&)> any() {
  return [](const RoundFixture::Letter& letter) { return std::holds_alternative<Body>(letter.message); };
}

TEST(Repair, IsRefusedForAPartitionOfOthersByTheirNames) {
  RoundFixture cluster(3, kNever, 2);
  const uint64_t foreign = cluster.repair(1, {.partition = 1});  // of n2 and n3
  ASSERT_TRUE(cluster.answers.contains(foreign));
  EXPECT_EQ(cluster.answers[foreign].status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(cluster.answers[foreign].status.message().find("n2 and n3"), std::string::npos);
  const uint64_t none = cluster.repair(1, {.partition = kTestPartitions});
  EXPECT_EQ(cluster.answers[none].status.code(), StatusCode::kInvalidArgument);
}

TEST(Repair, OfOnePartitionPullsThatOne) {
  RoundFixture cluster(2, kNever);
  cluster.put(1, key_in(3), "x");
  cluster.put(1, key_in(4), "y");
  cluster.run();
  const RepairReport report = cluster.repaired(2, {.partition = 3});
  EXPECT_EQ(report.differences, 1U);
  EXPECT_EQ(report.partitions, 1U);
  EXPECT_EQ(cluster.values(2, key_in(3)).size(), 1U);
  EXPECT_TRUE(cluster.values(2, key_in(4)).empty());
}

TEST(Repair, NamesWhoCouldNotBeAsked) {
  RoundFixture cluster(3, kNever);
  cluster.put(1, "a", "x");
  cluster.run();
  cluster.see_reachable(2, 3, false);
  const RepairReport report = cluster.repaired(2);
  EXPECT_TRUE(report.partial);
  ASSERT_EQ(report.problems.size(), 1U);
  EXPECT_NE(report.problems[0].find("n3"), std::string::npos);
  EXPECT_EQ(cluster.values(2, "a").size(), 1U);
}

// A comparison that was under way may have begun before what its client knows of.
TEST(Repair, BeginsItsOwnComparison) {
  RoundFixture cluster(2, seconds(10));
  cluster.hold = any<RoundDigests>();
  cluster.run_for(seconds(2));
  cluster.put(1, "a", "x");
  cluster.hold = nullptr;
  EXPECT_EQ(cluster.repaired(2).differences, 1U);
}

TEST(Repair, BeginsAnewWhereALinkOrALifeWasLostUnderIt) {
  for (const bool other_life : {false, true}) {
    RoundFixture cluster(2, kNever);
    cluster.put(1, "a", "x");
    cluster.run();
    const uint64_t request = cluster.repair(2);
    cluster.in_flight.clear();
    if (other_life) {
      cluster.kill(1);
      cluster.start(1);
    } else {
      RoundFixture::Node& second = cluster.node(2);
      cluster.act(second, [&](auto& outbox) {
        second.convergence->on_link_restored(NodeId{1}, cluster.moment(), outbox);
      });
    }
    cluster.run_for(milliseconds(300));
    ASSERT_TRUE(cluster.answers.contains(request));
    const auto& report = std::get<RepairReport>(cluster.answers[request].body);
    EXPECT_FALSE(report.partial);
    EXPECT_EQ(report.differences, 1U);
  }
}

TEST(Repair, AcceptsALossByAnOperatorsWord) {
  RoundFixture cluster(2, kNever);
  cluster.node(2).wholeness->lose(7);
  const RepairReport report = cluster.repaired(2, {.accept_loss = true});
  EXPECT_EQ(report.accepted_loss, std::vector<uint32_t>{7});
  EXPECT_TRUE(cluster.node(2).wholeness->is_whole(7));
  cluster.run_for(milliseconds(100));
  cluster.kill(2);
  cluster.start(2);
  EXPECT_TRUE(cluster.node(2).wholeness->is_whole(7));
}

TEST(Repair, IsAnsweredWhenTheStoreFails) {
  RoundFixture cluster(2, kNever);
  const uint64_t request = cluster.repair(2);
  RoundFixture::Node& second = cluster.node(2);
  cluster.act(second, [&](auto& outbox) { second.convergence->fail_all(unavailable("fenced"), outbox); });
  ASSERT_TRUE(cluster.answers.contains(request));
  EXPECT_EQ(cluster.answers[request].status.code(), StatusCode::kUnavailable);
}

TEST(Lag, IsTheAgeOfTheLastComparisonAndWhatIsBehind) {
  RoundFixture cluster(2, kNever);
  cluster.put(1, "a", "x");
  cluster.run();
  cluster.repaired(2);
  cluster.run_for(seconds(3), milliseconds(100));
  RoundFixture::Node& second = cluster.node(2);
  cluster.act(second, [&](auto& outbox) {
    second.convergence->on(Arrival{.requester = {1, 77}, .now = cluster.now}, ClientLag(), outbox);
  });
  const auto& lag = std::get<std::vector<LagInfo>>(cluster.answers[77].body);
  ASSERT_EQ(lag.size(), 1U);
  EXPECT_EQ(lag[0].from, "n1");
  EXPECT_EQ(lag[0].to, "n2");
  ASSERT_TRUE(lag[0].lag_seconds.has_value());
  EXPECT_NEAR(*lag[0].lag_seconds, 3, 0.5);
  EXPECT_EQ(lag[0].differing_partitions, 1U);
  EXPECT_EQ(lag[0].problem, "");
  EXPECT_NEAR(static_cast<double>(second.convergence->lag_ms(cluster.now)), 3000, 500);
}

}  // namespace
}  // namespace ringkv
