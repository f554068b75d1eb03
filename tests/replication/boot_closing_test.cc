#include "replication/boot_closing.h"

#include <gtest/gtest.h>

#include "tests/replication/cluster_fixture.h"

namespace ringkv {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr NodeId kSelf{1};
constexpr NodeId kSecond{2};
constexpr NodeId kThird{3};
constexpr Actor kEnded{kSecond, Boot{20}};
constexpr uint64_t kDigest = 77;

// One of three owners of everything.
struct Fixture {
  Fixture() : ring(ClusterFixture::description(3, 3)) {}

  BootClosing::Boots boots(bool all_met, bool all_without_hints, uint64_t digest = kDigest) const {
    return {.latest = {store.store->actor(), {kSecond, Boot{21}}, {kThird, Boot{30}}},
            .digest = digest,
            .all_met = all_met,
            .all_without_hints = all_without_hints,
            .missing = {}};
  }
  void keep_hint(const std::string& key, const Actor& stamper, NodeId intended = kThird) {
    Record record;
    record.context.vector.raise(stamper, 3);
    record.versions = {{.dot = {stamper, 3}, .value = "kept"}};
    const Place place = StoreFixture::place(key);
    hints.stage(intended, place.storage_key, *store.store->encoded(place, key, record).bytes, "");
  }
  void drop_hint(const std::string& key, NodeId intended = kThird) {
    const Place place = StoreFixture::place(key);
    hints.erase(intended, place.storage_key, *read_hint(*store.engine, intended, place.storage_key));
  }
  void commit() {
    const Commit commit = store.store->take();
    ASSERT_TRUE(store.engine->write(*commit.batch, true).ok());
    store.store->committed(commit);
    hints.committed(commit.number);
  }

  // Time passes, and the disk answers.
  void pass(Duration duration) {
    for (const Time until = moment.now + duration; moment.now < until;) {
      moment.now += milliseconds(100);
      closing.tick(
          moment, blocking, [this](NodeId node) { return pulled.at(node); }, outbox);
      answer_reads();
    }
  }
  void answer_reads() {
    while (!outbox.envelopes().empty()) {
      std::vector<MessageOutbox::Envelope> sent = std::move(outbox.envelopes());
      outbox.clear();
      for (const auto& envelope : sent) {
        const auto& read = std::get<ReadHints>(envelope.message);
        ++reads;
        HintStep step = read.step;
        step.hints_max = 2;
        EXPECT_TRUE(closing.on({read.ticket, {}, *hint_slice(*store.engine, step)}, moment, outbox));
      }
    }
  }
  void pull_from_both() {
    for (auto& [node, begun] : pulled) begun = moment.now;
  }
  bool closed(const Actor& actor = kEnded) const { return store.store->floors().is_closed(actor); }

  using milliseconds = std::chrono::milliseconds;

