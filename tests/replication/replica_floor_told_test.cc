// What a replica tells others of its floor, and whom it refuses.
#include "tests/replication/replica_floor_fixture.h"

namespace ringkv {
namespace {

using sample::context;
using sample::kB;
using sample::kC;
using sample::record_of;
using sample::tombstone;
using sample::value;
using Values = std::vector<std::string>;

// ---- What others are told

TEST_F(ReplicaFloor, IsToldWithTheRecordOnceAllThatItClaimsIsOnDisk) {
  stamp("v");
  raise_floor({{kC, 9}});
  ask({.with_floor = true});
  EXPECT_EQ(last<ReplicaGetReply>(), nullptr);
  commit();
  ASSERT_NE(last<ReplicaGetReply>(), nullptr);
  EXPECT_TRUE(reply().with_floor);
  EXPECT_TRUE(reply().floor.covers({kC, 9}));
  EXPECT_TRUE(reply().floor.covers({fixture_.store->actor(), 1}));
  EXPECT_EQ(sample::values_of(reply().record), Values{"v"});
  EXPECT_EQ(reply().record.context.vector.counter_of(kC), 0U) << "beside the context, not in it";
}

TEST_F(ReplicaFloor, IsNotToldUnlessItIsAskedFor) {
  raise_floor({{kC, 9}});
  commit();
  ask({});
  EXPECT_FALSE(reply().with_floor);
  EXPECT_TRUE(reply().floor.empty());
}

TEST_F(ReplicaFloor, ClosedLivesAreToldBesideIt) {
  fixture_.store->close_lives({kB});
  commit();
  ask({.with_floor = true});
  EXPECT_EQ(reply().closed, std::vector<Actor>{kB});
}

// The floor that was noted doesn't cover it yet: who held the value that was deleted would win.
TEST_F(ReplicaFloor, ARecordThatIsErasedBetweenItsFloorAndItsReadIsRemembered) {
  merge(record_of(tombstone({kB, 2}), {{kC, 3}}));
  commit();
  stamp("of another batch", context({{kC, 1}}));  // keeps the answer waiting
  fixture_.put("other", "x");
  ask({.with_floor = true});
  ASSERT_EQ(last<ReplicaGetReply>(), nullptr);
  merge(bare({{kB, 2}, {kC, 3}, {fixture_.store->actor(), 1}}));
  raise_floor({{kB, 2}, {kC, 3}});
  erase();
  commit();
  ASSERT_NE(last<ReplicaGetReply>(), nullptr);
  ASSERT_TRUE(is_absent());
  EXPECT_FALSE(reply().floor.covers({kC, 3}));
  EXPECT_TRUE(reply().record.context.covers({kC, 3}));
  EXPECT_TRUE(reply().record.context.covers({kB, 2}));

  ask({.with_floor = true});
  EXPECT_TRUE(reply().record.context.vector.empty()) << "its floor says so now";
}

TEST_F(ReplicaFloor, AScanThatAsksForFloorsIsToldThemOnceWhatTheyClaimIsOnDisk) {
  raise_floor({{kB, 5}});
  fixture_.put("other", "x");
  scan(true);
  EXPECT_TRUE(slices_.empty()) << "it waits for what is staged";
  commit();
  ASSERT_EQ(slices_.size(), 1U);
  read_disk();
  ASSERT_EQ(last<ReplicaScanReply>()->floors.size(), 1U);
  EXPECT_TRUE(last<ReplicaScanReply>()->floors[0].floor.covers({kB, 5}));
}

TEST_F(ReplicaFloor, AScanThatAsksForNoFloorWaitsForNothing) {
  raise_floor({{kB, 5}}, {{kB, 5}});
  fixture_.put("other", "x");
  scan();
  EXPECT_EQ(slices_.size(), 1U);
  read_disk();
  EXPECT_TRUE(last<ReplicaScanReply>()->floors.empty());
}

TEST_F(ReplicaFloor, ARecordThatIsErasedWhileAScanReadsIsRememberedThere) {
  merge(record_of(tombstone({kB, 2}), {{kC, 3}}));
  commit();
  scan(true);
  raise_floor({{kB, 2}, {kC, 3}});
  erase();
  commit();
  read_disk();
  const auto* reply = last<ReplicaScanReply>();
  EXPECT_FALSE(reply->floors.at(0).floor.covers({kC, 3}));
  ASSERT_EQ(reply->entries.size(), 1U);
  EXPECT_EQ(reply->entries[0].storage_key, StoreFixture::place("k").storage_key);
  const Record remembered = *decode_record(*reply->entries[0].record);
  EXPECT_TRUE(remembered.versions.empty());
  EXPECT_TRUE(remembered.context.covers({kC, 3}));
}

TEST_F(ReplicaFloor, AScanThatHasReadTheRecordBeforeItWentTellsItOnce) {
  merge(record_of(tombstone({kB, 2})));
  commit();
  scan(true);
  SliceRead read = read_from(*fixture_.engine, slices_.at(0));
  raise_floor({{kB, 2}});
  erase();
  commit();
  answer(std::move(read));
  ASSERT_EQ(last<ReplicaScanReply>()->entries.size(), 1U);
  EXPECT_EQ(decode_record(*last<ReplicaScanReply>()->entries[0].record)->versions.size(), 1U);
}

// ---- Who may ask

TEST_F(ReplicaFloor, KeysOfOthersAreForbiddenAndNamed) {
  RingDescription description = PeerFixture::one_member();
  description.members.push_back({.node = kOther, .disk = DiskId{2}, .name = "n2", .rack = "b"});
  description.owners.assign(kTestPartitions, 1);
  const Ring foreign(std::move(description));
  merge(record_of(value({kB, 1}, "v")));
  commit();
  MessageOutbox nothing;
  replica_->set_ring(foreign, nothing);
  const auto is_refusal = [](const Status& status) {
    return status.code() == StatusCode::kForbidden && status.message().find('k') != std::string::npos;
  };
  merge(record_of(value({kB, 2}, "w"), {{kB, 1}}));
  EXPECT_TRUE(is_refusal(last<ReplicaPutAck>()->status));
  stamp("w");
  EXPECT_TRUE(is_refusal(last<StampPutAck>()->status));
  ask({});
  EXPECT_TRUE(is_refusal(reply().status));
  ask({.digest = true});
  EXPECT_TRUE(is_refusal(reply().status));
  EXPECT_FALSE(fixture_.store->has_staged());
  ask({.inspect = true});
  EXPECT_EQ(sample::values_of(reply().record), Values{"v"}) << "people may look";
}

// ---- Inspections

TEST_F(ReplicaFloor, AnInspectionTellsWhatATombstoneWaitsFor) {
  merge(record_of(tombstone({kB, 2}), {{kC, 3}}));
  raise_floor({{kB, 2}});
  commit();
  ask({.inspect = true});
  EXPECT_EQ(reply().blocked_by, (std::vector<Dot>{{kC, 3}}));
  raise_floor({{kC, 3}});
  commit();
  ask({.inspect = true});
  EXPECT_TRUE(reply().blocked_by.empty());
}

TEST_F(ReplicaFloor, AnInspectionOfAValueThatStaysIsBlockedByNothing) {
  merge(record_of(value({kB, 2}, "v")));
  commit();
  ask({.inspect = true});
  EXPECT_TRUE(reply().blocked_by.empty());
}

TEST_F(ReplicaFloor, AnInspectionShowsHintsFromTheDiskToo) {
  const std::string& storage_key = StoreFixture::place("k").storage_key;
  for (const uint64_t intended : {7, 8}) {
    const Record hint = record_of(value({kB, intended}, std::to_string(intended)));
    hints_.stage(NodeId{intended}, storage_key, *StoreFixture::encoded("k", hint), "");
  }
  ask({.inspect = true});
  EXPECT_EQ(reply().hints.size(), 2U) << "those that are staged";
  commit();
  hints_.committed(commit_.number);
  fixture_.disk.set_blocking_share(1, 1);
  ask({.inspect = true});
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(reads_.size(), 1U) << "one after the other, then the record";
    read_disk();
  }
  ASSERT_EQ(reply().request, request_);
  ASSERT_EQ(reply().hints.size(), 2U);
  std::map<NodeId, Values> shown;
  for (const auto& hint : reply().hints) shown[hint.intended] = sample::values_of(hint.record);
  EXPECT_EQ(shown, (std::map<NodeId, Values>{{NodeId{7}, {"7"}}, {NodeId{8}, {"8"}}}));
}

}  // namespace
}  // namespace ringkv
