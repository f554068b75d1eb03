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

TEST(Views, TheRingShowsItsOwnersOnlyWhenAsked) {
  const Ring ring(ring_of_one());
  EXPECT_TRUE(ring_info(ring, false).owners.empty());
  EXPECT_EQ(ring_info(ring, true).owners, std::vector<std::string>(16, "n1"));
  EXPECT_EQ(ring_info(ring, false).digest.size(), 40U);
}

TEST(Views, TheRingShowsWhatIsPlannedAndWhoWaits) {
  RingDescription description = ring_of_one();
  EXPECT_EQ(ring_info(Ring(description), false).stage, "none");
  description.waiting = {{.node = NodeId{4}, .disk = DiskId{4}, .name = "n4"}};
  description.plan = {
      .steps = {PlanJoin{"n4"}},
      .leads_to = {.members = description.members, .owners = description.owners, .replicas = 3}};
  const RingInfo info = ring_info(Ring(description), false);
  EXPECT_EQ(info.stage, "planned");
  EXPECT_EQ(info.steps, (std::vector<std::string>{"join n4"}));
  EXPECT_EQ(info.waiting, (std::vector<std::string>{"n4"}));
}

TEST(Views, APartitionsSizeIsTheSumOfItsLeaves) {
  LeafTable leaves(16);
  leaves.set(3 * kLeavesPerPartition + 7, {.keys = 2, .bytes = 20});
  leaves.set(3 * kLeavesPerPartition + 9, {.keys = 1, .bytes = 5});
  leaves.set(4 * kLeavesPerPartition, {});
  const std::vector<PartitionSize> sizes = partition_sizes(leaves);
  ASSERT_EQ(sizes.size(), 1U);
  EXPECT_EQ(sizes[0].partition, 3U);
  EXPECT_EQ(sizes[0].keys, 3U);
  EXPECT_EQ(sizes[0].bytes, 25U);
}

TEST(Views, AMemberIsShownAsItSaysItIs) {
  PeerState state;
  state.hints = 3;
  state.hint_bytes = 4096;
  state.lag_ms = 1500;
  state.incomplete_partitions = 7;
  MemberInfo info;
  add_state(info, state);
  EXPECT_EQ(info.hints, 3U);
  EXPECT_EQ(info.hint_bytes, 4096U);
  EXPECT_EQ(info.lag_seconds, 1.5);
  EXPECT_EQ(info.incomplete_partitions, 7U);
}

// "0 hints" of one that can't be asked would be a promise.
TEST(Views, OfAMemberThatIsDownNobodyKnowsWhatItKeeps) {
  PeerState state;
  state.keys = 5;
  MemberInfo info;
  add_state(info, state);
  ASSERT_EQ(info.hints, 0U);
  show_down(info);
  EXPECT_EQ(info.state, "down");
  EXPECT_EQ(info.hints, std::nullopt);
  EXPECT_EQ(info.hint_bytes, std::nullopt);
  EXPECT_EQ(info.lag_seconds, std::nullopt);
  EXPECT_EQ(info.keys, 5U);
}

}  // namespace
}  // namespace ringkv
