// What a replica's floor says of records that arrive, of absent keys, and of what may go.
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

// ---- Arrivals

TEST_F(ReplicaFloor, AVersionUnderItThatIsNotHeldIsSupersededAndWritesNothing) {
  raise_floor({{kB, 5}});
  commit();
  merge(record_of(value({kB, 5}, "old")));
  EXPECT_TRUE(acknowledged());
  EXPECT_FALSE(fixture_.store->has_staged());
  EXPECT_TRUE(is_absent());
}

TEST_F(ReplicaFloor, AVersionAboveItIsTaken) {
  raise_floor({{kB, 5}});
  merge(record_of(value({kB, 6}, "new")));
  commit();
  EXPECT_EQ(sample::values_of(stored()), Values{"new"});
  EXPECT_EQ(stored().context, context({{kB, 6}})) << "the floor isn't carried on";
}

TEST_F(ReplicaFloor, OfSeveralThatArriveOnlyThoseUnderItFall) {
  raise_floor({{kB, 5}});
  Record both = record_of(value({kB, 4}, "old"));
  both.versions.push_back(value({kC, 1}, "new"));
  both.context.vector.raise(kC, 1);
  merge(both);
  commit();
  EXPECT_EQ(sample::values_of(stored()), Values{"new"});
  EXPECT_TRUE(stored().context.covers({kB, 4}));
}

TEST_F(ReplicaFloor, AVersionUnderItThatIsHeldStays) {
  merge(record_of(value({kB, 4}, "v")));
  raise_floor({{kB, 5}});
  commit();
  merge(record_of(value({kC, 1}, "w")));
  commit();
  EXPECT_EQ(sample::values_of(stored()), (Values{"v", "w"}));
  merge(record_of(value({kB, 4}, "v")));
  EXPECT_TRUE(acknowledged());
  EXPECT_FALSE(fixture_.store->has_staged());
}

TEST_F(ReplicaFloor, OfAClosedLifeAllIsUnderIt) {
  fixture_.store->close_lives({kB});
  merge(record_of(value({kB, 1'000'000}, "late")));
  commit();
  EXPECT_TRUE(acknowledged());
  EXPECT_TRUE(is_absent());
}

// Row B45: whatever of a context the own floor covers is no news.
TEST_F(ReplicaFloor, AContextThatItCoversIsNoReasonToWriteEqualContentAgain) {
  merge(record_of(value({kB, 1}, "v")));
  commit();
  const Record wider = record_of(value({kB, 1}, "v"), {{kC, 7}});
  raise_floor({{kC, 7}});
  commit();
  merge(wider);
  EXPECT_TRUE(acknowledged());
  EXPECT_FALSE(fixture_.store->has_staged());
  merge(record_of(value({kB, 1}, "v"), {{kC, 8}}));
  commit();
  EXPECT_TRUE(stored().context.covers({kC, 8})) << "that is news";
}

// A put that was acknowledged since a floor says that it is superseded counts as held.
TEST_F(ReplicaFloor, IsOnDiskBeforeAnAcknowledgementStandsOnIt) {
  for (const bool sync : {true, false}) {
    const uint64_t counter = sync ? 5 : 7;
    raise_floor({{kB, counter}});
    begin_commit();
    merge(record_of(value({kB, counter}, "old")), nullptr, sync);
    EXPECT_FALSE(acknowledged()) << sync;
    merge(bare({{kB, counter}}), nullptr, sync);
    EXPECT_FALSE(acknowledged()) << sync;
    finish_commit();
    commit();
    EXPECT_TRUE(acknowledged()) << sync;
  }
  EXPECT_EQ(replica_->statistics().arrivals_under_floor, 2U);
}

// ---- Records without versions

TEST_F(ReplicaFloor, ABareContextDropsWhatItCoversAndIsRemembered) {
  merge(record_of(value({kB, 1}, "v")));
  merge(bare({{kB, 1}}));
  commit();
  EXPECT_TRUE(acknowledged());
  EXPECT_TRUE(stored().versions.empty());
  EXPECT_TRUE(stored().context.covers({kB, 1}));
  EXPECT_EQ(fixture_.store->leaves().at(StoreFixture::place("k").leaf).keys, 0U);
  EXPECT_TRUE(is_in_index());
  merge(record_of(value({kB, 1}, "v")));
  commit();
  EXPECT_TRUE(stored().versions.empty()) << "nothing brings it back";
}

TEST_F(ReplicaFloor, ABareContextLeavesWhatItDoesNotCover) {
  merge(record_of(value({kB, 1}, "b")));
  merge(record_of(value({kC, 1}, "c")));
  merge(bare({{kB, 1}}));
  commit();
  EXPECT_EQ(sample::values_of(stored()), Values{"c"});
}

TEST_F(ReplicaFloor, ABareContextOfAnAbsentKeyIsKeptUnlessTheFloorSaysSo) {
  raise_floor({{kB, 1}});
  merge(bare({{kB, 1}}));
  commit();
  EXPECT_TRUE(is_absent());
  merge(bare({{kB, 2}}));
  commit();
  EXPECT_TRUE(stored().context.covers({kB, 2}));
}

