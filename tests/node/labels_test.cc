#include "node/labels.h"

#include <gtest/gtest.h>

#include "tests/node/ring_samples.h"

namespace ringkv {
namespace {

constexpr NodeId kNode{11};

RingDescription ring() {
  RingDescription ring = ring_of({"n1", "n3"});
  ring.epoch = 7;
  ring.members[0].weight = 1.5;
  return ring;
}

TEST(Labels, WhatIsNotGivenIsTheRings) {
  EXPECT_TRUE(check_labels({}, ring(), kNode).ok());
  EXPECT_TRUE(check_labels({.rack = "b", .weight = 1.5}, ring(), kNode).ok());
}

TEST(Labels, AnotherOneIsRefusedWithBoth) {
  const Status rack = check_labels({.rack = "z", .weight = 1.5}, ring(), kNode);
  EXPECT_EQ(rack.code(), StatusCode::kInvalidArgument);
  for (const char* said :
       {"n1 has rack b in the ring (epoch 7)", "--rack z", "--rack b", "`kvctl plan rack n1 z`"})
    EXPECT_NE(rack.message().find(said), std::string::npos) << rack.message();
  const Status weight = check_labels({.rack = {}, .weight = 1.0}, ring(), kNode);
  EXPECT_EQ(weight.code(), StatusCode::kInvalidArgument);
  for (const char* said : {"weight 1.5", "--weight 1:", "`kvctl plan weight n1 1`"})
    EXPECT_NE(weight.message().find(said), std::string::npos) << weight.message();
}

// It may be needed for the change to end.
TEST(Labels, WhileAChangeIsUnderWayBothAreRight) {
  RingDescription changing = ring();
  changing.change = {.members = changing.members, .owners = changing.owners, .replicas = changing.replicas};
  changing.change->members[0].rack = "z";
  EXPECT_TRUE(check_labels({.rack = "b", .weight = {}}, changing, kNode).ok());
  EXPECT_TRUE(check_labels({.rack = "z", .weight = {}}, changing, kNode).ok());
  EXPECT_FALSE(check_labels({.rack = "y", .weight = {}}, changing, kNode).ok());
}

TEST(Labels, WhoIsNoMemberIsJudgedElsewhere) {
  EXPECT_TRUE(check_labels({.rack = "z", .weight = {}}, ring(), NodeId{99}).ok());
}

}  // namespace
}  // namespace ringkv
