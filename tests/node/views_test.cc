#include "node/views.h"

#include <gtest/gtest.h>

namespace ringkv {
namespace {

RingDescription ring_of_one() {
  RingDescription ring;
  ring.replicas = 3;
  ring.members = {{.node = NodeId{1}, .disk = DiskId{1}, .name = "n1", .rack = "a"}};
  ring.owners.assign(16, 0);
  ring.buckets = {BucketDescription()};
  ring.secret = std::string(32, 's');
  return ring;
}

TEST(Views, ANewBucketTakesItsPlaceInOrderOfName) {
  RingDescription ring = ring_of_one();
  for (const char* name : {"m", "z", "b"}) ring = *with_new_bucket(std::move(ring), {.name = name});
  std::vector<std::string> names;
  for (const BucketInfo& bucket : bucket_infos(ring)) names.push_back(bucket.name);
  EXPECT_EQ(names, (std::vector<std::string>{"", "b", "m", "z"}));
  EXPECT_TRUE(decode_ring_description(encode_ring_description(ring)).ok());
}

TEST(Views, AWrongBucketIsRefusedByName) {
  const RingDescription ring = *with_new_bucket(ring_of_one(), {.name = "b"});
  const auto code = [&](const BucketInfo& bucket) { return with_new_bucket(ring, bucket).status().code(); };
  EXPECT_EQ(code({.name = "b"}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code({.name = ""}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code({.name = "a/b"}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code({.name = "c", .conflict = "newest"}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code({.name = "c", .r = 4}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code({.name = "c", .w = 4}), StatusCode::kInvalidArgument);
}

TEST(Views, AChangeOfABucketLeavesTheRestAsItWas) {
  RingDescription ring = *with_new_bucket(ring_of_one(), {.name = "b", .conflict = "lww", .r = 1, .w = 2});
  ring = *with_changed_bucket(std::move(ring), "b", {.ttl_ms = 5000});
  const BucketInfo bucket = bucket_infos(ring)[1];
  EXPECT_EQ(bucket.conflict, "lww");
  EXPECT_EQ(bucket.r, 1U);
  EXPECT_EQ(bucket.w, 2U);
  EXPECT_EQ(bucket.ttl_ms, 5000U);
  EXPECT_EQ(with_changed_bucket(ring, "nobody", {}).status().code(), StatusCode::kInvalidArgument);
}

TEST(Views, TheRingShowsItsOwnersOnlyWhenAsked) {
  const Ring ring(ring_of_one());
  EXPECT_TRUE(ring_info(ring, false).owners.empty());
  EXPECT_EQ(ring_info(ring, true).owners, std::vector<std::string>(16, "n1"));
  EXPECT_EQ(ring_info(ring, false).digest.size(), 40U);
}

}  // namespace
}  // namespace ringkv
