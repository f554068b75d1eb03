#include "ringkv/admin.h"

#include <gtest/gtest.h>

#include "tests/node/recording_store.h"

namespace ringkv {
namespace {

TEST(Admin, AsksForEachThingAndHandsItBack) {
  RecordingStore store;
  Admin admin(store, std::chrono::milliseconds(700));

  store.reply.body = ClusterStatus{9, true, {}};
  EXPECT_EQ(admin.status()->epoch, 9U);
  EXPECT_TRUE(admin.status()->change_under_way);
  EXPECT_EQ(store.asked.back().timeout, std::chrono::milliseconds(700));
  store.reply.body = RingInfo{9, "digest", 3, 4096, "balanced", {}, {}};
  EXPECT_EQ(admin.ring(true)->digest, "digest");
  EXPECT_TRUE(store.last<ClientRing>().owners);
  store.reply.body = Explanation{1, 2, 3, {}, {}};
  EXPECT_EQ(admin.explain("k", "b")->partition, 2U);
  EXPECT_EQ(store.last<ClientExplain>().key, "k");
  EXPECT_EQ(store.last<ClientExplain>().bucket, "b");
  store.reply.body = LocalRecord{true, {}, {}};
  EXPECT_TRUE(admin.local_get("n1", "k", "b")->found);
  EXPECT_EQ(store.last<ClientLocalGet>().node, "n1");
  EXPECT_EQ(store.last<ClientLocalGet>().key, "k");
  EXPECT_EQ(store.last<ClientLocalGet>().bucket, "b");
  store.reply.body = Statistics{{"puts", 7}};
  EXPECT_EQ(admin.statistics("n1", true)->at("puts"), 7);
  EXPECT_TRUE(store.last<ClientStatistics>().reset_latencies);
  store.reply.body = std::vector<BucketInfo>{{"b", "lww", 1, 2, 3}};
  EXPECT_EQ(admin.buckets()->at(0).name, "b");
}

TEST(Admin, ChangesOfBucketsAreOkOrSayWhyNot) {
  RecordingStore store;
  Admin admin(store);
  EXPECT_TRUE(admin.create_bucket({"b", "lww", 1, 2, 3}).ok());
  EXPECT_EQ(store.last<ClientCreateBucket>().bucket.conflict, "lww");
  store.reply.status = not_found("bucket 'c'");
  EXPECT_EQ(admin.change_bucket("c", {.r = 1}), not_found("bucket 'c'"));
  EXPECT_EQ(store.last<ClientChangeBucket>().name, "c");
  EXPECT_EQ(store.last<ClientChangeBucket>().change.r, 1U);
}

TEST(Admin, FaultsNameTheOtherMember) {
  RecordingStore store;
  Admin admin(store);
  EXPECT_TRUE(admin.drop_traffic("n2").ok());
  EXPECT_EQ(store.last<ClientFault>().kind, ClientFault::Kind::kDrop);
  EXPECT_EQ(store.last<ClientFault>().peer, "n2");
  EXPECT_TRUE(admin.delay_traffic("n3", std::chrono::milliseconds(150)).ok());
  EXPECT_EQ(store.last<ClientFault>().kind, ClientFault::Kind::kDelay);
  EXPECT_EQ(store.last<ClientFault>().peer, "n3");
  EXPECT_EQ(store.last<ClientFault>().delay_ms, 150U);
  EXPECT_EQ(admin.delay_traffic("n3", std::chrono::milliseconds(-1)).code(), StatusCode::kInvalidArgument);
  store.reply.status = forbidden("faults are not enabled");
  EXPECT_EQ(admin.heal_traffic(), forbidden("faults are not enabled"));
  EXPECT_EQ(store.last<ClientFault>().kind, ClientFault::Kind::kHeal);
}

}  // namespace
}  // namespace ringkv
