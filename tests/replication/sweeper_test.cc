#include "replication/sweeper.h"

#include <gtest/gtest.h>

#include "storage/storage_key.h"
#include "tests/replication/cluster_fixture.h"
#include "tests/replication/equal_floors.h"

namespace ringkv {
namespace {

using std::chrono::milliseconds;

class SweeperTest : public testing::Test {
 protected:
  explicit SweeperTest(size_t nodes = 1) : cluster_(nodes) {
    cluster_.sweeps = true;
    cluster_.observe = [this](const auto& letter) {
      steps_ += std::holds_alternative<ReadTransient>(letter.message) ? 1 : 0;
    };
  }

  void put(const std::string& key, std::optional<uint64_t> ttl_ms = std::nullopt) {
    ASSERT_TRUE(cluster_.put(1, {.key = key, .value = "v", .ttl_ms = ttl_ms}).status.ok());
  }
  void remove(const std::string& key) {
    ASSERT_TRUE(cluster_.put(1, {.key = key, .tombstone = true}).status.ok());
  }
  // A record that came from elsewhere, straight into the store.
  void hold(const std::string& key, const Record& record) {
    const Place place = cluster_.place(key);
    RecordStore& store = *node().fixture.store;
    store.stage(place, store.encoded(place, key, record), **store.newest_head(place));
    cluster_.run();
  }
  static Record tombstone_of(const Actor& actor, uint64_t counter, HybridTime time = 1) {
    Record record;
    record.context.vector.raise(actor, counter);
    record.context.highest_time = time;
    record.versions = {{.dot = {actor, counter}, .kind = VersionKind::kTombstone, .time = time}};
    return record;
  }

