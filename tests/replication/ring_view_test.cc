#include "replication/ring_view.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "tests/replication/cluster_fixture.h"

namespace ringkv {
namespace {

// So many holders that each read quorum meets one.
TEST(RingView, HoldersForConfirmationMeetTheSmallestReadQuorumOfAnyBucket) {
  RingDescription description = ClusterFixture::description(5, 5);
  const Ring by_quorum(description);
  RingView view(NodeId{1}, by_quorum, &token_of);
  EXPECT_EQ(view.holders_for_confirmation(5), 3U);
  EXPECT_EQ(view.holders_for_confirmation(3), 2U);
  EXPECT_EQ(view.holders_for_confirmation(2), 1U);
  EXPECT_EQ(view.holders_for_confirmation(1), 1U);

  description.buckets[1].read_quorum = 1;
  const Ring from_one(description);
  view.set_ring(from_one);
  EXPECT_EQ(view.holders_for_confirmation(5), 5U);
  description.buckets[1].read_quorum = 4;
  const Ring from_four(description);
  view.set_ring(from_four);
  EXPECT_EQ(view.holders_for_confirmation(5), 3U);
  EXPECT_EQ(view.holders_for_confirmation(2), 1U);
}

TEST(RingView, OneCanAlwaysReachOneself) {
  const Ring ring(ClusterFixture::description(3, 3));
  RingView view(NodeId{1}, ring, &token_of);
  view.set_view({.unreachable = {NodeId{1}, NodeId{2}}});
  EXPECT_TRUE(view.is_reachable(NodeId{1}));
  EXPECT_FALSE(view.is_reachable(NodeId{2}));
  EXPECT_TRUE(view.is_reachable(NodeId{3}));
}

TEST(RingView, OwnersAreInPreferenceOrderAndHaveNames) {
  const Ring ring(ClusterFixture::description(5, 3));
  const RingView view(NodeId{1}, ring, &token_of);
  const std::vector<NodeId> owners = view.owners_of(4);
  EXPECT_EQ(view.names_of(owners), "n5, n1 and n2");
  EXPECT_EQ(view.name_of(NodeId{0xAB}), hex(0xAB)) << "one that is no member";
}

TEST(RingView, NodesOutsideTheListStandInAsAWalkClockwiseMeetsThem) {
  RingDescription description = ClusterFixture::description(6, 3);
  const Ring ring(description);
  RingView view(NodeId{1}, ring, &token_of);
  EXPECT_EQ(view.names_of(view.stand_ins(4)), "n2, n3 and n4") << "its owners are n5, n6 and n1";

  // n3 has no partitions, as one that leaves; n4 lies in n2's rack, and is passed over on the list.
  for (uint16_t& owner : description.owners) owner = owner == 2 ? 3 : owner;
  description.members[3].rack = "r2";
  const Ring next(description);
  view.set_ring(next);
  EXPECT_EQ(view.names_of(view.owners_of(1)), "n2, n5 and n6");
  EXPECT_EQ(view.names_of(view.stand_ins(1)), "n4 and n1");

  const Ring small(ClusterFixture::description(3, 3));
  view.set_ring(small);
  EXPECT_TRUE(view.stand_ins(0).empty());
}

// ---- while the ring changes

// n6 is to take n3's partitions.
RingDescription moving(bool switched = false) {
  RingDescription description = ClusterFixture::description(6, 3);
  for (uint16_t& owner : description.owners) owner = owner == 5 ? 4 : owner;
  description.change = {.members = description.members, .owners = description.owners, .replicas = 3};
  for (uint16_t& owner : description.change->owners) owner = owner == 2 ? 5 : owner;
  description.change->switched = switched;
  return description;
}

TEST(RingView, GetsAskTheNextOwnersOnceTheRingIsSwitched) {
  const Ring begun(moving()), after(moving(true));
  RingView view(NodeId{1}, begun, &token_of);
  EXPECT_EQ(view.names_of(view.owners_of(1)), "n2, n3 and n4");
  view.set_ring(after);
  EXPECT_EQ(view.names_of(view.owners_of(1)), "n2, n6 and n4");
}

TEST(RingView, PutsReachBothListsOfAPartitionThatMoves) {
  for (const bool switched : {false, true}) {
    const Ring ring(moving(switched));
    const RingView view(NodeId{1}, ring, &token_of);
    const WriteLists lists = view.write_lists(1);
    EXPECT_EQ(view.names_of(lists.present), "n2, n3 and n4");
    EXPECT_EQ(view.names_of(lists.next), "n2, n6 and n4");
    EXPECT_EQ(view.names_of(view.holders_of(1)), "n2, n3, n4 and n6");
    EXPECT_TRUE(view.write_lists(3).next.empty()) << "of n4, n5 and n1";
    EXPECT_TRUE(ring.is_owner(NodeId{3}, 1));
    EXPECT_TRUE(ring.is_owner(NodeId{6}, 1));
    EXPECT_FALSE(ring.is_owner(NodeId{5}, 1));
    EXPECT_FALSE(ring.is_owner(NodeId{6}, 3));
  }
}

TEST(RingView, WhoIsOnEitherListStandsInForNobody) {
  const Ring ring(moving());
  const RingView view(NodeId{1}, ring, &token_of);
  EXPECT_EQ(view.names_of(view.stand_ins(1)), "n5 and n1");
}

TEST(RingView, AListInAnotherOrderDoesNotMove) {
  RingDescription description = ClusterFixture::description(3, 3);
  description.change = {.members = description.members, .owners = description.owners, .replicas = 3};
  for (uint16_t& owner : description.change->owners) owner = static_cast<uint16_t>((owner + 1) % 3);
  const Ring ring(description);
  const RingView view(NodeId{1}, ring, &token_of);
  EXPECT_TRUE(view.write_lists(0).next.empty());
}

// Tables count positions in their own members.
TEST(RingView, TheNextOwnersAreFoundByName) {
  RingDescription description = moving();
  description.change->members.erase(description.change->members.begin());  // n1
  for (uint16_t& owner : description.change->owners)
    owner = static_cast<uint16_t>(owner == 0 ? 0 : owner - 1);
  const Ring ring(description);
  const RingView view(NodeId{2}, ring, &token_of);
  EXPECT_EQ(view.names_of(view.write_lists(1).next), "n2, n6 and n4");
  EXPECT_EQ(view.names_of(view.write_lists(0).next), "n2, n6 and n4");
}

TEST(RingView, WhatIsToBeHeardCoversEveryAcknowledgementAndEveryConfirmedGet) {
  RingDescription description = ClusterFixture::description(5, 5);
  const Ring by_quorum(description);
  RingView view(NodeId{1}, by_quorum, &token_of);
  EXPECT_EQ(view.holders_to_hear(3), 2U);
  EXPECT_EQ(view.holders_to_hear(5), 3U);
  description.buckets[1].write_quorum = 1;
  const Ring from_one(description);
  view.set_ring(from_one);
  EXPECT_EQ(view.holders_to_hear(5), 5U) << "whoever has acknowledged it may be any of them";
  description.buckets[1].write_quorum = 5;
  description.buckets[1].read_quorum = 4;
  const Ring to_all(description);
  view.set_ring(to_all);
  EXPECT_EQ(view.holders_to_hear(5), 4U);
}

}  // namespace
}  // namespace ringkv