TEST_F(ReplicaFloor, WhatAMergeLeavesUnderTheFloorIsErasedAtOnce) {
  merge(record_of(value({kB, 1}, "v")));
  commit();
  raise_floor({{kB, 1}, {kC, 1}});
  merge(bare({{kB, 1}, {kC, 1}}));
  commit();
  EXPECT_TRUE(is_absent());
  EXPECT_FALSE(is_in_index());
  EXPECT_TRUE(fixture_.store->erased(StoreFixture::place("k").partition).covers({kC, 1}));
}

// ---- The floor of a round's source

TEST_F(ReplicaFloor, OfASourceDropsWhatTheSourceDoesNotHold) {
  merge(record_of(value({kB, 1}, "old")));
  commit();
  merge(record_of(value({kC, 1}, "new")), std::make_shared<const Floor>(context({{kB, 3}, {kC, 100}})));
  commit();
  EXPECT_EQ(sample::values_of(stored()), Values{"new"});
  EXPECT_EQ(stored().context.vector, context({{kB, 1}, {kC, 1}}).vector) << "and no more of it is kept";
}

TEST_F(ReplicaFloor, OfASourceLeavesWhatItHasNotSeen) {
  merge(record_of(value({kB, 4}, "own")));
  commit();
  merge(record_of(value({kC, 1}, "new")), std::make_shared<const Floor>(context({{kB, 3}, {kC, 1}})));
  commit();
  EXPECT_EQ(sample::values_of(stored()), (Values{"own", "new"}));
}

TEST_F(ReplicaFloor, OfASourceThatChangesNothingWritesNothing) {
  merge(record_of(value({kB, 4}, "v")));
  commit();
  merge(record_of(value({kB, 4}, "v")), std::make_shared<const Floor>(context({{kB, 9}, {kC, 9}})));
  EXPECT_TRUE(acknowledged());
  EXPECT_FALSE(fixture_.store->has_staged());
}

// ---- Stamps

TEST_F(ReplicaFloor, AStampCoversAllThatTheFloorKnows) {
  raise_floor({{kB, 5}, {kC, 5}});
  stamp("v");
  commit();
  EXPECT_TRUE(stored().context.covers({kB, 5}));
  EXPECT_TRUE(stored().context.covers({kC, 5})) << "another may hold it still";
  merge(record_of(value({kB, 3}, "old")));
  commit();
  EXPECT_EQ(sample::values_of(stored()), Values{"v"});
}

TEST_F(ReplicaFloor, ARecordThatArrivesForAnAbsentKeyTakesUpWhatWasErased) {
  raise_floor({{kB, 5}}, {{kB, 5}});
  merge(record_of(value({kC, 1}, "v")));
  commit();
  EXPECT_EQ(sample::values_of(stored()), Values{"v"});
  EXPECT_TRUE(stored().context.covers({kB, 5}));
}

// ---- What may go

TEST_F(ReplicaFloor, ATombstoneGoesOnceItsWholeContextIsUnderIt) {
  merge(record_of(tombstone({kB, 2}), {{kC, 3}}));
  commit();
  for (const auto& [floor, goes] : {std::pair<std::vector<Dot>, bool>{{{kB, 2}}, false}, {{{kC, 3}}, true}}) {
    raise_floor(floor);
    erase();
    commit();
    EXPECT_EQ(is_absent(), goes);
  }
  EXPECT_FALSE(is_in_index());
  EXPECT_EQ(fixture_.store->erased(StoreFixture::place("k").partition).vector,
            context({{kB, 2}, {kC, 3}}).vector);
  merge(record_of(value({kC, 3}, "old")));
  commit();
  EXPECT_TRUE(is_absent());
}

TEST_F(ReplicaFloor, AValueThatStaysIsNeverErased) {
  merge(record_of(value({kB, 1}, "v")));
  raise_floor({{kB, 1}});
  commit();
  erase(UINT64_MAX / 2);
  read_disk();
  commit();
  EXPECT_EQ(sample::values_of(stored()), Values{"v"});
}

TEST_F(ReplicaFloor, AnExpiredValueGoesOnceTheClocksOfAllSaySo) {
  Version version = value({kB, 1}, "v");
  version.expires_at_ms = 500'000;
  merge(record_of(version));
  raise_floor({{kB, 1}});
  commit();
  erase(504'999'000);
  commit();
  EXPECT_FALSE(is_absent());
  erase(505'000'000);
  commit();
  EXPECT_TRUE(is_absent());
}

// It is looked at again when its turn comes.
TEST_F(ReplicaFloor, AKeyThatWasWrittenMeanwhileStays) {
  fixture_.disk.set_blocking_share(1, 1);
  merge(record_of(tombstone({kB, 1})));
  raise_floor({{kB, 1}});
  merge(record_of(value({kB, 2}, "new"), {{kB, 1}}));
  erase();
  EXPECT_EQ(replica_->waiting(), 2U) << "the key's latch, and its read";
  read_disk();
  commit();
  read_disk();
  EXPECT_EQ(sample::values_of(stored()), Values{"new"});
  EXPECT_EQ(replica_->waiting(), 0U);
  EXPECT_EQ(replica_->latched_bytes(), 0U);
}

TEST_F(ReplicaFloor, AnAbsentKeyIsErasedForNothing) {
  raise_floor({{kB, 1}}, {{kB, 1}});
  commit();
  erase();
  EXPECT_FALSE(fixture_.store->has_staged());
}

}  // namespace
}  // namespace ringkv
