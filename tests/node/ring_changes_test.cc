#include "node/ring_changes.h"

#include <gtest/gtest.h>

#include "replication/placer.h"
#include "tests/node/ring_samples.h"

namespace ringkv {
namespace {

TEST(RingChanges, AJoinerIsAMemberAtOnceAndOwnsAtTheEndAndVotesByAnEpochOfItsOwn) {
  const RingDescription before = ring_of({"n1", "n4"});
  RingDescription ring = stepped(*begun_join(joiner(30, "n3"))(before));
  EXPECT_EQ(ring.find_member("n3")->status, MemberStatus::kJoining);
  EXPECT_FALSE(ring.find_member("n3")->voter);
  EXPECT_EQ(owner_names(ring), owner_names(before));
  ring = ended(ring);
  EXPECT_EQ(names_in(ring.members), (std::vector<std::string>{"n1", "n2", "n3", "n4"}));
  EXPECT_EQ(ring.find_member("n3")->status, MemberStatus::kNormal);
  EXPECT_FALSE(ring.find_member("n3")->voter);
  EXPECT_TRUE(voting("n3")(ring)->find_member("n3")->voter);
  const std::vector<std::string> owners = owner_names(ring);
  EXPECT_GE(std::count(owners.begin(), owners.end(), "n3"), 3);
}

TEST(RingChanges, ALeaverStaysWithoutPartitionsUntilItIsRemoved) {
  RingDescription ring = stepped(*begun_leave("n2")(ring_of({"n1", "n3"})));
  EXPECT_EQ(ring.find_member("n2")->status, MemberStatus::kLeaving);
  EXPECT_TRUE(ring.find_member("n2")->voter) << "until it is removed";
  ring = ended(ring);
  EXPECT_TRUE(ring.find_member("n2")->voter);
  EXPECT_EQ(*voting("n2")(ring), ring);
  const std::vector<std::string> owners = owner_names(ring);
  EXPECT_EQ(std::count(owners.begin(), owners.end(), "n2"), 0);
  EXPECT_EQ(begun_weight("n3", 2)(ring).status().code(), StatusCode::kUnavailable) << "n2 is still there";
  const RingDescription removed_ring = stepped(*removed("n2")(ring));
  EXPECT_EQ(names_in(removed_ring.members), (std::vector<std::string>{"n1", "n3"}));
  EXPECT_EQ(owner_names(removed_ring), owners);
  EXPECT_EQ(removed("n3")(ring).status().code(), StatusCode::kForbidden) << "it owns partitions";
}

TEST(RingChanges, AReplacementOwnsWhatTheOtherOneDid) {
  const RingDescription before = ring_of({"n1", "n3"});
  RingDescription ring = stepped(*begun_replace("n1", joiner(30, "n9"))(before));
  EXPECT_EQ(ring.members.size(), 4U);
  ring = ended(ring);
  EXPECT_EQ(names_in(ring.members), (std::vector<std::string>{"n2", "n3", "n9"}));
  std::vector<std::string> expected = owner_names(before);
  std::replace(expected.begin(), expected.end(), std::string("n1"), std::string("n9"));
  EXPECT_EQ(owner_names(ring), expected);
}

TEST(RingChanges, AWeightMovesPartitionsAndHoldsFromTheEnd) {
  RingDescription ring = stepped(*begun_weight("n3", 0.25)(ring_of({"n1", "n3"})));
  EXPECT_EQ(ring.find_member("n3")->weight, 1);
  ring = ended(ring);
  EXPECT_EQ(ring.find_member("n3")->weight, 0.25);
  EXPECT_EQ(begun_weight("n3", 0)(ring).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(begun_weight("n7", 1)(ring).status().code(), StatusCode::kInvalidArgument);
}

TEST(RingChanges, ACancelledOneLeavesNothingBehind) {
  const RingDescription before = ring_of({"n1", "n3"});
  for (const RingEdit& begun : {begun_join(joiner(30, "n0")), begun_leave("n2"), begun_weight("n1", 2),
                                begun_replace("n3", joiner(30, "n9"))}) {
    RingDescription ring = stepped(*begun(before));
    RingDescription after = stepped(*cancelled(ring.epoch)(ring));
    after.epoch = before.epoch;
    EXPECT_EQ(after, before);
    ring = stepped(*switched(ring.epoch)(ring));
    EXPECT_EQ(cancelled(ring.epoch)(ring).status().code(), StatusCode::kForbidden);
  }
}

TEST(RingChanges, AMemberWithoutPartitionsIsKeptWhenItsLeaveIsCancelled) {
  RingDescription before = ring_of({"n1", "n3"});
  std::replace(before.owners.begin(), before.owners.end(), uint16_t{2}, uint16_t{0});
  const RingDescription ring = stepped(*begun_leave("n3")(before));
  EXPECT_EQ((*cancelled(ring.epoch)(ring)).find_member("n3")->status, MemberStatus::kNormal);
}

TEST(RingChanges, NeedARingWithData) {
  RingDescription ring = ring_of({"n1", "n3"});
  ring.open = false;
  for (const RingEdit& edit : {begun_join(joiner(30, "n0")), begun_leave("n2"), begun_weight("n1", 2),
                               begun_replace("n3", joiner(30, "n9"))})
    EXPECT_EQ(edit(ring).status().code(), StatusCode::kForbidden);
}

TEST(RingChanges, EachStepFitsOneEpoch) {
  RingDescription ring = stepped(*begun_weight("n3", 0.5)(ring_of({"n1", "n3"})));
  EXPECT_EQ(*switched(ring.epoch + 1)(ring), ring);
  EXPECT_EQ(*finished(ring.epoch)(ring), ring) << "it hasn't been switched";
  EXPECT_EQ(*cancelled(ring.epoch - 1)(ring), ring);
}

TEST(RingChanges, AnotherOneMustWait) {
  const RingDescription ring = *begun_weight("n3", 0.5)(ring_of({"n1", "n3"}));
  for (const RingEdit& edit : {begun_join(joiner(30, "n0")), begun_leave("n2"), begun_weight("n1", 2),
                               begun_replace("n3", joiner(30, "n9")), removed("n1")})
    EXPECT_EQ(edit(ring).status().code(), StatusCode::kUnavailable);
}

TEST(RingChanges, TheLastOneCannotLeave) {
  EXPECT_EQ(begun_leave("n2")(ring_of({})).status().code(), StatusCode::kInvalidArgument);
}

// It isn't forgotten with the change.
TEST(RingChanges, ADiskIsReplacedBeforeAndAfter) {
  const RingDescription begun = stepped(*begun_weight("n3", 0.5)(ring_of({"n1", "n3"})));
  const DiskId lost = begun.find_member("n1")->disk;
  RingDescription ring = stepped(*replaced_disk("n1", lost, DiskId{99})(begun));
  ring = ended(ring);
  EXPECT_EQ(ring.find_member("n1")->disk, DiskId{99});
  EXPECT_FALSE(ring.find_member("n1")->voter);
  EXPECT_EQ(voting("n1")(begun).status().code(), StatusCode::kOk) << "it has one there";
  EXPECT_TRUE(voting("n1")(ring)->find_member("n1")->voter);
}

// RingChanger tries an edit again on a ring that came first, which may have its own effect in it.
TEST(RingChanges, OneThatIsBegunAlreadyChangesNothing) {
  const RingDescription before = ring_of({"n1", "n3"});
  for (const RingEdit& begun : {begun_join(joiner(30, "n0")), begun_leave("n2"), begun_weight("n1", 2),
                                begun_replace("n3", joiner(30, "n9"))}) {
    RingDescription ring = stepped(*begun(before));
    EXPECT_EQ(*begun(ring), ring);
    ring = stepped(*switched(ring.epoch)(ring));
    EXPECT_EQ(*begun(ring), ring);
  }
  RingDescription joined_ring = ended(stepped(*begun_join(joiner(30, "n0"))(before)));
  EXPECT_EQ(*begun_join(joiner(30, "n0"))(joined_ring), joined_ring);
  EXPECT_EQ(begun_join(joiner(31, "n0"))(joined_ring).status().code(), StatusCode::kForbidden);
}

TEST(RingChanges, WhoeverJoinsWaitsNoMore) {
  RingDescription ring = ring_of({"n1"});
  ring.waiting = {joiner(30, "n0"), joiner(31, "n5")};
  const RingDescription begun = stepped(*begun_join(joiner(30, "n0"))(ring));
  EXPECT_EQ(names_in(begun.waiting), (std::vector<std::string>{"n5"}));
  EXPECT_EQ(begun_join(joiner(40, "n5"))(ring).status().code(), StatusCode::kForbidden)
      << "another node waits under that name";
}

TEST(RingChanges, AHashedTableIsTheOneOfItsMembers) {
  RingDescription ring = ring_of_one();
  ring.placer = PlacerKind::kHashed;
  for (uint64_t id = 3; id < 6; ++id) ring = *joined(joiner(id, "n" + std::to_string(id)))(ring);
  ring = *opened()(ring);
  RingDescription replaced = ended(stepped(*begun_replace("n4", joiner(9, "n9"))(ring)));
  EXPECT_EQ(replaced.owners, place_hashed(replaced.members, replaced.partitions()));
}

}  // namespace
}  // namespace ringkv
