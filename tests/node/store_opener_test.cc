#include "node/store_opener.h"

#include <gtest/gtest.h>

#include <utility>

#include "base/text.h"
#include "storage/memory_engine.h"
#include "storage/record_store.h"
#include "storage/storage_key.h"

namespace ringkv {
namespace {

constexpr uint32_t kPartitions = 16;

class Machine {
 public:
  Machine() {
    auto opened = open();
    EXPECT_TRUE(opened.ok()) << opened.status().to_string();
    RecordStore store(*opened->engine, std::move(opened->recovered), {.secret = std::string(32, 's')});
    for (int i = 0; i < 100; ++i) {
      const std::string key = cat("key ", i);
      const Place place = place_of({.partitions = kPartitions}, "", key);
      Stamp stamp;
      stamp.version = {.dot = store.next_dot(), .time = 1, .value = "value"};
      store.stage(place, store.encoded(place, key, stamped({}, stamp, Conflict::kSiblings)), {});
    }
    const Commit commit = store.take();
    EXPECT_TRUE(opened->engine->write(*commit.batch, true).ok());
  }

  Result<OpenedStore> open(OpenMode mode = OpenMode::kPlain) {
    return open_store([this](OpenMode with) { return open_memory(disk, with); }, identity_, Boot{++boots_},
                      founding_, mode);
  }

  // All that a damaged file held stands in partitions 3 to 5.
  void damage(Family family = Family::kData) {
    if (family != Family::kData) return disk.damage(family, "", "\xFF");
    disk.damage(Family::kData, storage_key(first_token_of(3, kPartitions), "", "a"),
                storage_key(first_token_of(6, kPartitions) - 1, "", "z"));
  }

  MemoryDisk disk;

