#include "node/plan_outline.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "node/ring_plans.h"
#include "tests/node/ring_samples.h"

namespace ringkv {
namespace {

// n1 to n4 in racks a to d own 16 partitions by turns, two copies each; n5 waits in rack a.
RingDescription four() {
  RingDescription ring;
  ring.epoch = 7;
  ring.open = true;
  ring.replicas = 2;
  for (uint64_t id = 1; id <= 4; ++id) {
    ring.members.push_back({.node = NodeId{id},
                            .disk = DiskId{id},
                            .name = "n" + std::to_string(id),
                            .rack = std::string(1, static_cast<char>('a' + id - 1))});
  }
  for (uint16_t partition = 0; partition < 16; ++partition) ring.owners.push_back(partition % 4);
  ring.waiting = {{.node = NodeId{5}, .disk = DiskId{5}, .name = "n5", .rack = "a"}};
  ring.buckets = {BucketDescription()};
  ring.secret = std::string(32, 's');
  return ring;
}

class PlanOutlineTest : public testing::Test {
 protected:
  PlanOutline outline(const RingDescription& ring) {
    return plan_outline(ring, {.is_reachable = [this](NodeId node) { return !down_.contains(node); },
                               .state_of =
                                   [this](NodeId node) {
                                     const auto at = states_.find(node);
                                     return at == states_.end() ? nullptr : &at->second;
                                   }});
  }
  Status check(const RingDescription& ring) {
    return check_commit(
        ring,
        {.is_reachable = [this](NodeId node) { return !down_.contains(node) && !unheard_.contains(node); },
         .is_down = [this](NodeId node) { return down_.contains(node); }});
  }
  static RingDescription with(std::vector<PlanStep> steps) {
    return stepped(*planned(std::move(steps))(four()));
  }

