#include "node/ring_edits.h"

#include <gtest/gtest.h>

#include "node/views.h"
#include "replication/ring.h"

namespace ringkv {
namespace {

RingDescription ring_of_one() {
  RingDescription ring;
  ring.replicas = 3;
  ring.members = {{.node = NodeId{1}, .disk = DiskId{1}, .name = "n2", .rack = "a"}};
  ring.owners.assign(16, 0);
  ring.buckets = {BucketDescription()};
  ring.secret = std::string(32, 's');
  return ring;
}

Member joiner(uint64_t id, const std::string& name) {
  return {.node = NodeId{id}, .disk = DiskId{id}, .name = name, .rack = "b"};
}

std::vector<std::string> names_of(const RingDescription& ring) {
  std::vector<std::string> names;
  for (const Member& member : ring.members) names.push_back(member.name);
  return names;
}

TEST(RingEdits, ANewBucketTakesItsPlaceInOrderOfName) {
  RingDescription ring = ring_of_one();
  for (const char* name : {"m", "z", "b"}) ring = *new_bucket({.name = name})(ring);
  std::vector<std::string> names;
  for (const BucketInfo& bucket : bucket_infos(ring)) names.push_back(bucket.name);
  EXPECT_EQ(names, (std::vector<std::string>{"", "b", "m", "z"}));
  EXPECT_TRUE(decode_ring_description(encode_ring_description(ring)).ok());
}

TEST(RingEdits, AWrongBucketIsRefusedByName) {
  const RingDescription ring = *new_bucket({.name = "b"})(ring_of_one());
  const auto code = [&](const BucketInfo& bucket) { return new_bucket(bucket)(ring).status().code(); };
  EXPECT_EQ(code({.name = "b"}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code({.name = ""}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code({.name = "a/b"}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code({.name = "c", .conflict = "newest"}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code({.name = "c", .r = 4}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code({.name = "c", .w = 4}), StatusCode::kInvalidArgument);
}

TEST(RingEdits, AChangeOfABucketLeavesTheRestAsItWas) {
  RingDescription ring = *new_bucket({.name = "b", .conflict = "lww", .r = 1, .w = 2})(ring_of_one());
  ring = *changed_bucket("b", {.ttl_ms = 5000})(ring);
  const BucketInfo bucket = bucket_infos(ring)[1];
  EXPECT_EQ(bucket.conflict, "lww");
  EXPECT_EQ(bucket.r, 1U);
  EXPECT_EQ(bucket.w, 2U);
  EXPECT_EQ(bucket.ttl_ms, 5000U);
  EXPECT_EQ(changed_bucket("nobody", {})(ring).status().code(), StatusCode::kInvalidArgument);
}

TEST(RingEdits, AJoinerTakesItsPlaceInOrderOfNameWithVoteAndPartitions) {
  RingDescription ring = ring_of_one();
  for (const auto& member : {joiner(3, "n3"), joiner(4, "n1")}) ring = *joined(member)(ring);
  EXPECT_EQ(names_of(ring), (std::vector<std::string>{"n1", "n2", "n3"}));
  EXPECT_TRUE(ring.members[0].voter);
  std::vector<int> partitions(3, 0);
  for (const uint16_t owner : ring.owners) ++partitions[owner];
  for (const int owned : partitions) EXPECT_GE(owned, 4);
  EXPECT_TRUE(decode_ring_description(encode_ring_description(ring)).ok());
}

TEST(RingEdits, AJoinMadeAlreadyChangesNothing) {
  const RingDescription ring = *joined(joiner(3, "n3"))(ring_of_one());
  EXPECT_EQ(*joined(joiner(3, "n3"))(ring), ring);
}

TEST(RingEdits, ATakenNameOrNodeIsRefusedNamingBoth) {
  const RingDescription ring = *joined(joiner(3, "n3"))(ring_of_one());
  const Status same_name = joined(joiner(5, "n3"))(ring).status();
  EXPECT_EQ(same_name.code(), StatusCode::kForbidden);
  EXPECT_NE(same_name.message().find("0000000000000003"), std::string::npos) << same_name.message();
  EXPECT_NE(same_name.message().find("0000000000000005"), std::string::npos) << same_name.message();
  const Status same_node = joined(joiner(3, "n5"))(ring).status();
  EXPECT_EQ(same_node.code(), StatusCode::kForbidden);
  EXPECT_NE(same_node.message().find("n3"), std::string::npos) << same_node.message();
}

TEST(RingEdits, AnOpenRingTakesNoJoiners) {
  const RingDescription ring = *opened()(ring_of_one());
  EXPECT_TRUE(ring.open);
  EXPECT_EQ(joined(joiner(3, "n3"))(ring).status().code(), StatusCode::kForbidden);
  EXPECT_EQ(*opened()(ring), ring);
}

// A vote that a wiped directory has given may be lost with it; and copies are missing there.
TEST(RingEdits, AReplacedDiskKeepsItsVoteOnlyWhileThereAreNoData) {
  const RingDescription closed = *joined(joiner(3, "n3"))(ring_of_one());
  const RingDescription replaced = *replaced_disk("n3", DiskId{3}, DiskId{9})(closed);
  EXPECT_EQ(replaced.find_member("n3")->disk, DiskId{9});
  EXPECT_EQ(replaced.find_member("n3")->node, NodeId{3});
  EXPECT_TRUE(replaced.find_member("n3")->voter);
  EXPECT_FALSE(replaced_disk("n3", DiskId{3}, DiskId{9})(*opened()(closed))->find_member("n3")->voter);
}

TEST(RingEdits, APlaceIsTakenOnce) {
  const RingDescription ring = *replaced_disk("n2", DiskId{1}, DiskId{9})(ring_of_one());
  EXPECT_EQ(*replaced_disk("n2", DiskId{1}, DiskId{9})(ring), ring);
  EXPECT_EQ(replaced_disk("n2", DiskId{1}, DiskId{8})(ring).status().code(), StatusCode::kForbidden);
  EXPECT_EQ(replaced_disk("n7", DiskId{1}, DiskId{8})(ring).status().code(), StatusCode::kForbidden);
}

// ---- changes of an open ring

RingDescription ring_of(std::vector<std::string> names) {
  RingDescription ring = ring_of_one();
  uint64_t id = 10;
  for (const std::string& name : names) ring = *joined(joiner(++id, name))(ring);
  return *opened()(ring);
}
RingDescription stepped(RingDescription ring) {
  ++ring.epoch;
  EXPECT_TRUE(decode_ring_description(encode_ring_description(ring)).ok());
  return ring;
}
std::vector<std::string> owner_names(const RingDescription& ring) {
  std::vector<std::string> names;
  for (const uint16_t owner : ring.owners) names.push_back(ring.members[owner].name);
  return names;
}
RingDescription ended(RingDescription ring) {
  ring = stepped(*switched(ring.epoch)(ring));
  EXPECT_TRUE(ring.change->switched);
  return stepped(*finished(ring.epoch)(ring));
}

TEST(RingChanges, AJoinerIsAMemberAtOnceAndOwnsAndVotesAtTheEnd) {
  const RingDescription before = ring_of({"n1", "n4"});
  RingDescription ring = stepped(*begun_join(joiner(30, "n3"))(before));
  EXPECT_EQ(ring.find_member("n3")->status, MemberStatus::kJoining);
  EXPECT_FALSE(ring.find_member("n3")->voter);
  EXPECT_EQ(owner_names(ring), owner_names(before));
  ring = ended(ring);
  EXPECT_EQ(names_of(ring), (std::vector<std::string>{"n1", "n2", "n3", "n4"}));
  EXPECT_EQ(ring.find_member("n3")->status, MemberStatus::kNormal);
  EXPECT_TRUE(ring.find_member("n3")->voter);
  const std::vector<std::string> owners = owner_names(ring);
  EXPECT_GE(std::count(owners.begin(), owners.end(), "n3"), 3);
}

TEST(RingChanges, ALeaverStaysWithoutPartitionsUntilItIsRemoved) {
  RingDescription ring = stepped(*begun_leave("n2")(ring_of({"n1", "n3"})));
  EXPECT_EQ(ring.find_member("n2")->status, MemberStatus::kLeaving);
  EXPECT_TRUE(ring.find_member("n2")->voter) << "until the end";
  ring = ended(ring);
  EXPECT_FALSE(ring.find_member("n2")->voter);
  const std::vector<std::string> owners = owner_names(ring);
  EXPECT_EQ(std::count(owners.begin(), owners.end(), "n2"), 0);
  EXPECT_EQ(begun_weight("n3", 2)(ring).status().code(), StatusCode::kUnavailable) << "n2 is still there";
  const RingDescription removed_ring = stepped(*removed("n2")(ring));
  EXPECT_EQ(names_of(removed_ring), (std::vector<std::string>{"n1", "n3"}));
  EXPECT_EQ(owner_names(removed_ring), owners);
  EXPECT_EQ(removed("n3")(ring).status().code(), StatusCode::kForbidden) << "it owns partitions";
}

TEST(RingChanges, AReplacementOwnsWhatTheOtherOneDid) {
  const RingDescription before = ring_of({"n1", "n3"});
  RingDescription ring = stepped(*begun_replace("n1", joiner(30, "n9"))(before));
  EXPECT_EQ(ring.members.size(), 4U);
  ring = ended(ring);
  EXPECT_EQ(names_of(ring), (std::vector<std::string>{"n2", "n3", "n9"}));
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
}

}  // namespace
}  // namespace ringkv
