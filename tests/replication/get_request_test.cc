#include "replication/get_request.h"

#include <gtest/gtest.h>

namespace ringkv {
namespace {

constexpr NodeId kA{1};
constexpr NodeId kB{2};
constexpr NodeId kC{3};

GetRequest get_from(std::vector<NodeId> owners, uint32_t read_quorum,
                    Conflict conflict = Conflict::kSiblings) {
  return GetRequest({1, 1}, {.owners = std::move(owners), .read_quorum = read_quorum, .conflict = conflict},
                    Time());
}

ReplicaGetReply reply(NodeId replica, uint64_t counter, const std::string& value) {
  const Actor actor{replica, Boot{1}};
  Record record;
  record.context.vector.raise(actor, counter);
  record.context.highest_time = counter;
  record.versions = {{.dot = {actor, counter}, .time = counter, .value = value}};
  return {.replica = replica, .record = record};
}

TEST(GetRequest, IsDecidedOnceReadQuorumAnswered) {
  GetRequest get = get_from({kA, kB, kC}, 2);
  get.on_reply(reply(kA, 1, "a"));
  EXPECT_FALSE(get.decided());
  get.on_reply(reply(kB, 1, "b"));
  EXPECT_TRUE(get.succeeded());
}

TEST(GetRequest, MergesWhatTheReplicasHold) {
  GetRequest get = get_from({kA, kB}, 2);
  get.on_reply(reply(kA, 1, "a"));
  get.on_reply(reply(kB, 2, "b"));
  EXPECT_EQ(get.record().versions.size(), 2U);
}

TEST(GetRequest, OfAnLwwBucketKeepsTheLatest) {
  GetRequest get = get_from({kA, kB}, 2, Conflict::kLastWriterWins);
  get.on_reply(reply(kB, 2, "later"));
  get.on_reply(reply(kA, 1, "earlier"));
  ASSERT_EQ(get.record().versions.size(), 1U);
  EXPECT_EQ(get.record().versions[0].value, "later");
}

TEST(GetRequest, FailsOnceTooFewCanAnswer) {
  GetRequest get = get_from({kA, kB, kC}, 2);
  get.on_reply({.replica = kA, .status = corruption("table"), .record = {}});
  EXPECT_FALSE(get.decided());
  get.on_reply({.replica = kB, .status = unavailable("down"), .record = {}});
  EXPECT_TRUE(get.decided());
  EXPECT_FALSE(get.succeeded());
  EXPECT_EQ(get.failure().code(), StatusCode::kUnavailable);
}

}  // namespace
}  // namespace ringkv