  void run_for(Duration time) {
    for (Duration passed{}; passed < time; passed += milliseconds(10)) {
      cluster_.pass(milliseconds(10));
      cluster_.run();
    }
  }
  PurgeReport purged() {
    const uint64_t request = cluster_.purge(1);
    for (int i = 0; i < 1000 && cluster_.answer(request) == nullptr; ++i) run_for(milliseconds(10));
    EXPECT_EQ(cluster_.code(request), StatusCode::kOk);
    const auto* report = std::get_if<PurgeReport>(&cluster_.answer(request)->body);
    return report == nullptr ? PurgeReport() : *report;
  }
  ClusterFixture::Node& node(uint64_t number = 1) { return cluster_.node(number); }
  std::vector<std::string> index(uint64_t number = 1) {
    std::vector<std::string> keys;
    const Result<TransientSlice> slice =
        transient_slice(*node(number).fixture.engine, {.records_max = 10'000});
    for (const TransientSlice::Entry& entry : slice->entries) {
      keys.push_back(entry.storage_key);
    }
    return keys;
  }
  size_t records(uint64_t number = 1) {
    const auto cursor = node(number).fixture.engine->seek(Family::kData, "", "");
    size_t count = 0;
    for (; cursor->valid(); cursor->next()) ++count;
    return count;
  }
  double statistic(const std::string& name) {
    Statistics statistics;
    node().sweeper->add_to(statistics, cluster_.wall_now);
    return statistics.contains(name) ? statistics.at(name) : -1;
  }

  ClusterFixture cluster_;
  size_t steps_ = 0;
};

constexpr Actor kElsewhere{NodeId{7}, Boot{0xbeef}};

TEST_F(SweeperTest, TombstonesUnderTheFloorGoAndTheIndexWithThem) {
  put("gone");
  put("stays");
  remove("gone");
  ASSERT_EQ(index().size(), 1U);
  run_for(milliseconds(100));
  EXPECT_EQ(records(), 1U);
  EXPECT_TRUE(index().empty());
  EXPECT_EQ(cluster_.get(1, "stays").values.size(), 1U);
  EXPECT_EQ(node().environment->statistics.tombstones_erased, 1U);
  EXPECT_EQ(node().environment->statistics.expired_erased, 0U);
}

TEST_F(SweeperTest, AWholeTurnAnswersAPurgeOnceWhatWentIsOffTheDisk) {
  for (int i = 0; i < 5; ++i) remove("k" + std::to_string(i));
  cluster_.on_answer = [&](const ClientAnswer& answer) {
    EXPECT_TRUE(!std::holds_alternative<PurgeReport>(answer.reply.body) || records() == 0);
  };
  const PurgeReport report = purged();
  EXPECT_EQ(report.erased, 5U);
  EXPECT_EQ(report.blocked, 0U);
  EXPECT_TRUE(report.blocked_by.empty());
}

TEST_F(SweeperTest, APurgeThatComesWhileATurnIsUnderWayWaitsForTheNext) {
  cluster_.pass(milliseconds(10));  // begins the first
  ASSERT_EQ(node().transient_reads.size(), 1U);
  const uint64_t request = cluster_.purge(1);
  cluster_.run();
  cluster_.pass(milliseconds(10));
  EXPECT_EQ(cluster_.answer(request), nullptr);
  remove("k");
  run_for(milliseconds(300));
  ASSERT_NE(cluster_.answer(request), nullptr);
  EXPECT_EQ(std::get<PurgeReport>(cluster_.answer(request)->body).erased, 1U);
}

TEST_F(SweeperTest, WhatNoFloorReachesIsBlockedAndNamed) {
  hold("a", tombstone_of(kElsewhere, 3, cluster_.wall_now - 50'000'000));
  hold("b", tombstone_of(kElsewhere, 4, cluster_.wall_now - 40'000'000));
  remove("mine");
  const PurgeReport report = purged();
  EXPECT_EQ(report.erased, 1U);
  EXPECT_EQ(report.blocked, 2U);
  ASSERT_EQ(report.blocked_by.size(), 1U);
  EXPECT_NE(report.blocked_by[0].find("beef"), std::string::npos) << report.blocked_by[0];
  EXPECT_EQ(records(), 2U);
  ASSERT_EQ(node().sweeper->blocked().size(), 1U);
  EXPECT_EQ(node().sweeper->blocked().at(kElsewhere).records, 2U);
  EXPECT_EQ(statistic("transient.records"), 2);
  EXPECT_EQ(statistic("transient.blocked"), 2);
  EXPECT_EQ(statistic("transient.oldest_blocked_s"), 50);
  EXPECT_EQ(statistic("transient.blocked_by." + node().environment->view.name_of(kElsewhere.node) +
                      ".000000000000beef"),
            2);

  Floor floor;
  floor.vector.raise(kElsewhere, 4);
  for (const std::string key : {"a", "b"})
    node().fixture.store->raise_floor(cluster_.place(key).partition, floor, {});
  EXPECT_EQ(purged().erased, 2U);
  EXPECT_TRUE(node().sweeper->blocked().empty());
  EXPECT_EQ(statistic("transient.records"), 0);
  EXPECT_EQ(statistic("transient.oldest_blocked_s"), 0);
}

// Of a context every entry counts, not the version's dot alone.
TEST_F(SweeperTest, ATombstoneWaitsForAllThatItsContextCovers) {
  Record record = tombstone_of(node().fixture.store->actor(), 0);
  record.versions[0].dot = node().fixture.store->next_dot();
  record.context.vector.raise(record.versions[0].dot.actor, record.versions[0].dot.counter);
  record.context.vector.raise(kElsewhere, 9);
  hold("k", record);
  EXPECT_EQ(purged().blocked, 1U);
  node().fixture.store->close_lives({kElsewhere});
  EXPECT_EQ(purged().erased, 1U);
}

TEST_F(SweeperTest, ABareContextGoesLikeATombstone) {
  Record record = tombstone_of(kElsewhere, 3);
  record.versions.clear();
  hold("k", record);
  EXPECT_EQ(purged().blocked, 1U);
  node().fixture.store->close_lives({kElsewhere});
  EXPECT_EQ(purged().erased, 1U);
  EXPECT_EQ(records(), 0U);
}

TEST_F(SweeperTest, KeysThatAreNoTransientOnesAnyMoreAreForgotten) {
  put("k", 9'000'000);
  ASSERT_EQ(index().size(), 1U);
  put("k");
  ASSERT_EQ(index().size(), 1U) << "it is taken out lazily";
  const PurgeReport report = purged();
  cluster_.run();
  EXPECT_EQ(report.erased, 0U);
  EXPECT_TRUE(index().empty());
  EXPECT_EQ(statistic("transient.records"), 0);
}

// ---- When it turns

TEST_F(SweeperTest, TurnsAgainWhenFloorsWereRaisedAndNotMoreOftenThanEvery200Milliseconds) {
  run_for(milliseconds(500));
  EXPECT_EQ(steps_, 1U) << "a start looks once";
  for (int i = 0; i < 100; ++i) {
    node().environment->floors_raised = true;
    run_for(milliseconds(10));
  }
  EXPECT_GE(steps_, 4U);
  EXPECT_LE(steps_, 6U);
}

TEST_F(SweeperTest, LooksOnceAMinuteWhereNothingHappens) {
  run_for(milliseconds(500));
  run_for(std::chrono::seconds(59));
  EXPECT_EQ(steps_, 1U);
  run_for(std::chrono::seconds(2));
  EXPECT_EQ(steps_, 2U);
}

TEST_F(SweeperTest, TakesOneStepATickAndWaitsForItsErasures) {
  for (int i = 0; i < 2'500; ++i) hold("k" + std::to_string(i), tombstone_of(kElsewhere, i + 1U));
  node().fixture.store->close_lives({kElsewhere});
  cluster_.auto_commit = false;
  cluster_.pass(milliseconds(10));
  for (int i = 0; i < 5; ++i) {
    cluster_.run();
    cluster_.pass(milliseconds(10));
  }
  EXPECT_EQ(steps_, 1U) << "what it let go isn't on disk yet";
  cluster_.auto_commit = true;
  for (size_t step = 2; step <= 3; ++step) {
    cluster_.run();
    cluster_.pass(milliseconds(10));
    EXPECT_EQ(steps_, step);
  }
  run_for(milliseconds(20));
  EXPECT_EQ(records(), 0U);
  EXPECT_EQ(node().environment->statistics.tombstones_erased, 2'500U);
}

// It stays, and holds up nothing for long.
TEST_F(SweeperTest, AKeyThatIsWrittenMeanwhileIsNotCounted) {
  remove("k");
  cluster_.pass(milliseconds(10));
  ASSERT_EQ(node().transient_reads.size(), 1U);
  TransientRead read = read_from(*node().fixture.engine, node().transient_reads[0]);
  node().transient_reads.clear();
  put("k");
  const uint64_t request = cluster_.purge(1);
  MessageOutbox outbox;
  node().sweeper->on(read, {cluster_.now, cluster_.wall_now}, outbox);
  ASSERT_EQ(outbox.envelopes().size(), 1U);
  Message erase = std::move(outbox.envelopes()[0].message);
  MessageOutbox erased;
  node().replica->on(std::get<EraseRecord>(std::move(erase)), cluster_.now, cluster_.wall_now, erased);
  EXPECT_TRUE(erased.envelopes().empty());
  run_for(milliseconds(400));
  ASSERT_NE(cluster_.answer(request), nullptr);
  EXPECT_EQ(std::get<PurgeReport>(cluster_.answer(request)->body).erased, 0U);
  EXPECT_EQ(cluster_.get(1, "k").values.size(), 1U);
  EXPECT_EQ(node().environment->statistics.tombstones_erased, 0U);
}

TEST_F(SweeperTest, AnErasureThatDoesNotComeThroughHoldsUpTheTurnForASecond) {
  remove("k");
  cluster_.pass(milliseconds(10));
  TransientRead read = read_from(*node().fixture.engine, node().transient_reads.at(0));
  node().transient_reads.clear();
  MessageOutbox lost;
  node().sweeper->on(read, {cluster_.now, cluster_.wall_now}, lost);
  const uint64_t request = cluster_.purge(1);
  run_for(milliseconds(900));
  EXPECT_EQ(cluster_.answer(request), nullptr);
  run_for(milliseconds(500));
  ASSERT_NE(cluster_.answer(request), nullptr);
  EXPECT_EQ(std::get<PurgeReport>(cluster_.answer(request)->body).erased, 1U);
}

// ---- Values that expire

TEST_F(SweeperTest, AnExpiredValueGoesByItselfAfterTheSkewBound) {
  put("k", 10'000);
  node().sweeper->set_time_trusted(true);
  run_for(milliseconds(14'900));
  EXPECT_EQ(records(), 1U);
  run_for(milliseconds(400));
  EXPECT_EQ(records(), 0U);
  EXPECT_EQ(node().environment->statistics.expired_erased, 1U);
  EXPECT_EQ(node().environment->statistics.tombstones_erased, 0U);
}

// Row B92.
TEST_F(SweeperTest, NoExpiredValueGoesWhereTheTimeIsNotTrusted) {
  put("k", 1'000);
  remove("deleted");
  cluster_.wall_now += 10ULL * 24 * 3600 * 1'000'000;
  EXPECT_EQ(purged().erased, 1U) << "tombstones need no clock";
  EXPECT_EQ(records(), 1U);
  cluster_.wall_now -= 10ULL * 24 * 3600 * 1'000'000;
  node().sweeper->set_time_trusted(true);
  EXPECT_EQ(purged().erased, 0U);
  EXPECT_EQ(cluster_.get(1, "k").values.size(), 1U);
  run_for(milliseconds(6'500));
  EXPECT_EQ(records(), 0U);
}

TEST_F(SweeperTest, AnExpiredValueWaitsForTheFloorToo) {
  Record record = tombstone_of(kElsewhere, 3);
  record.versions[0].kind = VersionKind::kValue;
  record.versions[0].value = "v";
  record.versions[0].expires_at_ms = 1'000;
  hold("k", record);
  node().sweeper->set_time_trusted(true);
  EXPECT_EQ(purged().blocked, 1U);
  node().fixture.store->close_lives({kElsewhere});
  EXPECT_EQ(purged().erased, 1U);
}

// ---- When it can't

TEST_F(SweeperTest, APurgePastItsDeadlineIsRefused) {
  const uint64_t request = cluster_.purge(1, milliseconds(50));
  for (int i = 0; i < 10; ++i) cluster_.pass(milliseconds(10));  // the disk is silent
  EXPECT_EQ(cluster_.code(request), StatusCode::kUnavailable);
}

TEST_F(SweeperTest, APurgeOfAnIndexThatCanNotBeReadSaysSo) {
  const uint64_t request = cluster_.purge(1);
  cluster_.pass(milliseconds(10));
  TransientRead read{node().transient_reads.at(0).ticket, corruption("file 7"), {}};
  node().transient_reads.clear();
  MessageOutbox outbox;
  EXPECT_TRUE(node().sweeper->on(read, {cluster_.now, cluster_.wall_now}, outbox));
  ASSERT_EQ(outbox.envelopes().size(), 1U);
  const auto& answer = std::get<ClientAnswer>(outbox.envelopes()[0].message);
  EXPECT_EQ(answer.requester.request, request);
  EXPECT_EQ(answer.reply.status.code(), StatusCode::kCorruption);
  EXPECT_FALSE(node().sweeper->on(read, {cluster_.now, cluster_.wall_now}, outbox)) << "it is nobody's now";
}

TEST_F(SweeperTest, PurgesOfALifeThatEndsAreRefused) {
  cluster_.purge(1);
  MessageOutbox outbox;
  node().sweeper->fail_all(unavailable("the node stops"), outbox);
  ASSERT_EQ(outbox.envelopes().size(), 1U);
  EXPECT_EQ(std::get<ClientAnswer>(outbox.envelopes()[0].message).reply.status.code(),
            StatusCode::kUnavailable);
}

// ---- Several nodes

class SweeperOfThree : public SweeperTest {
 protected:
  SweeperOfThree() : SweeperTest(3) {}
};

// Row B106.
TEST_F(SweeperOfThree, NothingIsLeftOfKeysThatWerePutAndDeletedUnderLoad) {
  const auto key = [](int i) { return "k" + std::to_string(i); };
  for (int i = 0; i < 3'000; ++i) {
    cluster_.ask(1 + i % 3, ClientPut{.key = key(i), .value = "v"});
    if (i >= 8) cluster_.ask(1 + i % 2, ClientPut{.key = key(i - 8), .tombstone = true});
    if (i >= 12) cluster_.ask(1 + i % 3, ClientGet{.key = key(i - 12)});
    if (i % 7 == 0) cluster_.run();
    if (i % 500 == 0) {
      cluster_.run();
      raise_floors_of_equal_copies(cluster_);
      run_for(milliseconds(30));
    }
  }
  cluster_.run();
  for (int i = 2'992; i < 3'000; ++i) cluster_.ask(1, ClientPut{.key = key(i), .tombstone = true});
  cluster_.run();
  raise_floors_of_equal_copies(cluster_);
  run_for(milliseconds(500));
  for (const uint64_t number : {1, 2, 3}) {
    EXPECT_EQ(records(number), 0U) << number;
    EXPECT_TRUE(index(number).empty()) << number;
  }
  for (int i = 0; i < 3'000; i += 50) EXPECT_TRUE(cluster_.get(1 + i % 3, key(i)).values.empty());
}

// Rows B54 and B58, as far as reads go: whoever has purged and whoever has not say the same.
TEST_F(SweeperOfThree, TombstonesThatWentOnSomeNodesOnlyComeBackOnNone) {
  cluster_.sweeps = false;
  for (int i = 0; i < 100; ++i) {
    put("k" + std::to_string(i));
    remove("k" + std::to_string(i));
  }
  raise_floors_of_equal_copies(cluster_);
  for (const uint64_t number : {1, 2}) {
    for (const std::string& storage_key : index(number)) {
      const auto parts = parse_storage_key(storage_key);
      const Place place = cluster_.place(std::string(parts->key));
      MessageOutbox outbox;
      node(number).replica->on(EraseRecord{place, storage_key}, cluster_.now, cluster_.wall_now, outbox);
    }
  }
  cluster_.run();
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 100; ++i) {
      const GetResult result = cluster_.get(1 + (i + round) % 3, "k" + std::to_string(i), 1 + i % 3);
      EXPECT_TRUE(result.values.empty());
      EXPECT_FALSE(result.unconfirmed);
    }
  }
  EXPECT_EQ(records(1), 0U);
  EXPECT_EQ(records(2), 0U);
}

}  // namespace
}  // namespace ringkv
