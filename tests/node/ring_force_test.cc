#include "node/ring_force.h"

#include <gtest/gtest.h>

#include <functional>

#include <map>
#include <set>

#include "node/plan_outline.h"
#include "node/ring_edits.h"
#include "node/ring_plans.h"
#include "replication/ring.h"
#include "tests/node/ring_samples.h"

namespace ringkv {
namespace {

using Names = std::vector<std::string>;

// n1 (asked), n2, n3, n4 and n5, three copies; who is up can be reached.
constexpr WallMicros kNow = 1'700'000'000'000'000;

class RingForceTest : public testing::Test {
 protected:
  RingForceTest() {
    ring_ = stepped(ring_of({"n1", "n3", "n4", "n5"}));
    for (const Member& member : ring_.members) up_.insert(member.node);
  }

  NodeId id(std::string_view name) const { return ring_.find_member(name)->node; }
  void kill(const Names& names) {
    for (const std::string& name : names) up_.erase(id(name));
  }
  Status check(const Names& lost) const {
    return check_force(ring_, lost,
                       {.self = id("n1"),
                        .is_reachable = [this](NodeId node) { return up_.contains(node); },
                        .health =
                            [this](NodeId node) {
                              if (suspected_ == node) return Health::kSuspect;
                              return up_.contains(node) ? Health::kAlive : Health::kDown;
                            },
                        .epoch =
                            [this](NodeId node) {
                              const auto at = epochs_.find(node);
                              return at == epochs_.end() ? ring_.epoch : at->second;
                            }});
  }
  void expect_refused(StatusCode code, const Names& lost, std::string_view says) const {
    const Status status = check(lost);
    EXPECT_EQ(status.code(), code) << status.message();
    EXPECT_NE(status.message().find(says), std::string::npos) << status.message();
  }