  Ring ring;
  StoreFixture store{kSelf};
  HintStore hints{*store.engine, *store.store, {}};
  Wholeness wholeness{kTestPartitions};
  ConvergenceEnvironment environment{{.self = kSelf, .boot = Boot{1}}, ring, *store.store, hints, wholeness};
  BootClosing closing{environment};
  Moment moment{Time(minutes(10)), 0};
  MessageOutbox outbox;
  std::map<Actor, Sweeper::Blocked> blocking{{kEnded, {.records = 1}}};
  std::map<NodeId, std::optional<Time>> pulled{{kSecond, std::nullopt}, {kThird, std::nullopt}};
  int reads = 0;
};

TEST(BootClosing, ClosesALifeOnceAllRefuseItNobodyHasHintsAndARoundFromEachOtherHasEnded) {
  Fixture fixture;
  fixture.closing.set_boots(fixture.boots(true, false), fixture.moment);
  fixture.pass(seconds(6));
  EXPECT_EQ(fixture.closing.boots_without_hints(), kDigest);

  fixture.closing.set_boots(fixture.boots(true, true), fixture.moment);
  fixture.pass(seconds(6));
  EXPECT_FALSE(fixture.closed());
  fixture.pull_from_both();
  fixture.pass(seconds(1));
  EXPECT_TRUE(fixture.closed());
  EXPECT_EQ(fixture.environment.statistics.lives_closed, 1U);
  EXPECT_TRUE(fixture.environment.floors_raised) << "the sweeper looks again";
}

TEST(BootClosing, WaitsForEachMemberToMeetALaterLife) {
  Fixture fixture;
  fixture.closing.set_boots(fixture.boots(false, false), fixture.moment);
  fixture.pass(minutes(1));
  EXPECT_EQ(fixture.closing.boots_without_hints(), 0U);
  fixture.pull_from_both();
  fixture.pass(seconds(1));
  EXPECT_FALSE(fixture.closed());
}

// What was admitted before the refusal may not have come to the hints yet.
TEST(BootClosing, LooksThroughItsHintsAWhileAfterAllHaveMet) {
  Fixture fixture;
  fixture.closing.set_boots(fixture.boots(true, false), fixture.moment);
  fixture.pass(seconds(4));
  fixture.keep_hint("k", kEnded);
  fixture.commit();
  fixture.pass(seconds(2));
  EXPECT_EQ(fixture.closing.boots_without_hints(), 0U);
}

TEST(BootClosing, AHintOfALifeThatIsOverHasToGoFirst) {
  Fixture fixture;
  fixture.keep_hint("k", {kSecond, Boot{21}});
  for (const char* key : {"a", "b", "c", "d"}) fixture.keep_hint(key, {kThird, Boot{30}}, kSecond);
  fixture.keep_hint("last", kEnded);
  fixture.commit();
  fixture.closing.set_boots(fixture.boots(true, false), fixture.moment);
  fixture.pass(seconds(20));
  EXPECT_EQ(fixture.closing.boots_without_hints(), 0U);

  fixture.drop_hint("last");
  fixture.commit();
  fixture.pass(seconds(6));
  EXPECT_EQ(fixture.closing.boots_without_hints(), kDigest) << "hints of lives that go on may stay";
}

TEST(BootClosing, AHintThatIsNotOnTheDiskYetIsSeenToo) {
  Fixture fixture;
  fixture.keep_hint("k", kEnded);
  fixture.closing.set_boots(fixture.boots(true, false), fixture.moment);
  fixture.pass(seconds(10));
  EXPECT_EQ(fixture.reads, 0);
  fixture.commit();
  fixture.pass(seconds(1));
  EXPECT_GT(fixture.reads, 0);
  EXPECT_EQ(fixture.closing.boots_without_hints(), 0U);
}

TEST(BootClosing, WhatItsNodeRemovedHasStampedIsOverToo) {
  Fixture fixture;
  fixture.keep_hint("k", {NodeId{4}, Boot{40}});
  fixture.commit();
  fixture.closing.set_boots(fixture.boots(true, false), fixture.moment);
  fixture.pass(seconds(6));
  EXPECT_EQ(fixture.closing.boots_without_hints(), 0U);
}

TEST(BootClosing, ARoundThatHadBegunBeforeProvesNothing) {
  Fixture fixture;
  fixture.closing.set_boots(fixture.boots(true, false), fixture.moment);
  fixture.pass(seconds(6));
  fixture.closing.set_boots(fixture.boots(true, true), fixture.moment);
  fixture.pull_from_both();
  fixture.pass(seconds(6));
  EXPECT_FALSE(fixture.closed());

  fixture.pulled[kSecond] = fixture.moment.now;
  fixture.pass(seconds(1));
  EXPECT_FALSE(fixture.closed()) << "n3 may hold what n2 doesn't";
  fixture.pulled[kThird] = fixture.moment.now;
  fixture.pass(seconds(1));
  EXPECT_TRUE(fixture.closed());
}

TEST(BootClosing, AnotherLifeOrAnotherRingStartsOver) {
  Fixture fixture;
  const auto all_clear = [&](uint64_t digest) {
    fixture.closing.set_boots(fixture.boots(true, false, digest), fixture.moment);
    fixture.pass(seconds(6));
    EXPECT_EQ(fixture.closing.boots_without_hints(), digest);
    fixture.closing.set_boots(fixture.boots(true, true, digest), fixture.moment);
    fixture.pass(seconds(6));
  };
  all_clear(1);
  fixture.closing.set_boots(fixture.boots(false, false, 2), fixture.moment);
  EXPECT_EQ(fixture.closing.boots_without_hints(), 0U);
  fixture.pull_from_both();
  fixture.pass(seconds(1));
  EXPECT_FALSE(fixture.closed());

  all_clear(2);
  RingDescription next = fixture.ring.description();
  ++next.epoch;
  const Ring later(std::move(next));
  fixture.environment.view.set_ring(later);
  fixture.pull_from_both();
  fixture.pass(seconds(1));
  EXPECT_FALSE(fixture.closed()) << "rounds of the ring before";
}

TEST(BootClosing, ClosesNoLifeThatGoesOnNorOneForWhichNothingWaits) {
  Fixture fixture;
  fixture.blocking = {{fixture.store.store->actor(), {.records = 1}}, {{kThird, Boot{30}}, {.records = 1}}};
  fixture.closing.set_boots(fixture.boots(true, false), fixture.moment);
  fixture.pass(seconds(6));
  fixture.closing.set_boots(fixture.boots(true, true), fixture.moment);
  fixture.pass(seconds(6));
  fixture.pull_from_both();
  fixture.pass(seconds(1));
  EXPECT_TRUE(fixture.store.store->floors().closed().empty());
}

// What it writes may come here over another member, before anything is known of it.
TEST(BootClosing, ClosesALifeThatNobodyHasToldOfOnlyOnceItsNodeIsHeardInAnother) {
  Fixture fixture;
  fixture.closing.set_boots(fixture.boots(true, false), fixture.moment);
  fixture.pass(seconds(6));
  fixture.closing.set_boots(fixture.boots(true, true), fixture.moment);
  fixture.pass(seconds(6));
  fixture.pull_from_both();
  fixture.pass(seconds(1));
  const Actor untold{kSecond, Boot{22}};
  fixture.blocking = {{untold, {.records = 1}}};
  fixture.pass(seconds(1));
  EXPECT_FALSE(fixture.closed(untold));

  fixture.pull_from_both();
  fixture.pass(seconds(1));
  EXPECT_TRUE(fixture.closed(untold));
}

TEST(BootClosing, AnotherLifeOfAMemberVoidsWhatIsKnownOfAll) {
  Fixture fixture;
  fixture.closing.set_boots(fixture.boots(true, false), fixture.moment);
  fixture.pass(seconds(6));
  fixture.closing.set_boots(fixture.boots(true, true), fixture.moment);
  fixture.pass(seconds(6));
  fixture.closing.on_boot(fixture.moment);
  EXPECT_EQ(fixture.closing.boots_without_hints(), 0U);
  fixture.pull_from_both();
  fixture.pass(seconds(1));
  EXPECT_FALSE(fixture.closed());
}

// Floors are sent in every round.
TEST(BootClosing, ClosesAllEndedLivesOnceManyAreListed) {
  Fixture fixture;
  fixture.blocking.clear();
  Floor floor;
  for (uint64_t boot = 1; boot <= BootClosing::kEndedLivesListed; ++boot)
    floor.vector.raise({kThird, Boot{1000 + boot}}, 5);
  floor.vector.raise({kThird, Boot{30}}, 5);
  fixture.store.store->raise_floor(3, floor, {});
  fixture.commit();
  const auto close = [&] {
    for (int minute = 0; minute < 3; ++minute) {
      fixture.pull_from_both();
      fixture.pass(minutes(1));
    }
    return fixture.store.store->floors().closed().size();
  };
  fixture.closing.set_boots(fixture.boots(true, false), fixture.moment);
  fixture.pass(seconds(6));
  fixture.closing.set_boots(fixture.boots(true, true), fixture.moment);
  fixture.pass(seconds(6));
  EXPECT_EQ(close(), 0U);

  Floor one_more;
  one_more.vector.raise({kThird, Boot{5000}}, 5);
  fixture.store.store->raise_floor(4, one_more, {});
  fixture.commit();
  EXPECT_EQ(close(), BootClosing::kEndedLivesListed + 1);
  EXPECT_FALSE(fixture.closed({kThird, Boot{30}}));
}

}  // namespace
}  // namespace ringkv
