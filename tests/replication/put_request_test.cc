#include "replication/put_request.h"

#include <gtest/gtest.h>

namespace ringkv {
namespace {

constexpr NodeId kA{1};
constexpr NodeId kB{2};
constexpr NodeId kC{3};

PutRequest put_to(std::vector<NodeId> owners, uint32_t write_quorum) {
  return PutRequest({1, 1}, {.owners = std::move(owners), .write_quorum = write_quorum}, Time());
}

StampPutAck ack(NodeId replica) { return {.replica = replica, .status = {}, .context = CausalContext()}; }

// W acknowledgements answer the client; the slowest replica does not matter.
TEST(PutRequest, SucceedsOnceWriteQuorumAcks) {
  PutRequest put = put_to({kA, kB, kC}, 2);
  put.on_ack(ack(kA));
  EXPECT_FALSE(put.decided());
  put.on_ack(ack(kC));
  EXPECT_TRUE(put.decided());
  EXPECT_TRUE(put.refusal().ok());
  EXPECT_EQ(put.acknowledged_by(), (std::vector<NodeId>{kA, kC}));
}

TEST(PutRequest, CountsAReplicaOnce) {
  PutRequest put = put_to({kA, kB, kC}, 2);
  put.on_ack(ack(kA));
  put.on_ack(ack(kA));
  EXPECT_FALSE(put.decided());
  EXPECT_EQ(put.acknowledged_by().size(), 1U);
}

TEST(PutRequest, ARefusalBeforeAnyAcknowledgementMeansThatNothingWasWritten) {
  PutRequest put = put_to({kA}, 1);
  put.on_ack({.replica = kA, .status = too_many_siblings("100"), .context = {}});
  EXPECT_TRUE(put.decided());
  EXPECT_EQ(put.refusal().code(), StatusCode::kTooManySiblings);
}

TEST(PutRequest, ARefusalAfterAnAcknowledgementIsNoRefusalOfThePut) {
  PutRequest put = put_to({kA, kB}, 2);
  put.on_ack(ack(kA));
  put.on_ack({.replica = kB, .status = unavailable("down"), .context = {}});
  EXPECT_TRUE(put.refusal().ok());
  EXPECT_FALSE(put.decided());
}

TEST(PutRequest, WhatComesAfterTheDecisionChangesNothing) {
  PutRequest put = put_to({kA, kB}, 1);
  put.on_ack(ack(kA));
  put.on_ack({.replica = kB, .status = unavailable("late"), .context = {}});
  EXPECT_TRUE(put.refusal().ok());
  EXPECT_EQ(put.acknowledged_by().size(), 1U);
}

}  // namespace
}  // namespace ringkv
