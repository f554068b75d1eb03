#include "replication/admission.h"

#include <gtest/gtest.h>

#include "base/limits.h"
#include "tests/replication/cluster_fixture.h"

namespace ringkv {
namespace {

constexpr Load kHalfFull{.requests = 5, .requests_max = 10, .held_bytes = 500, .held_bytes_max = 1000};

RingDescription ring_with_bucket() {
  RingDescription ring;
  ring.buckets = {BucketDescription(), {.name = "b"}};
  return ring;
}

TEST(Admission, TakesWhatFitsAndNoMore) {
  EXPECT_TRUE(check_room(kHalfFull, 500).ok());
  EXPECT_EQ(check_room(kHalfFull, 501).code(), StatusCode::kOverloaded);
  Load full = kHalfFull;
  full.requests = 10;
  EXPECT_EQ(check_room(full, 0).code(), StatusCode::kOverloaded);
}

// A request that is larger than all the room there is must be taken some time: when nothing else is there.
TEST(Admission, OfAnIdleNodeTakesARequestOfAnySize) {
  Load idle = kHalfFull;
  idle.held_bytes = 0;
  EXPECT_TRUE(check_room(idle, 5000).ok());
}

TEST(Admission, RefusesAKeyOrABucketThatCanNotBe) {
  const RingDescription ring = ring_with_bucket();
  EXPECT_TRUE(check_target(ring, "b", "k").ok());
  EXPECT_EQ(check_target(ring, "nobody", "k").status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(check_target(ring, "", "").status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(check_target(ring, "", std::string(kKeyBytesMax + 1, 'k')).status().code(),
            StatusCode::kTooLarge);
}

TEST(Admission, RefusesAPutThatCanNotBe) {
  const RingDescription ring = ring_with_bucket();
  EXPECT_TRUE(check_put(ring, {.key = "k", .value = "v"}).ok());
  EXPECT_EQ(check_put(ring, {.key = "k", .value = std::string(kValueBytesMax + 1, 'v')}).status().code(),
            StatusCode::kTooLarge);
  EXPECT_EQ(check_put(ring, {.key = "k", .ttl_ms = kTtlMillisecondsMax + 1}).status().code(),
            StatusCode::kInvalidArgument);
}

TEST(Admission, AQuorumIsWhatIsAskedForOrTheBucketsOrMoreThanHalf) {
  EXPECT_EQ(*quorum_for("w", 3, 1, 3), 3U);
  EXPECT_EQ(*quorum_for("w", 0, 1, 3), 1U);
  EXPECT_EQ(*quorum_for("w", 0, 0, 3), 2U);
  EXPECT_EQ(*quorum_for("w", 0, 3, 1), 1U) << "a list is never longer than the members";
  EXPECT_EQ(quorum_for("w", 4, 0, 3).status().code(), StatusCode::kInvalidArgument);
}

TEST(Admission, APutHoldsItsKeyItsValueAndItsContext) {
  EXPECT_EQ(bytes_of({.key = "kk", .value = "vvv", .context = "cccc"}), 9U);
  EXPECT_EQ(bytes_of({.key = "kk", .tombstone = true}), 2U);
}

// Of a key in partition 0.
Status check_put(const RingView& view, uint32_t w, bool stand_ins = false) {
  const Result<WriteTargets> targets = write_targets(view, 0, w, 0);
  return targets.ok() ? check_reachable(view, "k", *targets, stand_ins) : targets.status();
}

TEST(Admission, APutNeedsEnoughOwnersInReachAndNamesTheOthers) {
  const Ring ring(ClusterFixture::description(3, 3));
  RingView view(NodeId{1}, ring, &token_of);
  view.set_view({.unreachable = {NodeId{3}}});
  EXPECT_TRUE(check_put(view, 2).ok());
  const Status refused = check_put(view, 3, true);
  EXPECT_EQ(refused.code(), StatusCode::kUnavailable);
  EXPECT_NE(refused.message().find("n3 can't be reached"), std::string::npos);
}

TEST(Admission, NodesOutsideTheListStandInForOwners) {
  const Ring ring(ClusterFixture::description(5, 3));
  RingView view(NodeId{1}, ring, &token_of);
  view.set_view({.unreachable = {NodeId{2}, NodeId{3}, NodeId{5}}});  // of n1, n2, n3; n4 is left
  EXPECT_FALSE(check_put(view, 2).ok()) << "only owners count";
  EXPECT_TRUE(check_put(view, 2, true).ok());
  const Status refused = check_put(view, 3, true);
  EXPECT_EQ(refused.code(), StatusCode::kUnavailable);
  EXPECT_NE(refused.message().find("n2, n3 and n5 can't be reached"), std::string::npos) << refused.message();
}

// n4 can't for two.
TEST(Admission, ANodeStandsInForOneOwner) {
  const Ring ring(ClusterFixture::description(4, 3));
  RingView view(NodeId{1}, ring, &token_of);
  view.set_view({.unreachable = {NodeId{2}, NodeId{3}}});
  EXPECT_TRUE(check_put(view, 2, true).ok());
  EXPECT_FALSE(check_put(view, 3, true).ok());
}

// n4 is to take n3's place.
RingDescription moving() {
  RingDescription description = ClusterFixture::description(5, 3);
  description.change = {.members = description.members, .owners = description.owners, .replicas = 3};
  for (uint16_t& owner : description.change->owners) owner = owner == 2 ? 3 : owner;
  return description;
}

TEST(Admission, WhileTheRingChangesAPutNeedsEnoughOfBothLists) {
  const Ring ring(moving());
  RingView view(NodeId{1}, ring, &token_of);
  const Result<WriteTargets> targets = write_targets(view, 0, 0, 3);
  ASSERT_TRUE(targets.ok());
  EXPECT_EQ(targets->needed, 3U);
  EXPECT_EQ(targets->needed_next, 3U);
  EXPECT_EQ(write_targets(view, 3, 0, 0)->needed_next, 0U) << "it doesn't move";
  EXPECT_EQ(write_targets(view, 0, 4, 0).status().code(), StatusCode::kInvalidArgument);

  view.set_view({.unreachable = {NodeId{2}, NodeId{4}}});
  const Status refused = check_put(view, 2);
  EXPECT_EQ(refused.code(), StatusCode::kUnavailable) << "n1 and n3 are two of the present list";
  EXPECT_NE(refused.message().find("n1, n2 and n4"), std::string::npos) << refused.message();
  EXPECT_TRUE(check_put(view, 2, true).ok()) << "n5 stands in";
}

// n2's hint counts in both lists; of n3 and n4 each is on one.
TEST(Admission, WhileTheRingChangesANodeStandsInOnce) {
  const Ring ring(moving());
  RingView view(NodeId{1}, ring, &token_of);
  const auto check = [&](uint32_t w) {
    return check_reachable(view, "k", *write_targets(view, 0, w, 0), /*stand_ins=*/true);
  };
  view.set_view({.unreachable = {NodeId{2}}});
  EXPECT_TRUE(check(3).ok());
  view.set_view({.unreachable = {NodeId{3}, NodeId{4}}});
  EXPECT_TRUE(check(2).ok());
  EXPECT_FALSE(check(3).ok()) << "n5 would have to stand in for both";
}

}  // namespace
}  // namespace ringkv
