#include "replication/replica.h"

#include <gtest/gtest.h>

#include "tests/replication/peer_fixture.h"
#include "tests/replication/round_fixture.h"
#include "tests/storage/sample_records.h"

namespace ringkv {
namespace {

using sample::context;
using sample::kA;
using Values = std::vector<std::string>;

TEST(Replica, AcknowledgesOnlyWhatIsOnDisk) {
  PeerFixture peer;
  peer.ask(1, ClientPut{.key = "k", .value = "v"});
  EXPECT_EQ(peer.answer(1), nullptr);
  peer.commit();
  ASSERT_NE(peer.answer(1), nullptr);
  EXPECT_TRUE(peer.answer(1)->status.ok());
}

// The engine shows a write before it is synced; a power cut could take back what a reader saw.
TEST(Replica, AGetWaitsWhileItsKeyIsBeingWritten) {
  PeerFixture peer;
  peer.ask(1, ClientPut{.key = "k", .value = "v"});
  const Commit under_way = peer.begin_commit();
  peer.ask(2, ClientGet{.key = "k"});
  EXPECT_EQ(peer.answer(2), nullptr);
  peer.finish(under_way);
  ASSERT_NE(peer.answer(2), nullptr);
  EXPECT_EQ(std::get<GetResult>(peer.answer(2)->body).values, Values{"v"});
}

TEST(Replica, AGetOfAKeyThatIsOnlyStagedAnswersWithWhatIsCommitted) {
  PeerFixture peer;
  peer.put("k", "old");
  peer.ask(1, ClientPut{.key = "k", .value = "new"});
  EXPECT_EQ(peer.get("k").values, Values{"old"});
}

// A key that is written all the time must not starve its readers.
TEST(Replica, AGetWaitsForOneCommitAndNoMore) {
  PeerFixture peer;
  peer.ask(1, ClientPut{.key = "k", .value = "1"});
  const Commit under_way = peer.begin_commit();
  peer.ask(2, ClientGet{.key = "k"});
  peer.ask(3, ClientPut{.key = "k", .value = "2"});
  peer.finish(under_way);
  ASSERT_NE(peer.answer(2), nullptr);
  EXPECT_EQ(std::get<GetResult>(peer.answer(2)->body).values, Values{"1"});
}

TEST(Replica, ABlindPutReplacesAllThatIsHere) {
  PeerFixture peer;
  peer.put("k", "1");
  peer.put("k", "2");
  EXPECT_EQ(peer.get("k").values, Values{"2"});
}

// Row B103: the same context used for two puts: both are kept.
TEST(Replica, AContextReplacesExactlyWhatItCovers) {
  PeerFixture peer;
  const std::string seen = peer.put("k", "1").context.bytes();
  peer.put("k", "2", seen);
  peer.put("k", "3", seen);
  EXPECT_EQ(peer.get("k").values, (Values{"2", "3"}));

  peer.put("k", "4", peer.get("k").context.bytes());
  EXPECT_EQ(peer.get("k").values, Values{"4"});
}

TEST(Replica, AnEmptyContextReplacesNothing) {
  PeerFixture peer;
  peer.put("k", "1");
  peer.put("k", "2", "");
  EXPECT_EQ(peer.get("k").values, (Values{"1", "2"}));
}

// Siblings need the values of the record; a put that is on its way to the disk comes first.
TEST(Replica, APutThatKeepsSiblingsWaitsForTheCommitOfItsKey) {
  PeerFixture peer;
  peer.ask(1, ClientPut{.key = "k", .value = "1"});
  peer.ask(2, ClientPut{.key = "k", .value = "2", .context = ""});
  peer.ask(3, ClientPut{.key = "k", .value = "3", .context = ""});
  peer.commit();
  EXPECT_NE(peer.answer(1), nullptr);
  EXPECT_EQ(peer.answer(2), nullptr);
  peer.commit();
  EXPECT_NE(peer.answer(2), nullptr);
  peer.commit();
  EXPECT_NE(peer.answer(3), nullptr);
  EXPECT_EQ(peer.get("k").values, (Values{"1", "2", "3"}));
  EXPECT_EQ(peer.replica->waiting(), 0U);
}

// The takeover of its partition may have read this copy before it is written, and the coordinator would count
// it by the lists of a ring that is over.
TEST(Replica, WhatWaitsWhileTheRingChangesIsRefusedIfItCameByTheRingBefore) {
  RoundFixture cluster(2);
  RoundFixture::Node& node = cluster.node(1);
  std::map<RequestNumber, Status> answers;
  cluster.on_client = [&](auto&, const auto& letter) {
    if (const auto* ack = std::get_if<ReplicaPutAck>(&letter.message)) answers[ack->request] = ack->status;
  };
  const auto put = [&](RequestNumber request, Source source) {
    Record record{context({{kA, request}}), {{.dot = {kA, request}, .value = "v"}}};
    const Place place = RoundFixture::place("k");
    cluster.act(node, [&](auto& outbox) {
      node.replica->on(NodeId{9},
                       ReplicaPut{.request = request,
                                  .key = "k",
                                  .record = node.store->encoded(place, "k", record).bytes,
                                  .source = source,
                                  .deadline = cluster.now + std::chrono::seconds(5)},
                       cluster.now, cluster.wall_now, outbox);
    });
  };
  node.disk->set_blocking_share(1, 1);  // the first waits for the disk, and the others for it
  for (const RequestNumber request : {1, 2, 3}) put(request, Source::kPut);
  put(4, Source::kReadRepair);
  put(5, Source::kHint);
  RingDescription next = cluster.ring.description();
  ++next.epoch;
  const Ring ring(next);
  cluster.act(node, [&](auto& outbox) { node.replica->set_ring(ring, outbox); });
  put(6, Source::kPut);
  cluster.run();
  for (const RequestNumber request : {1, 2, 3, 4})
    EXPECT_EQ(answers.at(request).code(), StatusCode::kStaleEpoch) << request;
  EXPECT_TRUE(answers.at(5).ok());
  EXPECT_TRUE(answers.at(6).ok());
  EXPECT_EQ(cluster.values(1, "k").size(), 1U) << "the later one covers the hint";
  EXPECT_EQ(node.replica->waiting(), 0U);
  EXPECT_EQ(node.replica->latched_bytes(), 0U);
  EXPECT_EQ(node.replica->statistics().refused_by_ring, 4U);
}

TEST(Replica, StampsOfAKeyKeepTheirOrderWhileTheFirstWaitsForTheDisk) {
  PeerFixture peer;
  peer.put("k", "0");
  peer.restart();
  peer.fixture.disk.set_blocking_share(1, 1);
  peer.ask(1, ClientPut{.key = "k", .value = "1"});
  peer.ask(2, ClientPut{.key = "k", .value = "2"});
  peer.ask(3, ClientPut{.key = "other", .value = "x"});
  EXPECT_EQ(peer.reads.size(), 2U);
  peer.read_disk();
  peer.commit();
  ASSERT_NE(peer.answer(2), nullptr);
  peer.fixture.disk.set_blocking_share(0, 1);
  EXPECT_EQ(peer.get("k").values, Values{"2"});
  EXPECT_EQ(peer.get("other").values, Values{"x"});
  EXPECT_EQ(peer.replica->waiting(), 0U);
}

// What a worker read may be of a batch that isn't synced yet.
TEST(Replica, AGetFromTheDiskWaitsForACommitThatBeganMeanwhile) {
  PeerFixture peer;
  peer.put("k", "1");
  peer.restart();
  peer.fixture.disk.set_blocking_share(1, 1);
  peer.ask(2, ClientGet{.key = "k"});
  peer.fixture.disk.set_blocking_share(0, 1);
  peer.ask(1, ClientPut{.key = "k", .value = "2"});
  const Commit under_way = peer.begin_commit();
  peer.read_disk();
  EXPECT_EQ(peer.answer(2), nullptr);
  peer.finish(under_way);
  EXPECT_NE(peer.answer(2), nullptr);
}

TEST(Replica, ADiskThatCanNotReadIsAnErrorThatNamesTheKey) {
  PeerFixture peer;
  peer.put("k", "1");
  peer.restart();
  peer.fixture.disk.set_blocking_share(1, 1);
  peer.ask(1, ClientGet{.key = "k"});
  peer.ask(2, ClientPut{.key = "k", .value = "2"});
  peer.fixture.disk.fail(DiskCall::kGet, 1, DiskError::kInputOutput);
  peer.read_disk();
  ASSERT_NE(peer.answer(1), nullptr);
  EXPECT_FALSE(peer.answer(1)->status.ok());
  peer.commit();
  EXPECT_TRUE(peer.answer(2)->status.ok());
}

// Row B97.
TEST(Replica, SiblingsAreCappedUnlessAPutMakesThemFewer) {
  PeerFixture peer;
  for (size_t i = 0; i < kSiblingsMax; ++i) peer.put("k", std::to_string(i), "");
  const std::string seen = peer.get("k").context.bytes();
  peer.ask(1, ClientPut{.key = "k", .value = "one too many", .context = ""});
  ASSERT_NE(peer.answer(1), nullptr);
  EXPECT_EQ(peer.answer(1)->status.code(), StatusCode::kTooManySiblings);
  EXPECT_NE(peer.answer(1)->status.message().find("'k'"), std::string::npos);
  EXPECT_EQ(peer.get("k").values.size(), kSiblingsMax);

  peer.put("k", "resolved", seen);
  EXPECT_EQ(peer.get("k").values, Values{"resolved"});
}

// Row B96: two polite clients in turn.
TEST(Replica, PoliteClientsInTurnNeverPileUpSiblings) {
  PeerFixture peer;
  std::set<std::string> all;
  for (int round = 0; round < 100; ++round) {
    for (const char* client : {"a", "b"}) {
      const GetResult seen = peer.get("k");
      EXPECT_LE(seen.values.size(), 2U);
      std::string merged;
      for (const std::string& value : seen.values) merged = merged.size() > value.size() ? merged : value;
      peer.put("k", merged + client, seen.context.bytes());
    }
  }
  EXPECT_EQ(peer.get("k").values[0].size(), 200U);
}

// Row B101: put, delete, put within one tick of the clock.
TEST(Replica, APutAfterADeleteWithinOneTickIsNotLost) {
  for (const char* bucket : {"", "lww"}) {
    PeerFixture peer;
    for (int i = 0; i < 100; ++i) {
      const std::string key = "k" + std::to_string(i);
      peer.put(key, "1", std::nullopt, bucket);
      peer.ask(++peer.last_request, ClientPut{.bucket = bucket, .key = key, .tombstone = true});
      peer.commit();
      EXPECT_TRUE(peer.get(key, bucket).values.empty());
      peer.put(key, "2", std::nullopt, bucket);
      EXPECT_EQ(peer.get(key, bucket).values, Values{"2"});
    }
  }
}

// Row B88.
TEST(Replica, AnEmptyValueIsNotAMissingValue) {
  PeerFixture peer;
  peer.put("k", "");
  EXPECT_EQ(peer.get("k").values, Values{""});
  peer.remove("k");
  EXPECT_TRUE(peer.get("k").values.empty());
  peer.put("k", "");
  EXPECT_EQ(peer.get("k").values, Values{""});
}

TEST(Replica, InALwwBucketThereIsOneValueWhateverTheContexts) {
  PeerFixture peer;
  peer.put("k", "1", "", "lww");
  peer.wall_now -= 500'000'000;  // the clock goes back
  peer.put("k", "2", "", "lww");
  EXPECT_EQ(peer.get("k", "lww").values, Values{"2"});
}

// Found by the simulator: a get's context covers what the reader saw committed, and no sibling that was on
// its way to the disk meanwhile, also where the context is filled from the floor.
TEST(Replica, AContextNeverCoversASiblingThatItsReaderDidNotSee) {
  PeerFixture peer;
  for (int life = 0; life < 20; ++life) {  // until contexts are stripped
    peer.put("k", "old");
    peer.restart();
  }
  peer.put("k", "old");
  ASSERT_TRUE(peer.fixture.read("k").context.stripped);
  peer.ask(1, ClientPut{.key = "k", .value = "unseen", .context = ""});
  const std::string seen = peer.get("k").context.bytes();
  peer.commit();
  peer.put("k", "new", seen);
  EXPECT_EQ(peer.get("k").values, (Values{"unseen", "new"}));
}

// "b\0k" and k of bucket b have the same SHA-1; they are two keys all the same.
TEST(Replica, KeysWithOneTokenAndOneSha1AreNotMixedUp) {
  RingDescription description = PeerFixture::one_member();
  description.buckets = {
      BucketDescription(), {.name = "b"}, {.name = "lww", .conflict = BucketConflict::kLastWriterWins}};
  PeerFixture peer(description);
  const std::string twin("b\0k", 3);
  peer.put("k", "in b", std::nullopt, "b");
  peer.put(twin, "in the default bucket");
  EXPECT_EQ(peer.get("k", "b").values, Values{"in b"});
  EXPECT_EQ(peer.get(twin).values, Values{"in the default bucket"});
  peer.ask(1, ClientPut{.bucket = "b", .key = "k", .value = "1"});
  peer.ask(2, ClientPut{.key = twin, .value = "2"});
  peer.commit();
  EXPECT_EQ(peer.get("k", "b").values, Values{"1"});
  EXPECT_EQ(peer.get(twin).values, Values{"2"});
  EXPECT_EQ(peer.fixture.store->leaves().keys(), 2U);
}

// Contexts have a checksum and no signature: what they claim must be possible.
TEST(Replica, AContextThatClaimsTheImpossibleIsRefused) {
  PeerFixture peer;
  peer.put("k", "v");
  const Place place = StoreFixture::place("k");
  const auto refused = [&](const CausalContext& context) {
    peer.ask(++peer.last_request,
             ClientPut{.key = "k", .value = "x", .context = encode_client_context(context, place.token)});
    return peer.answer(peer.last_request) != nullptr &&
           peer.answer(peer.last_request)->status.code() == StatusCode::kInvalidArgument;
  };
  CausalContext future;
  future.vector.raise(peer.fixture.store->actor(), 100);
  EXPECT_TRUE(refused(future));
  CausalContext crowd;
  for (uint64_t i = 1; i <= kContextActorsMax; ++i) crowd.vector.raise({NodeId{i + 100}, Boot{i}}, 1);
  EXPECT_TRUE(refused(crowd));
  EXPECT_EQ(peer.get("k").values, Values{"v"});
  EXPECT_EQ(peer.replica->waiting(), 0U);
}

// Forged, or honest and from a node whose clock was days ahead: siblings don't need its time, so it is left
// out.
TEST(Replica, AContextFromTheEndOfTimeStopsNoTime) {
  PeerFixture peer;
  peer.put("k", "v");
  const Token token = StoreFixture::place("k").token;
  CausalContext context = *decode_client_context(peer.get("k").context.bytes(), token);
  context.highest_time = ~uint64_t{0};
  peer.put("k", "x", encode_client_context(context, token));
  EXPECT_EQ(peer.get("k").values, Values{"x"});
  EXPECT_LT(peer.fixture.store->highest_time(), peer.wall_now + 1'000'000);
}

// Where the later time wins it can't be left out, nor taken.
TEST(Replica, AContextFromTheEndOfTimeIsRefusedWhereTimeDecides) {
  RingDescription description = PeerFixture::one_member();
  description.buckets = {BucketDescription(), {.name = "lww", .conflict = BucketConflict::kLastWriterWins}};
  PeerFixture peer(description);
  const CausalContext context{.vector = {}, .highest_time = ~uint64_t{0}};
  const std::string bytes =
      encode_client_context(context, place_of({.partitions = kTestPartitions}, "lww", "k").token);
  peer.ask(1, ClientPut{.bucket = "lww", .key = "k", .value = "x", .context = bytes});
  ASSERT_NE(peer.answer(1), nullptr);
  EXPECT_EQ(peer.answer(1)->status.code(), StatusCode::kUnavailable);
  EXPECT_EQ(peer.replica->waiting(), 0U);
}

// What it has seen was stamped by a node whose clock is ahead.
TEST(Replica, AnHonestContextIsTakenWhateverTheClocks) {
  PeerFixture peer;
  peer.put("k", "v");
  CausalContext context =
      *decode_client_context(peer.get("k").context.bytes(), StoreFixture::place("k").token);
  context.highest_time = peer.wall_now + 60'000'000;
  peer.put("k", "x", encode_client_context(context, StoreFixture::place("k").token));
  EXPECT_EQ(peer.get("k").values, Values{"x"});
}

// Row B93: counters that a client has seen from an earlier life never cover what this one stamps.
TEST(Replica, AContextOfAnEarlierLifeNeverReplacesANewerWrite) {
  PeerFixture peer;
  for (int i = 0; i < 10; ++i) peer.put("k", std::to_string(i));
  const std::string old = peer.get("k").context.bytes();
  peer.fixture.close();
  peer.fixture.disk.wipe();
  peer.fixture.open();
  peer.store_is_open = false;
  peer.restart();
  peer.put("k", "new");
  peer.put("k", "newer", old);
  EXPECT_EQ(peer.get("k").values, (Values{"new", "newer"}));
}

}  // namespace
}  // namespace ringkv
