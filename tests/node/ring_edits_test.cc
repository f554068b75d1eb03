#include "node/ring_edits.h"

#include <gtest/gtest.h>

#include "node/views.h"
#include "replication/ring.h"
#include "tests/node/ring_samples.h"

namespace ringkv {
namespace {

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
  EXPECT_EQ(names_in(ring.members), (std::vector<std::string>{"n1", "n2", "n3"}));
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

}  // namespace
}  // namespace ringkv