  RingDescription ring_;
  std::set<NodeId> up_;
  std::map<NodeId, uint64_t> epochs_;
  NodeId suspected_;
};

TEST_F(RingForceTest, IsForThoseThatAreDownWhereNoMajorityIsLeft) {
  kill({"n3", "n4", "n5"});
  EXPECT_TRUE(check({"n3", "n4", "n5"}).ok());
  expect_refused(StatusCode::kInvalidArgument, {}, "--lost");
  expect_refused(StatusCode::kInvalidArgument, {"n9"}, "no member");
  expect_refused(StatusCode::kForbidden, {"n2", "n3", "n4", "n5"}, "n2 is up");
  expect_refused(StatusCode::kForbidden, {"n1"}, "n1 is up");
  expect_refused(StatusCode::kForbidden, {"n3"}, "n4, n5 can't be reached either");
  expect_refused(StatusCode::kForbidden, {"n3", "n5"}, "--lost n3,n4,n5");
  suspected_ = id("n4");
  expect_refused(StatusCode::kUnavailable, {"n3", "n4", "n5"}, "n4 doesn't answer");
  suspected_ = {};
  epochs_[id("n2")] = ring_.epoch + 1;
  expect_refused(StatusCode::kUnavailable, {"n3", "n4", "n5"}, "n2 holds the ring of epoch");
}

TEST_F(RingForceTest, AMajorityNeedsNoForce) {
  kill({"n4", "n5"});
  expect_refused(StatusCode::kForbidden, {"n4", "n5"}, "n1, n2, n3 are a majority of the 5 voters");
  ring_.members[1].voter = false;
  EXPECT_TRUE(check({"n4", "n5"}).ok()) << "half of four voters";
}

TEST_F(RingForceTest, ChangesWhoDecidesAndNothingElse) {
  const RingDescription forced = stepped(forced_ring(ring_, {"n3", "n4", "n5"}, kNow, 0x1234));
  EXPECT_EQ(forced.lineage, (uint64_t{1} << 48) + (uint64_t{kNow / 1'000'000} << 16) + 0x1234);
  EXPECT_EQ(forced.epoch, ring_.epoch + 2);  // and one by stepped()
  EXPECT_EQ(forced.owners, ring_.owners);
  EXPECT_EQ(names_in(forced.members), names_in(ring_.members));
  EXPECT_TRUE(forced.find_member("n1")->voter);
  EXPECT_FALSE(forced.find_member("n1")->lost);
  EXPECT_FALSE(forced.find_member("n4")->voter);
  EXPECT_TRUE(forced.find_member("n4")->lost);
  EXPECT_GT(forced_ring(forced, {"n2"}, kNow, 0).lineage, forced.lineage) << "whatever is drawn";
  EXPECT_GT(forced_ring(ring_, {"n1"}, kNow + 1'000'000, 0).lineage, forced.lineage)
      << "the later one counts";
}

TEST_F(RingForceTest, SomebodyVotesAfterwards) {
  for (const char* name : {"n1", "n2"}) const_cast<Member*>(ring_.find_member(name))->voter = false;
  const RingDescription forced = forced_ring(ring_, {"n3", "n4", "n5"}, kNow, 1);
  EXPECT_TRUE(forced.find_member("n1")->voter);
  EXPECT_TRUE(forced.find_member("n2")->voter);
  EXPECT_FALSE(forced.find_member("n3")->voter);
}

TEST_F(RingForceTest, WhatIsBegunIsTakenBackAndWhatIsSwitchedGoesOn) {
  const RingDescription begun = stepped(*begun_weight("n5", 0.5)(ring_));
  EXPECT_NE(force_report(begun, {"n5"}).ends, "");
  EXPECT_FALSE(stepped(forced_ring(begun, {"n5"}, kNow, 1)).change.has_value());

  const RingDescription half_way = stepped(*switched(begun.epoch)(begun));
  EXPECT_EQ(force_report(half_way, {"n5"}).ends, "");
  const RingDescription forced = stepped(forced_ring(half_way, {"n5"}, kNow, 1));
  ASSERT_TRUE(forced.change.has_value());
  const RingDescription end = stepped(*finished(forced.epoch)(forced));
  EXPECT_TRUE(end.find_member("n5")->lost);
  EXPECT_FALSE(end.find_member("n5")->voter);

  const RingDescription drafted = *planned({PlanWeight{"n5", 0.5}})(ring_);
  EXPECT_EQ(force_report(drafted, {"n5"}).ends, "weight n5 0.5");
  EXPECT_FALSE(forced_ring(drafted, {"n5"}, kNow, 1).plan.has_value());
}

// Whom it waits for may be lost, and what it has may be the last copy.
TEST_F(RingForceTest, WhoWasLeavingStaysUntilItIsToldAgain) {
  const RingDescription left = stepped(
      *finished(ring_.epoch + 2)(stepped(*switched(ring_.epoch + 1)(stepped(*begun_leave("n1")(ring_))))));
  ASSERT_EQ(left.find_member("n1")->status, MemberStatus::kLeaving);
  const RingDescription forced = stepped(forced_ring(left, {"n4", "n5"}, kNow, 1));
  EXPECT_EQ(forced.find_member("n1")->status, MemberStatus::kNormal);
  EXPECT_TRUE(planned({PlanLeave{"n1"}, PlanLeave{"n4", true}, PlanLeave{"n5", true}})(forced).ok());
}

TEST_F(RingForceTest, NothingBeginsThatWouldGiveCopiesToTheLost) {
  const RingDescription forced = stepped(forced_ring(ring_, {"n4", "n5"}, kNow, 1));
  const auto up = [&](NodeId node) { return node != id("n4") && node != id("n5"); };
  const Status one = check_commit(stepped(*planned({PlanLeave{"n4"}})(forced)), {up, std::not_fn(up)});
  EXPECT_EQ(one.code(), StatusCode::kForbidden);
  EXPECT_NE(one.message().find("n5 was declared lost"), std::string::npos) << one.message();
  EXPECT_TRUE(
      check_commit(stepped(*planned({PlanLeave{"n4"}, PlanLeave{"n5"}})(forced)), {up, std::not_fn(up)})
          .ok());
  EXPECT_FALSE(check_auto_removal(forced, {"n3"}).ok());
}

TEST_F(RingForceTest, SaysWhatMayBeLost) {
  const ForceReport report = force_report(ring_, {"n3", "n4", "n5"});
  EXPECT_FALSE(report.forced);
  EXPECT_EQ(report.survivors, (Names{"n1", "n2"}));
  EXPECT_EQ(report.lost, (Names{"n3", "n4", "n5"}));
  const Ring table(ring_);
  uint32_t none = 0, few = 0;
  for (Partition partition = 0; partition < table.partitions(); ++partition) {
    uint32_t left = 0;
    for (const uint16_t owner : table.preference_list(partition))
      left += table.member(owner).name < "n3" ? 1 : 0;
    none += left == 0 ? 1 : 0;
    few += left == 1 ? 1 : 0;
  }
  EXPECT_EQ(report.without_copy.size(), none);
  EXPECT_EQ(report.fewer_than_needed, few) << "N - W + 1 is two of three";
  EXPECT_GT(few, 0U);
}

// The lost leave as if told to, and their disks aren't waited for.
TEST_F(RingForceTest, TheLostLeaveByPlan) {
  const RingDescription forced = stepped(forced_ring(ring_, {"n3", "n4", "n5"}, kNow, 1));
  RingDescription planned_ring =
      stepped(*planned({PlanLeave{"n3"}, PlanLeave{"n4"}, PlanLeave{"n5"}})(forced));
  const auto up = [&](NodeId node) { return node == id("n1") || node == id("n2"); };
  EXPECT_TRUE(check_commit(planned_ring, {up, std::not_fn(up)}).ok());
  const RingDescription end = ended(stepped(*committed(planned_ring.epoch, 1)(planned_ring)));
  for (const std::string& owner : owner_names(end)) EXPECT_LT(owner, "n3");
  EXPECT_EQ(end.find_member("n4")->status, MemberStatus::kLeaving);
  EXPECT_TRUE(end.find_member("n4")->lost);
}

// It comes back empty, in its own place.
TEST_F(RingForceTest, AnEmptyDirectoryTakesThePlaceOfALostOne) {
  const RingDescription forced = stepped(forced_ring(ring_, {"n3", "n4", "n5"}, kNow, 1));
  const DiskId lost = forced.find_member("n4")->disk;
  const RingDescription back = stepped(*replaced_disk("n4", lost, DiskId{999})(forced));
  EXPECT_FALSE(back.find_member("n4")->lost);
  EXPECT_FALSE(back.find_member("n4")->voter) << "not before it has its copies";
}

}  // namespace
}  // namespace ringkv