  std::set<NodeId> down_;
  std::set<NodeId> unheard_;  // by this node alone
  std::map<NodeId, PeerState> states_;
};

// Row B73: while only the asked node can't see it.
TEST_F(PlanOutlineTest, WhomOnlyThisNodeDoesntReachIsNotReplaced) {
  const RingDescription ring = with({PlanReplace{"n3", "n5", false}});
  const NodeId n3 = ring.find_member("n3")->node;
  EXPECT_EQ(check(ring).code(), StatusCode::kForbidden);
  unheard_ = {n3};
  EXPECT_EQ(check(ring).code(), StatusCode::kUnavailable);
  EXPECT_NE(check(ring).message().find("isn't known to be down yet"), std::string::npos);
  EXPECT_TRUE(check(with({PlanReplace{"n3", "n5", true}})).ok());
  unheard_.clear();
  down_ = {n3};
  EXPECT_TRUE(check(ring).ok());
}

TEST_F(PlanOutlineTest, OfNothingIsWhoWaits) {
  const PlanOutline none = outline(four());
  EXPECT_EQ(none.report.stage, "none");
  EXPECT_EQ(none.report.from_epoch, 7U);
  EXPECT_EQ(none.report.waiting, (std::vector<std::string>{"n5"}));
  EXPECT_TRUE(none.shares.empty());
}

// Partition 0 lies with n1 and n2. After it has moved to n3, it lies with n3 and, as the walk goes on, n2;
// and partition 15's second copy follows.
TEST_F(PlanOutlineTest, NamesWhoTakesFromWhom) {
  const PlanOutline moved = outline(with({PlanMove{0, "n3"}}));
  EXPECT_EQ(moved.report.stage, "planned");
  EXPECT_EQ(moved.report.steps, (std::vector<std::string>{"move 0 n3"}));
  ASSERT_EQ(moved.shares.size(), 1U);
  EXPECT_EQ(moved.shares[0].from, "n1");
  EXPECT_EQ(moved.shares[0].to, "n3");
  EXPECT_EQ(moved.shares[0].counted_at, "n1");
  EXPECT_EQ(moved.shares[0].partitions, (std::vector<Partition>{0, 15}));
  EXPECT_EQ(moved.report.below_n, 0U);
  EXPECT_TRUE(moved.report.warnings.empty());
  EXPECT_TRUE(moved.report.rack_violations.empty());
}

TEST_F(PlanOutlineTest, CountsAtALiveOwnerWhereTheSourceIsDown) {
  down_ = {NodeId{1}};
  const PlanOutline moved = outline(with({PlanMove{0, "n3"}}));
  std::map<std::string, std::vector<Partition>> counted;
  for (const auto& share : moved.shares) counted[share.counted_at] = share.partitions;
  EXPECT_EQ(counted["n2"], (std::vector<Partition>{0}));
  EXPECT_EQ(counted["n4"], (std::vector<Partition>{15}));
  EXPECT_EQ(moved.report.below_n, 8U) << "n1's four partitions, and its four second copies";
  down_ = {NodeId{1}, NodeId{2}};
  EXPECT_EQ(outline(with({PlanMove{0, "n3"}})).report.warnings.size(), 1U) << "partition 0 has no live copy";
}

TEST_F(PlanOutlineTest, WarnsOfRacksCopiesAndVoters) {
  EXPECT_NE(outline(with({PlanLeave{"n4"}})).report.warnings.at(0).find("rack d"), std::string::npos);
  EXPECT_NE(outline(with({PlanReplicas{5}})).report.warnings.at(0).find("N is 5"), std::string::npos);
  EXPECT_EQ(outline(with({PlanRack{"n2", "z"}})).report.warnings.at(0),
            "n2 must be started with --rack z from then on, or without");
  EXPECT_EQ(outline(with({PlanWeight{"n2", 0.5}})).report.warnings.at(0),
            "n2 must be started with --weight 0.5 from then on, or without");
  const std::vector<std::string> warnings = outline(with({PlanLeave{"n3"}, PlanLeave{"n4"}})).report.warnings;
  EXPECT_NE(warnings.back().find("two voters"), std::string::npos) << warnings.back();
}

TEST_F(PlanOutlineTest, OfAChangeSaysWhomItWaitsFor) {
  RingDescription ring = with({PlanReplace{"n4", "n5"}, PlanWeight{"n1", 1.5}});
  ring = stepped(*committed(ring.epoch, 1)(ring));
  EXPECT_EQ(outline(ring).report.stage, "begun");
  const std::vector<std::string> steps = outline(ring).report.steps;
  EXPECT_EQ(steps, (std::vector<std::string>{"the weight of n1 becomes 1.5", "n4 is replaced", "n5 joins"}));
  const std::vector<std::string> waits_for = outline(ring).report.not_ready;
  EXPECT_NE(std::find(waits_for.begin(), waits_for.end(), "n5"), waits_for.end());
  for (uint64_t id = 1; id <= 5; ++id) states_[NodeId{id}] = {.epoch = ring.epoch, .ready_epoch = ring.epoch};
  EXPECT_TRUE(outline(ring).report.not_ready.empty());
  ring = stepped(*switched(ring.epoch)(ring));
  EXPECT_EQ(outline(ring).report.stage, "switched");
  EXPECT_EQ(outline(ring).report.not_ready.size(), 5U) << "nobody has that epoch yet";
}

TEST_F(PlanOutlineTest, AMemberThatIsUpIsReplacedByForceOnly) {
  EXPECT_EQ(check(with({PlanReplace{"n4", "n5"}})).code(), StatusCode::kForbidden);
  EXPECT_TRUE(check(with({PlanReplace{"n4", "n5", true}})).ok());
  down_ = {NodeId{4}};
  EXPECT_TRUE(check(with({PlanReplace{"n4", "n5"}})).ok());
}

TEST_F(PlanOutlineTest, AMajorityOfTheNextVotersMustBeUp) {
  down_ = {NodeId{3}};
  EXPECT_TRUE(check(with({PlanLeave{"n4"}})).ok());
  down_ = {NodeId{2}, NodeId{3}};
  const Status refused = check(with({PlanLeave{"n4"}}));
  EXPECT_EQ(refused.code(), StatusCode::kUnavailable);
  EXPECT_NE(refused.message().find("n2, n3"), std::string::npos) << refused.message();
}

}  // namespace
}  // namespace ringkv