 private:
  const Identity identity_{.node = NodeId{1}, .disk = DiskId{2}, .cluster = ClusterId{3}, .name = "n1"};
  const Founding founding_{.bootstrap = true,
                           .replicas = 1,
                           .partitions = kPartitions,
                           .rack = "r1",
                           .secret = std::string(32, 's')};
  uint64_t boots_ = 0;
};

const std::vector<Partition> kHit = {3, 4, 5};

struct Count {
  uint64_t records = 0;
  Status status;
};
Count count(Engine& engine) {
  Count counted;
  const auto cursor = engine.seek(Family::kData, "", "");
  for (; cursor->valid(); cursor->next()) ++counted.records;
  counted.status = cursor->status();
  return counted;
}

bool is_marked(Engine& engine) {
  std::string bytes;
  return *engine.get(Family::kMeta, kLostRangesKey, bytes) == Lookup::kFound;
}

TEST(StoreOpener, AWholeStoreIsWholeInWhateverMode) {
  Machine machine;
  for (const OpenMode mode : {OpenMode::kPlain, OpenMode::kSetDamagedAside}) {
    auto opened = machine.open(mode);
    ASSERT_TRUE(opened.ok());
    EXPECT_EQ(opened->wholeness.incomplete(), 0U);
    EXPECT_TRUE(opened->lost.empty());
    EXPECT_EQ(opened->recovered.leaves.leaves.keys(), 100U);
  }
}

TEST(StoreOpener, PartitionsThatLostRecordsAreNotWholeAndTheLeavesFitWhatIsLeft) {
  Machine machine;
  machine.damage();
  {
    auto opened = machine.open(OpenMode::kSetDamagedAside);
    ASSERT_TRUE(opened.ok()) << opened.status().to_string();
    EXPECT_EQ(opened->wholeness.incomplete_partitions(), kHit);
    EXPECT_EQ(opened->lost.size(), 1U);
    EXPECT_NE(opened->damage.find(opened->lost[0].file), std::string::npos);
    const uint64_t records = count(*opened->engine).records;
    EXPECT_LT(records, 100U);
    EXPECT_EQ(opened->recovered.leaves.leaves.keys(), records);
    EXPECT_TRUE(opened->recovered.past_boots.vector.empty()) << "claims what it has lost";
  }
  auto again = machine.open();
  EXPECT_TRUE(again->lost.empty());
  EXPECT_EQ(again->wholeness.incomplete_partitions(), kHit);
  EXPECT_NE(again->damage, "") << "people should still be told";
}

TEST(StoreOpener, WithoutItsDigestsNoPartitionIsWhole) {
  Machine machine;
  machine.damage(Family::kDigests);
  auto opened = machine.open();  // what it needs can't be read: it sets the file aside by itself
  ASSERT_TRUE(opened.ok()) << opened.status().to_string();
  EXPECT_EQ(opened->wholeness.incomplete(), kPartitions);
  EXPECT_EQ(opened->recovered.leaves.leaves.keys(), 100U);
}

TEST(StoreOpener, LostHintsLeaveItWhole) {
  Machine machine;
  machine.damage(Family::kHints);
  auto opened = machine.open(OpenMode::kSetDamagedAside);
  ASSERT_TRUE(opened.ok());
  EXPECT_EQ(opened->lost.size(), 1U);
  EXPECT_EQ(opened->wholeness.incomplete(), 0U);
  EXPECT_EQ(opened->damage, "");
}

TEST(StoreOpener, WithoutItsOwnRecordsItDoesNotOpen) {
  Machine machine;
  machine.damage(Family::kMeta);
  for (int time = 0; time < 2; ++time) EXPECT_EQ(machine.open().status().code(), StatusCode::kCorruption);
}

// Killed, or cut off from power, at any write: no start takes what is left for the whole, and the leaves
// always fit the records.
TEST(StoreOpener, AKilledStartForgetsNoLoss) {
  int finished = 0;
  for (const Family family : {Family::kData, Family::kDigests}) {
    for (const DiskCall call : {DiskCall::kWrite, DiskCall::kSync}) {
      for (uint64_t nth = 1; nth <= 12; ++nth) {
        SCOPED_TRACE(cat("family ", static_cast<int>(family), ", call ", static_cast<int>(call), ", ", nth));
        Machine machine;
        machine.damage(family);
        machine.disk.fail(call, nth, DiskError::kInputOutput);
        SeededRandom random(nth);
        std::vector<Partition> incomplete;
        OpenMode mode = OpenMode::kSetDamagedAside;
        for (int start = 0; start < 4; ++start) {
          auto opened = machine.open(std::exchange(mode, OpenMode::kPlain));
          if (opened.ok()) {
            finished += start == 0 ? 1 : 0;
            ASSERT_FALSE(is_marked(*opened->engine));
            const Count records = count(*opened->engine);
            // The damage may still be where it was: whoever reads it has the store reopened.
            if (!records.status.ok()) mode = OpenMode::kSetDamagedAside;
            incomplete = opened->wholeness.incomplete_partitions();
            if (records.status.ok()) {
              ASSERT_EQ(opened->recovered.leaves.leaves.keys(), records.records);
              ASSERT_EQ(incomplete.size(), family == Family::kData ? kHit.size() : kPartitions);
            }
            opened->engine.reset();
          }
          if (random.one_in(2)) machine.disk.crash(random);
        }
        ASSERT_FALSE(incomplete.empty());
      }
    }
  }
  EXPECT_GT(finished, 0) << "writes beyond the last were tried";
}

TEST(StoreOpener, AMemberInThePlaceOfALostOneIsWholeNowhere) {
  MemoryDisk disk;
  const Identity identity{.node = NodeId{1}, .disk = DiskId{2}, .cluster = ClusterId{3}, .name = "n1"};
  Founding founding{.bootstrap = true, .replicas = 1, .partitions = kPartitions, .rack = "r1"};
  founding.secret = std::string(32, 's');
  RingDescription ring = *found_ring(identity, founding);
  ring.open = true;
  ring.members[0].voter = false;
  founding.bootstrap = false;
  founding.joined_ring = encode_ring_description(ring);
  const auto opened =
      open_store([&](OpenMode mode) { return open_memory(disk, mode); }, identity, Boot{1}, founding);
  ASSERT_TRUE(opened.ok()) << opened.status().to_string();
  EXPECT_EQ(opened->wholeness.incomplete(), kPartitions);
  EXPECT_EQ(opened->damage, "");
}

}  // namespace
}  // namespace ringkv
