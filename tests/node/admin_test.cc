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

TEST(Admin, APlanIsDraftedCommittedAndCancelledByEpoch) {
  RecordingStore store;
  Admin admin(store);
  EXPECT_TRUE(admin.plan({PlanJoin{"n4"}, PlanReplicas{2}}).ok());
  EXPECT_EQ(store.last<ClientPlan>().steps, (std::vector<PlanStep>{PlanJoin{"n4"}, PlanReplicas{2}}));
  EXPECT_EQ(*admin.commit_plan(7), 8U);
  const uint64_t first = store.last<ClientCommitPlan>().commit_id;
  EXPECT_NE(first, 0U);
  EXPECT_EQ(store.last<ClientCommitPlan>().epoch, 7U);
  EXPECT_TRUE(admin.commit_plan(7).ok());
  EXPECT_NE(store.last<ClientCommitPlan>().commit_id, first);
  store.reply.status = {StatusCode::kStaleEpoch, "epoch 9"};
  EXPECT_EQ(admin.commit_plan(7).status().code(), StatusCode::kStaleEpoch);
  EXPECT_EQ(admin.cancel_plan(7).code(), StatusCode::kStaleEpoch);
  EXPECT_EQ(store.last<ClientCancelPlan>().epoch, 7U);
}

// Who holds the data is asked how much it is; who can't say is named.
TEST(Admin, APlanIsShownWithWhatItMoves) {
  RecordingStore store;
  Admin admin(store);
  PlanOutline outline;
  outline.report.stage = "planned";
  outline.shares = {{"n1", "n4", "n2", {3, 4}}};
  store.reply.body = outline;
  const Result<PlanReport> report = admin.show_plan();
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(store.last<ClientPartitionSizes>().node, "n2");
  ASSERT_EQ(report->moves.size(), 1U);
  EXPECT_EQ(report->moves[0].partitions, 2U);
  ASSERT_EQ(report->warnings.size(), 1U) << "the sizes were answered with something else";
  EXPECT_NE(report->warnings[0].find("n2"), std::string::npos);
  store.reply.body = std::vector<PartitionSize>{{3, 10, 2000}};
  EXPECT_EQ(admin.partition_sizes("n1")->at(0).keys, 10U);
}

TEST(Admin, AsksAMemberHowItsCopiesConverge) {
  RecordingStore store;
  Admin admin(store, std::chrono::minutes(10));

  store.reply.body = std::vector<HintInfo>{{"n3", "n1", 5, 600}};
  EXPECT_EQ(admin.hints("n1")->at(0).bytes, 600U);
  EXPECT_EQ(store.last<ClientHints>().node, "n1");
  store.reply.body = std::vector<LagInfo>{{"n3", "n1", 1.5, 2, 3, ""}};
  EXPECT_EQ(admin.lag("n1")->at(0).behind, 3U);
  EXPECT_EQ(store.last<ClientLag>().node, "n1");
  store.reply.body = TransferReport{.node = "n1", .taken_in = 9};
  EXPECT_EQ(admin.transfers("n1")->taken_in, 9U);
  EXPECT_EQ(store.last<ClientTransfers>().node, "n1");
  store.reply.body = {};
  EXPECT_TRUE(admin.throttle(7).ok());
  EXPECT_EQ(store.last<ClientThrottle>().bytes_per_second, 7U);
  store.reply.body = RepairReport{.differences = 7};
  EXPECT_EQ(admin.repair("n1", 17, false)->differences, 7U);
  EXPECT_EQ(store.last<ClientRepair>().node, "n1");
  EXPECT_EQ(store.last<ClientRepair>().partition, 17U);
  EXPECT_EQ(store.asked.back().timeout, std::chrono::minutes(10));
  EXPECT_TRUE(admin.repair("", {}, true).ok());
  EXPECT_EQ(store.last<ClientRepair>().partition, std::nullopt);
  EXPECT_TRUE(store.last<ClientRepair>().accept_loss);
  store.reply.body = PurgeReport{.erased = 8};
  EXPECT_EQ(admin.purge("n1")->erased, 8U);
  EXPECT_EQ(store.last<ClientPurge>().node, "n1");
  store.reply.body = ScrubReport{.records = 9};
  EXPECT_EQ(admin.scrub("n1")->records, 9U);
  EXPECT_EQ(store.last<ClientScrub>().node, "n1");

  store.reply = {
      .status = unavailable("n1 can't be reached"), .body = {}, .epoch = 0, .boot = {}, .seen = {}};
  EXPECT_EQ(admin.hints("n1").status(), unavailable("n1 can't be reached"));
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
  EXPECT_TRUE(admin.skew_clock("n2", std::chrono::seconds(-5)).ok());
  EXPECT_EQ(store.last<ClientFault>().kind, ClientFault::Kind::kClock);
  EXPECT_EQ(store.last<ClientFault>().peer, "n2");
  EXPECT_EQ(store.last<ClientFault>().offset_ms, -5000);
  store.reply.status = forbidden("faults are not enabled");
  EXPECT_EQ(admin.heal_traffic(), forbidden("faults are not enabled"));
  EXPECT_EQ(store.last<ClientFault>().kind, ClientFault::Kind::kHeal);
}

}  // namespace
}  // namespace ringkv
