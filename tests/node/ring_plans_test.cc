#include "node/ring_plans.h"

#include <gtest/gtest.h>

#include "node/ring_changes.h"
#include "replication/ring.h"
#include "tests/node/ring_samples.h"

namespace ringkv {
namespace {

// n1, n2, n3 with data; n4 and n5 wait.
RingDescription ring_with_waiting() {
  RingDescription ring = ring_of({"n1", "n3"});
  for (const Member& member : {joiner(50, "n5"), joiner(40, "n4")}) ring = stepped(*waits(member)(ring));
  return ring;
}

std::string refusal_of(const RingDescription& ring, const PlanStep& step) {
  const Result<RingDescription> next = planned({step})(ring);
  return next.ok() ? "ok" : next.status().to_string();
}

TEST(RingPlans, WhoWaitsIsNoMemberAndMayAskAgain) {
  const RingDescription ring = ring_with_waiting();
  EXPECT_EQ(names_in(ring.waiting), (std::vector<std::string>{"n4", "n5"}));
  EXPECT_EQ(names_in(ring.members), (std::vector<std::string>{"n1", "n2", "n3"}));
  EXPECT_EQ(*waits(joiner(40, "n4"))(ring), ring);
  Member heavier = joiner(40, "n4");
  heavier.weight = 2;
  EXPECT_EQ((*waits(heavier)(ring)).find_waiting("n4")->weight, 2);
  EXPECT_EQ(waits(joiner(41, "n4"))(ring).status().code(), StatusCode::kForbidden);
  EXPECT_EQ(waits(joiner(41, "n1"))(ring).status().code(), StatusCode::kForbidden);
}

TEST(RingPlans, ADraftChangesNothingButItself) {
  const RingDescription before = ring_with_waiting();
  RingDescription ring = stepped(*planned({PlanJoin{"n4"}})(before));
  EXPECT_FALSE(ring.change.has_value());
  EXPECT_EQ(names_in(ring.plan->leads_to.members), (std::vector<std::string>{"n1", "n2", "n3", "n4"}));
  ring.plan.reset();
  ring.epoch = before.epoch;
  EXPECT_EQ(ring, before);
}

// Two joins in one plan move what one placement of both moves.
TEST(RingPlans, StepsAddUpToOnePlacement) {
  const RingDescription ring = ring_with_waiting();
  RingDescription one_by_one = stepped(*planned({PlanJoin{"n4"}})(ring));
  one_by_one = stepped(*planned({PlanJoin{"n5"}})(one_by_one));
  const RingDescription together = stepped(*planned({PlanJoin{"n4"}, PlanJoin{"n5"}})(ring));
  EXPECT_EQ(one_by_one.plan, together.plan);
  EXPECT_EQ(*planned({PlanJoin{"n5"}})(together), together) << "a retry";
}

TEST(RingPlans, ALaterStepTakesTheEarlierOnesPlace) {
  RingDescription ring = stepped(*planned({PlanWeight{"n1", 2}, PlanMove{3, "n2"}})(ring_with_waiting()));
  ring = stepped(*planned({PlanWeight{"n1", 0.5}})(ring));
  EXPECT_EQ(ring.plan->steps, (std::vector<PlanStep>{PlanWeight{"n1", 0.5}, PlanMove{3, "n2"}}));
  EXPECT_EQ(ring.plan->leads_to.members[0].weight, 0.5);
}

TEST(RingPlans, AMovedPartitionIsAllThatMoves) {
  const RingDescription ring = ring_with_waiting();
  std::vector<std::string> expected = owner_names(ring);
  const std::string to = expected[3] == "n1" ? "n2" : "n1";
  RingDescription next = stepped(*planned({PlanMove{3, to}})(ring));
  next = ended(stepped(*committed(next.epoch, 7)(next)));
  expected[3] = to;
  EXPECT_EQ(owner_names(next), expected);
}

TEST(RingPlans, ACommitBeginsJustThePlanOfItsEpoch) {
  const RingDescription ring = stepped(*planned({PlanJoin{"n4"}, PlanLeave{"n1"}})(ring_with_waiting()));
  const RingDescription begun = stepped(*committed(ring.epoch, 7)(ring));
  EXPECT_EQ(begun.change->owners, ring.plan->leads_to.owners);
  EXPECT_FALSE(begun.plan.has_value());
  EXPECT_EQ(names_in(begun.waiting), (std::vector<std::string>{"n5"}));
  EXPECT_EQ(begun.find_member("n4")->status, MemberStatus::kJoining);
  EXPECT_EQ(begun.find_member("n1")->status, MemberStatus::kLeaving);
  const RingDescription after = ended(begun);
  EXPECT_FALSE(after.find_member("n4")->voter) << "votes change one an epoch";
  EXPECT_TRUE(after.find_member("n1")->voter);
}

// The one whose commit it was may be told so twice; the other one's must not look as if it had been his.
TEST(RingPlans, OfTwoCommitsOneWins) {
  const RingDescription ring = stepped(*planned({PlanJoin{"n4"}})(ring_with_waiting()));
  const RingDescription begun = stepped(*committed(ring.epoch, 7)(ring));
  EXPECT_EQ(*committed(ring.epoch, 7)(begun), begun);
  const Status other = committed(ring.epoch, 8)(begun).status();
  EXPECT_EQ(other.code(), StatusCode::kStaleEpoch);
  EXPECT_NE(other.message().find(std::to_string(ring.epoch)), std::string::npos) << other.message();
  EXPECT_NE(other.message().find(std::to_string(begun.epoch)), std::string::npos) << other.message();
}

TEST(RingPlans, ACommitOfAnEarlierEpochOrOfNothingIsRefused) {
  const RingDescription ring = ring_with_waiting();
  EXPECT_EQ(committed(ring.epoch, 7)(ring).status().code(), StatusCode::kUnavailable);
  const RingDescription drafted = stepped(*planned({PlanJoin{"n4"}})(ring));
  const RingDescription later = stepped(*new_bucket({.name = "b"})(drafted));
  EXPECT_TRUE(later.plan.has_value()) << "a bucket doesn't touch it";
  EXPECT_EQ(committed(drafted.epoch, 7)(later).status().code(), StatusCode::kStaleEpoch);
  EXPECT_TRUE(committed(later.epoch, 7)(later).ok());
}

TEST(RingPlans, AWithdrawnDraftLeavesItsJoinersWaiting) {
  const RingDescription before = ring_with_waiting();
  const RingDescription ring = stepped(*planned({PlanJoin{"n4"}})(before));
  RingDescription after = stepped(*withdrawn(ring.epoch)(ring));
  EXPECT_EQ(*withdrawn(ring.epoch)(after), after) << "a retry";
  EXPECT_EQ(withdrawn(before.epoch)(ring).status().code(), StatusCode::kStaleEpoch);
  EXPECT_EQ(names_in(after.waiting), (std::vector<std::string>{"n4", "n5"}));
  EXPECT_FALSE(after.plan.has_value());
  EXPECT_TRUE((*withdrawn(after.epoch)(after)).waiting.empty()) << "nothing else was there to drop";
}

TEST(RingPlans, ABegunChangeIsWithdrawnUntilItIsSwitched) {
  const RingDescription drafted = stepped(*planned({PlanLeave{"n1"}})(ring_with_waiting()));
  const RingDescription begun = stepped(*committed(drafted.epoch, 7)(drafted));
  EXPECT_FALSE((*withdrawn(begun.epoch)(begun)).change.has_value());
  const RingDescription on = stepped(*switched(begun.epoch)(begun));
  EXPECT_EQ(withdrawn(on.epoch)(on).status().code(), StatusCode::kForbidden);
}

TEST(RingPlans, OneChangeAtATime) {
  const RingDescription drafted = stepped(*planned({PlanJoin{"n4"}})(ring_with_waiting()));
  EXPECT_EQ(begun_join(joiner(50, "n5"))(drafted).status().code(), StatusCode::kUnavailable);
  const RingDescription begun = stepped(*committed(drafted.epoch, 7)(drafted));
  EXPECT_EQ(planned({PlanJoin{"n5"}})(begun).status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(waits(joiner(60, "n6"))(begun).status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(*waits(joiner(50, "n5"))(begun), begun) << "it waits already";
}

TEST(RingPlans, WhatCannotBeIsRefusedByName) {
  const RingDescription ring = ring_with_waiting();
  const std::vector<std::pair<PlanStep, std::string>> refused = {
      {PlanJoin{"n9"}, "waiting: n4, n5"},
      {PlanJoin{"n1"}, "n1 is a member already"},
      {PlanLeave{"n9"}, "the members are n1, n2, n3"},
      {PlanLeave{"n4"}, "the members are n1, n2, n3"},
      {PlanReplace{"n9", "n4"}, "the members are n1, n2, n3"},
      {PlanReplace{"n1", "n9"}, "waiting: n4, n5"},
      {PlanReplace{"n1", "n2"}, "n2 is a member already"},
      {PlanWeight{"n1", 0}, "more than 0 and at most 100, not 0"},
      {PlanWeight{"n1", 100.5}, "at most 100"},
      {PlanWeight{"n1", std::numeric_limits<double>::quiet_NaN()}, "at most 100"},
      {PlanRack{"n1", "a b"}, "rack 'a b'"},
      {PlanReplicas{0}, "not 0"},
      {PlanMove{16, "n1"}, "they are 0 to 15"},
      {PlanMove{1, "n9"}, "the members are n1, n2, n3"},
      {PlanWeight{"n1", 1}, "nothing would move"},
      {PlanReplicas{3}, "nothing would move"},
      {PlanMove{0, owner_names(ring)[0]}, "nothing would move"}};
  for (const auto& [step, words] : refused) {
    const std::string said = refusal_of(ring, step);
    EXPECT_NE(said.find(words), std::string::npos) << said << " instead of " << words;
    EXPECT_NE(said.find("INVALID_ARGUMENT"), std::string::npos) << said;
  }
}

TEST(RingPlans, StepsThatContradictEachOtherAreRefused) {
  const RingDescription ring = ring_with_waiting();
  const auto refuses = [&](std::vector<PlanStep> steps) {
    return planned(std::move(steps))(ring).status().code() == StatusCode::kInvalidArgument;
  };
  EXPECT_TRUE(refuses({PlanLeave{"n1"}, PlanReplace{"n1", "n4"}}));
  EXPECT_TRUE(refuses({PlanReplace{"n1", "n4"}, PlanLeave{"n1"}}));
  EXPECT_TRUE(refuses({PlanReplace{"n1", "n4"}, PlanJoin{"n4"}}));
  EXPECT_TRUE(refuses({PlanReplace{"n1", "n4"}, PlanReplace{"n2", "n4"}}));
  EXPECT_TRUE(refuses({PlanMove{1, "n1"}, PlanLeave{"n1"}}));
  EXPECT_TRUE(refuses({PlanLeave{"n1"}, PlanLeave{"n2"}, PlanLeave{"n3"}})) << "nobody would be left";
  EXPECT_TRUE(refuses({PlanReplace{"n1", "n4"}, PlanReplace{"n2", "n5"}})) << "two votes would go at once";
  EXPECT_FALSE(refuses({PlanJoin{"n4"}, PlanWeight{"n4", 2}, PlanRack{"n4", "c"}, PlanLeave{"n1"}}));
}

TEST(RingPlans, AReplacementTakesThePlaceAndNothingElseMoves) {
  const RingDescription before = ring_with_waiting();
  std::vector<std::string> expected = owner_names(before);
  std::replace(expected.begin(), expected.end(), std::string("n3"), std::string("n4"));
  RingDescription ring = stepped(*planned({PlanReplace{"n3", "n4", true}})(before));
  ring = ended(stepped(*committed(ring.epoch, 7)(ring)));
  EXPECT_EQ(owner_names(ring), expected);
  EXPECT_EQ(names_in(ring.members), (std::vector<std::string>{"n1", "n2", "n4"}));
}

TEST(RingPlans, ALabelAloneIsAPlan) { EXPECT_EQ(refusal_of(ring_with_waiting(), PlanRack{"n1", "z"}), "ok"); }

TEST(RingPlans, ReplicasFewerThanABucketWaitsForAreRefused) {
  const RingDescription ring = stepped(*new_bucket({.name = "safe", .w = 3})(ring_with_waiting()));
  EXPECT_NE(refusal_of(ring, PlanReplicas{2}).find("bucket 'safe'"), std::string::npos);
  const RingDescription drafted = stepped(*planned({PlanReplicas{2}})(ring_with_waiting()));
  const RingDescription later = stepped(*new_bucket({.name = "safe", .w = 3})(drafted));
  EXPECT_EQ(committed(later.epoch, 7)(later).status().code(), StatusCode::kInvalidArgument);
}

TEST(RingPlans, AHashedRingMovesNoSinglePartitions) {
  RingDescription ring = ring_with_waiting();
  ring.placer = PlacerKind::kHashed;
  EXPECT_NE(refusal_of(ring, PlanMove{1, "n1"}).find("hashed"), std::string::npos);
  EXPECT_EQ(refusal_of(ring, PlanWeight{"n1", 3}), "ok");
  EXPECT_EQ(refusal_of(ring, PlanJoin{"n4"}), "ok");
  EXPECT_EQ(refusal_of(ring, PlanLeave{"n1"}), "ok");
}

TEST(RingPlans, ALeaverComesToItsEndFirst) {
  RingDescription ring = stepped(*planned({PlanLeave{"n3"}})(ring_with_waiting()));
  ring = ended(stepped(*committed(ring.epoch, 7)(ring)));
  const std::string said = refusal_of(ring, PlanLeave{"n2"});
  EXPECT_NE(said.find("n3 is still leaving"), std::string::npos) << said;
  // But what it waits for may be an owner that is gone for good.
  const RingDescription begun =
      stepped(*committed(ring.epoch + 1, 8)(stepped(*planned({PlanReplace{"n2", "n4"}})(ring))));
  ASSERT_TRUE(begun.change.has_value());
  EXPECT_EQ(begun.find_member("n3")->status, MemberStatus::kLeaving);
  EXPECT_EQ(cancelled(begun.epoch)(begun)->find_member("n3")->status, MemberStatus::kLeaving);
  EXPECT_EQ(cancelled(begun.epoch)(begun)->find_member("n2")->status, MemberStatus::kNormal);
  EXPECT_EQ(ended(begun).find_member("n3")->status, MemberStatus::kLeaving);
}

// Without data there is nothing to move: no three epochs.
TEST(RingPlans, WhereThereAreNoDataAPlanIsMadeAtOnce) {
  RingDescription ring = ring_with_waiting();
  ring.open = false;
  ring = stepped(*planned({PlanJoin{"n4"}, PlanLeave{"n1"}})(ring));
  ring = stepped(*committed(ring.epoch, 7)(ring));
  EXPECT_FALSE(ring.change.has_value());
  EXPECT_EQ(ring.find_member("n4")->status, MemberStatus::kNormal);
  EXPECT_TRUE(removed("n1")(ring).ok());
}

TEST(RingPlans, ADiskThatIsReplacedIsReplacedInTheDraftToo) {
  const RingDescription ring = stepped(*planned({PlanJoin{"n4"}})(ring_with_waiting()));
  const DiskId lost = ring.find_member("n1")->disk;
  const RingDescription next = stepped(*replaced_disk("n1", lost, DiskId{99})(ring));
  EXPECT_EQ(next.plan->leads_to.members[0].disk, DiskId{99});
}

}  // namespace
}  // namespace ringkv
