#include "tools/simulation/copies_checker.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "storage/hint_store.h"
#include "storage/place.h"
#include "storage/record_codec.h"
#include "tests/storage/store_fixture.h"

namespace ringkv::simulation {
namespace {

constexpr uint64_t kNowMs = 1'700'000'000'000;
constexpr Actor kActor{NodeId{1}, Boot{11}};

// A ring of four nodes with two copies: partition 0 is of n1 and n2, partition 1 of n2 and n3, and so on.
Ring ring_of_four() {
  RingDescription ring;
  ring.replicas = 2;
  ring.members = {{.node = NodeId{1}, .disk = DiskId{1}, .name = "n1", .rack = "a"},
                  {.node = NodeId{2}, .disk = DiskId{2}, .name = "n2", .rack = "b"},
                  {.node = NodeId{3}, .disk = DiskId{3}, .name = "n3", .rack = "a"},
                  {.node = NodeId{4}, .disk = DiskId{4}, .name = "n4", .rack = "b"}};
  ring.owners = {0, 1, 2, 3};
  ring.buckets = {BucketDescription()};
  ring.secret = std::string(32, 's');
  return Ring(ring);
}

Version value(uint64_t counter, const std::string& text, uint64_t expires_at_ms = 0) {
  return {.dot = {kActor, counter}, .expires_at_ms = expires_at_ms, .value = text};
}
Version tombstone(uint64_t counter) { return {.dot = {kActor, counter}, .kind = VersionKind::kTombstone}; }

class Copies : public testing::Test {
 protected:
  // The owners of key "k".
  Copies() {
    const Place place = place_of({.partitions = ring.partitions()}, "", "k");
    key = place.storage_key;
    for (const uint16_t position : ring.preference_list(place.partition))
      owners.push_back(ring.member(position).name);
    for (const Member& member : ring.description().members) {
      if (std::find(owners.begin(), owners.end(), member.name) == owners.end()) others.push_back(member.name);
      disks[member.name] = std::make_unique<MemoryDisk>();
    }
  }

  void write(const std::string& node, Family family, const std::string& entry, const std::string& bytes) {
    MemoryEngine engine(*disks.at(node));
    const std::unique_ptr<Batch> batch = engine.new_batch();
    batch->put(family, entry, bytes);
    ASSERT_TRUE(engine.write(*batch, true).ok());
  }
  void put(const std::string& node, const std::vector<Version>& versions) {
    Record record;
    record.versions = versions;
    record.context.vector.raise(kActor, 9);
    std::string bytes;
    encode_record(record, {}, 0, bytes);
    write(node, Family::kData, key, bytes);
  }
  void put_everywhere(const std::vector<Version>& versions) {
    for (const std::string& node : owners) put(node, versions);
  }
  void keep_hint(const std::string& node, uint64_t intended) {
    write(node, Family::kHints, HintStore::hint_key(NodeId{intended}, key), "hint");
  }

  std::string verdict() const {
    Convergent found{.ring = &ring, .copies = {}, .now_ms = kNowMs, .expires_within_ms = expires_within_ms};
    for (const Member& member : ring.description().members) {
      if (member.name != gone)
        found.copies.push_back({member.name, member.node, disks.at(member.name).get()});
    }
    const auto violation = check_copies(found);
    return violation ? violation->invariant : "";
  }

  const Ring ring = ring_of_four();
  std::string key;
  std::vector<std::string> owners;
  std::vector<std::string> others;
  std::map<std::string, std::unique_ptr<MemoryDisk>> disks;
  std::string gone;
  uint64_t expires_within_ms = 0;
};

TEST_F(Copies, AreFineWhenAllOwnersHoldTheSame) {
  put_everywhere({value(1, "a"), tombstone(2)});
  EXPECT_EQ(verdict(), "");
}

TEST_F(Copies, MustNotDiffer) {
  put_everywhere({value(1, "a")});
  put(owners[1], {value(2, "a")});
  EXPECT_EQ(verdict(), "L3");
}

TEST_F(Copies, MustNotBeMissing) {
  put(owners[1], {value(1, "a")});
  EXPECT_EQ(verdict(), "L3");
}

TEST_F(Copies, MayBeMissingOnWhoIsGone) {
  put(owners[1], {value(1, "a")});
  gone = owners[0];
  EXPECT_EQ(verdict(), "");
}

TEST_F(Copies, MustBeOnOwnersAlone) {
  put_everywhere({value(1, "a")});
  put(others[0], {value(1, "a")});
  EXPECT_EQ(verdict(), "I9");
}

TEST_F(Copies, MustNotKeepWhatWasDeleted) {
  put_everywhere({tombstone(2)});
  EXPECT_EQ(verdict(), "tombstones");
  gone = others[0];  // its hints might still know what was deleted
  EXPECT_EQ(verdict(), "");
}

TEST_F(Copies, MustNotKeepABareContext) {
  put(owners[0], {});
  EXPECT_EQ(verdict(), "tombstones");
}

TEST_F(Copies, MustNotKeepWhatHasExpiredForSomeTime) {
  put(owners[0], {value(1, "a", kNowMs - 1'000)});
  EXPECT_EQ(verdict(), "");
  put(owners[0], {value(1, "a", kNowMs - 60'000)});
  EXPECT_EQ(verdict(), "tombstones");
}

TEST_F(Copies, AreNotAtRestBeforeWhatIsAboutToExpireHasGone) {
  put_everywhere({value(1, "a", kNowMs + 9'000), value(2, "b")});
  EXPECT_EQ(verdict(), "");
  expires_within_ms = 10'000;
  EXPECT_EQ(verdict(), "expiry");
  expires_within_ms = 9'000;
  EXPECT_EQ(verdict(), "");
}

TEST_F(Copies, MustHaveHintsOnlyForMembersThatAreGone) {
  keep_hint("n1", 3);
  EXPECT_EQ(verdict(), "L2");
  gone = "n3";
  EXPECT_EQ(verdict(), "");
}

TEST_F(Copies, MayHaveAHintForWhoOwnsTheKeyNoMoreWhileAnOwnerIsGone) {
  const uint64_t other = ring.description().find_member(others.at(0))->node.value;
  keep_hint(owners.at(0), other);
  EXPECT_EQ(verdict(), "L2");
  gone = owners.at(1);
  EXPECT_EQ(verdict(), "");
}

TEST_F(Copies, MustHaveNoHintsForOneselfOrForStrangers) {
  gone = "n3";
  keep_hint("n1", 1);
  EXPECT_EQ(verdict(), "I9");
  disks["n1"]->wipe();
  keep_hint("n1", 77);
  EXPECT_EQ(verdict(), "I9");
}

TEST(Erasure, IsOnlyOfWhatLiesUnderTheFloor) {
  StoreFixture fixture;
  const Place place = StoreFixture::place("a");
  const auto told = [&](const Dot& dot) {
    Record record;
    record.context.vector.raise(dot.actor, dot.counter);
    record.versions = {{.dot = dot, .kind = VersionKind::kTombstone}};
    std::string bytes;
    encode_record(record, {}, 0, bytes);
    const auto violation = check_erasure(*fixture.store, place.storage_key, bytes);
    return violation ? violation->invariant : "";
  };
  const Actor other{NodeId{9}, Boot{99}};
  EXPECT_EQ(told({other, 3}), "I12");
  Floor floor;
  floor.vector.raise(other, 3);
  fixture.store->raise_floor(place.partition, floor, {});
  EXPECT_EQ(told({other, 3}), "");
  EXPECT_EQ(told({other, 4}), "I12");
}

}  // namespace
}  // namespace ringkv::simulation
