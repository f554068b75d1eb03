// Short histories that other stores got wrong, each with the number that the project gives to the fault.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <sstream>

#include "storage/record.h"
#include "tests/storage/sample_records.h"

namespace ringkv {
namespace {

using namespace sample;
using Values = std::vector<std::string>;

// B93. The coordinator lost its copy and stamps again from 1: as another life, so nothing that remembers the
// first life can take the new write for an old one.
TEST(RecordHistory, AWriteByACoordinatorThatLostItsCopyIsNeverDropped) {
  Coordinator before{actor(1, 1)};
  for (int i = 1; i <= 10; ++i) before.put("v" + std::to_string(i));
  const Record replica = before.record;

  Coordinator blind{actor(1, 2)};
  blind.put("v11");
  EXPECT_EQ(values_of(merge(replica, blind.record)), (Values{"v10", "v11"}));

  Coordinator with_context{actor(1, 3)};
  with_context.put("v11", replica.context);
  EXPECT_EQ(values_of(merge(replica, with_context.record)), Values{"v11"});
  EXPECT_EQ(values_of(merge(with_context.record, replica)), Values{"v11"});
}

// B93, the tail lost rather than everything.
TEST(RecordHistory, AWriteAfterALostTailIsASiblingOfWhatOthersStillHold) {
  Coordinator first_life{actor(1, 1)};
  first_life.put("kept");
  const Record on_disk = first_life.record;
  first_life.put("tail");
  const Record replica = first_life.record;

  Coordinator second_life{actor(1, 2)};
  second_life.record = on_disk;
  second_life.put("new");

  EXPECT_EQ(values_of(merge(replica, second_life.record)), (Values{"tail", "new"}));
}

// B95. Eight lives that start in one tick and write one key at once.
TEST(RecordHistory, EightLivesStartedInOneTickLeaveEightSiblings) {
  Record merged;
  for (uint64_t node = 1; node <= 8; ++node) {
    Coordinator coordinator{actor(node % 4, node)};  // two boots of each of four nodes
    coordinator.put("by " + std::to_string(node));
    merged = merge(merged, coordinator.record);
  }
  std::set<Actor> actors;
  for (const Version& version : merged.versions) actors.insert(version.dot.actor);
  EXPECT_EQ(merged.versions.size(), 8U);
  EXPECT_EQ(actors.size(), 8U);
}

std::set<std::string> items_of(const Record& record) {
  std::set<std::string> items;
  for (const std::string& bytes : values_of(record)) {
    std::istringstream words(bytes);
    for (std::string item; words >> item;) items.insert(item);
  }
  return items;
}

// B96. Two clients that read, merge and write in turn, each through its own coordinator and each with the
// context of its own last read, which is one round old.
TEST(RecordHistory, TwoPoliteClientsInTurnNeverLeaveMoreThanTwoSiblings) {
  std::array<Coordinator, 2> coordinators = {Coordinator{kA}, Coordinator{kB}};
  std::array<Record, 2> read;
  for (int round = 0; round < 100; ++round) {
    for (const size_t client : {0U, 1U}) {
      std::set<std::string> items = items_of(read[client]);
      items.insert(std::to_string(client) + "." + std::to_string(round));
      std::string bytes;
      for (const std::string& item : items) bytes += item + " ";
      coordinators[client].put(bytes, read[client].context);
    }
    const Record merged = merge(coordinators[0].record, coordinators[1].record);
    for (const size_t client : {0U, 1U}) {
      coordinators[client].receive(merged);
      read[client] = coordinators[client].record;
    }
    ASSERT_LE(merged.versions.size(), 2U) << "round " << round;
  }
  EXPECT_EQ(items_of(read[0]).size(), 200U);
}

// B97. Writes without a context replace what their coordinator holds: they leave no siblings to grow.
TEST(RecordHistory, TenThousandBlindPutsLeaveOneVersionAndOneEntry) {
  Coordinator coordinator{kA};
  for (int i = 0; i < 10'000; ++i) coordinator.put("x");
  EXPECT_EQ(coordinator.record.versions.size(), 1U);
  EXPECT_EQ(coordinator.record.context.vector.entries().size(), 1U);
}

// B98. One client through 300 coordinators. Nothing is pruned, so an ancestor never looks concurrent; the
// stored context stays small because the floor covers its entries.
TEST(RecordHistory, OneClientThroughManyCoordinatorsNeverSeesASibling) {
  Record held;
  Floor floor;
  for (uint64_t boot = 1; boot <= 300; ++boot) {
    Coordinator coordinator{actor(boot % 7, boot)};
    CausalContext seen = held.context;
    fill(seen, floor);
    coordinator.put("x", seen);
    held = merge_under_floor(held, coordinator.record, floor);
    ASSERT_EQ(held.versions.size(), 1U) << "boot " << boot;
    if (boot % 10 == 0) fill(floor, held.context);  // rounds have gone around
    strip(held.context, floor, coordinator.self);
    ASSERT_LE(held.context.vector.entries().size(), 11U);
  }
}

// B101. One client deletes and writes again within one tick, through coordinators whose clocks stand still or
// differ by hours.
TEST(RecordHistory, APutAfterADeleteInOneTickIsWhatStays) {
  for (const Conflict conflict : {Conflict::kSiblings, Conflict::kLastWriterWins}) {
    for (const WallMicros behind : {0ULL, 7'200'000'000ULL}) {
      const WallMicros tick = 1'700'000'000'000'000;
      Coordinator a{kA, conflict, tick};
      Coordinator b{kB, conflict, tick - behind};
      Coordinator c{kC, conflict, tick - 2 * behind};
      a.put("first");
      b.erase(a.record.context);
      c.put("last", b.record.context);

      EXPECT_EQ(values_of(merge(merge(a.record, b.record), c.record)), Values{"last"});
      a.receive(c.record);
      a.receive(b.record);
      EXPECT_EQ(values_of(a.record), Values{"last"});
    }
  }
}

// B102. Equal times, different values: one winner whatever the order.
TEST(RecordHistory, EqualTimesHaveOneWinnerInEveryOrder) {
  Coordinator a{kA, Conflict::kLastWriterWins};
  Coordinator b{kB, Conflict::kLastWriterWins};
  Coordinator c{kC, Conflict::kLastWriterWins};
  a.put("a");
  b.put("b");
  c.erase();
  const std::vector<Record> written = {a.record, b.record, c.record};

  std::vector<size_t> order = {0, 1, 2};
  do {
    Coordinator reader{actor(9), Conflict::kLastWriterWins};
    for (const size_t next : order) reader.receive(written[next]);
    EXPECT_EQ(dots_of(reader.record), (std::vector<Dot>{{kC, 1}}));
  } while (std::next_permutation(order.begin(), order.end()));
}

// B103. A context that was used once is used again: it covers the same as before, and not the first use.
TEST(RecordHistory, AContextUsedTwiceLeavesBothPutsAndNothingMore) {
  Coordinator a{kA};
  a.put("old");
  const CausalContext seen = a.record.context;
  a.put("one", seen);
  a.put("two", seen);
  EXPECT_EQ(values_of(a.record), (Values{"one", "two"}));

  Coordinator b{kB};
  b.put("three", seen);
  a.receive(b.record);
  EXPECT_EQ(values_of(a.record), (Values{"one", "two", "three"}));

  a.put("all", a.record.context);
  EXPECT_EQ(values_of(a.record), Values{"all"});
}

// A slower clock's successor must not lose against what it replaced, or two orders end without any value.
TEST(RecordHistory, ASuccessorStampedByASlowerClockWinsInEveryOrder) {
  Coordinator a{kA, Conflict::kLastWriterWins, 100};
  Coordinator b{kB, Conflict::kLastWriterWins, 60};
  Coordinator c{kC, Conflict::kLastWriterWins, 80};
  a.put("a");
  b.put("b", a.record.context);
  c.put("c");

  Coordinator one{actor(8), Conflict::kLastWriterWins};
  for (const Coordinator* next : {&a, &c, &b}) one.receive(next->record);
  Coordinator two{actor(9), Conflict::kLastWriterWins};
  for (const Coordinator* next : {&b, &c, &a}) two.receive(next->record);

  EXPECT_EQ(values_of(one.record), Values{"b"});
  EXPECT_EQ(values_of(two.record), Values{"b"});
  EXPECT_EQ(values_of(merge(one.record, two.record)), Values{"b"});
}

}  // namespace
}  // namespace ringkv
