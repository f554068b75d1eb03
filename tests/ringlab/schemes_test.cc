// Each scheme against its published definition, and the properties that each is known for.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tools/ringlab/measure.h"
#include "tools/ringlab/scheme_catalogue.h"
#include "tools/ringlab/schemes/bounded_loads.h"
#include "tools/ringlab/schemes/hashed_ring.h"
#include "tools/ringlab/schemes/jump.h"
#include "tools/ringlab/schemes/ketama.h"
#include "tools/ringlab/schemes/maglev.h"
#include "tools/ringlab/schemes/partition_table.h"
#include "tools/ringlab/schemes/rendezvous.h"
#include "tools/ringlab/schemes/weighted_rendezvous.h"

namespace ringkv::ringlab {
namespace {

constexpr uint64_t kKeys = 20'000;

const KeySet& keys() {
  static const KeySet set = numbered_keys("key:", kKeys, hash_named("sha1"));
  return set;
}

std::vector<LabNode> without(std::vector<LabNode> nodes, uint32_t number) {
  std::erase_if(nodes, [&](const LabNode& node) { return node.number == number; });
  return nodes;
}

std::vector<LabNode> weighted_nodes(uint32_t count) {
  std::vector<LabNode> nodes = numbered_nodes("s", count);
  for (LabNode& node : nodes) node.weight = 1 + node.number % 4;
  return nodes;
}

std::vector<uint32_t> owners_after(Scheme& scheme, const std::vector<LabNode>& nodes,
                                   const KeySet& keys_placed = keys()) {
  EXPECT_TRUE(scheme.become(nodes).ok());
  return scheme.owners(keys_placed);
}

void expect_sound(const SchemeEntry& entry, const std::vector<LabNode>& grown, const KeySet& placed) {
  const std::vector<LabNode> nodes(grown.begin(), grown.end() - 1);
  const auto scheme = entry.make();
  const auto before = owners_after(*scheme, nodes, placed);
  const Movement joined = movement(before, owners_after(*scheme, grown, placed), {.newcomer = 12});
  EXPECT_EQ(joined.needless, 0U);
  EXPECT_GT(joined.moved, 0U);
  if (entry.name == "jump") return;  // refuses to lose a node in the middle

  const auto other = entry.make();
  ASSERT_TRUE(other->become(nodes).ok());
  const Movement left = movement(before, owners_after(*other, without(nodes, 5), placed), {.leaver = 5});
  EXPECT_EQ(left.needless, 0U);
  EXPECT_EQ(left.moved, std::count(before.begin(), before.end(), 5U));
}

TEST(Schemes, SoundOnesMoveNothingNeedlessly) {
  for (const Hash& hash : hashes()) {
    const KeySet placed = numbered_keys("key:", kKeys, hash);
    for (const SchemeEntry& entry : scheme_catalogue({}, hash)) {
      if (!entry.sound) continue;
      SCOPED_TRACE(entry.name + " with " + hash.name);
      expect_sound(entry, numbered_nodes("s", 13), placed);
      expect_sound(entry, weighted_nodes(13), placed);
    }
  }
}

TEST(Schemes, AnUnsoundOneIsFoundOut) {
  for (const SchemeEntry& entry : scheme_catalogue({}, hash_named("sha1"))) {
    if (entry.name != "modulo") continue;
    const auto scheme = entry.make();
    const auto before = owners_after(*scheme, numbered_nodes("s", 12));
    EXPECT_GT(movement(before, owners_after(*scheme, numbered_nodes("s", 13)), {.newcomer = 12}).needless,
              10'000U);
  }
}

TEST(Schemes, ThatKnowWeightsFollowThem) {
  const std::set<std::string> weightless = {"modulo", "rendezvous", "jump"};
  for (const SchemeEntry& entry : scheme_catalogue({}, hash_named("sha1"))) {
    SCOPED_TRACE(entry.name);
    const auto scheme = entry.make();
    const Load load = load_of(owners_after(*scheme, weighted_nodes(12)), weighted_nodes(12));
    if (weightless.contains(entry.name)) {
      EXPECT_GT(load.max_over_mean, 2);
    } else {
      EXPECT_LT(load.max_over_mean, 1.4);
    }
  }
}

TEST(Schemes, OfOneNodeGiveItEverything) {
  for (const SchemeEntry& entry : scheme_catalogue({}, hash_named("sha1"))) {
    SCOPED_TRACE(entry.name);
    const auto scheme = entry.make();
    for (const uint32_t owner : owners_after(*scheme, numbered_nodes("s", 1))) ASSERT_EQ(owner, 0U);
  }
}

TEST(HashedRing, SharesAreThoseOfTheKeys) {
  HashedRing ring(20, hash_named("sha1"));
  const std::vector<LabNode> nodes = numbered_nodes("s", 5);
  const Load load = load_of(owners_after(ring, nodes), nodes);
  double sum = 0;
  for (size_t i = 0; i < nodes.size(); ++i) {
    sum += ring.shares()[i];
    EXPECT_NEAR(static_cast<double>(load.keys[i]) / static_cast<double>(keys().size()), ring.shares()[i],
                0.015);
  }
  EXPECT_NEAR(sum, 1, 1e-9);
}

TEST(HashedRing, OfOnePointIsOneWholeArc) {
  HashedRing ring(1, hash_named("fnv1a32"));
  ASSERT_TRUE(ring.become(numbered_nodes("s", 1)).ok());
  EXPECT_EQ(ring.shares(), std::vector<double>{1});
}

// From the reference implementation's tests.
TEST(Jump, GivesThePublishedBuckets) {
  EXPECT_EQ(jump_bucket(1, 1), 0U);
  EXPECT_EQ(jump_bucket(42, 57), 43U);
  EXPECT_EQ(jump_bucket(0xDEAD10CC, 1), 0U);
  EXPECT_EQ(jump_bucket(0xDEAD10CC, 666), 361U);
  EXPECT_EQ(jump_bucket(256, 1024), 520U);
}

TEST(Jump, RefusesAnArbitraryRemovalAndSaysWhy) {
  Jump jump;
  ASSERT_TRUE(jump.become(numbered_nodes("s", 10)).ok());
  const auto before = jump.owners(keys());

  const Status refused = jump.become(without(numbered_nodes("s", 10), 4));

  EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(refused.message().find("without gaps: only the last node (s10) can be removed, not s5"),
            std::string::npos)
      << refused.message();
  EXPECT_EQ(jump.owners(keys()), before);
  EXPECT_TRUE(jump.become(numbered_nodes("s", 9)).ok());
}

TEST(Rendezvous, TheHighestScoreHasTheKey) {
  Rendezvous scheme(hash_named("sha1"));
  const std::vector<LabNode> nodes = numbered_nodes("s", 7);
  const auto owners = owners_after(scheme, nodes);
  for (size_t key = 0; key < 100; ++key) {
    const auto score = [&](const LabNode& node) {
      return rendezvous_score(keys().hashes[key], fmix64(sha1(node.name)));
    };
    for (const LabNode& node : nodes) EXPECT_LE(score(node), score(nodes[owners[key]]));
  }
}

TEST(Rendezvous, DoesNotDependOnTheOrderOfNodes) {
  std::vector<LabNode> nodes = numbered_nodes("s", 7);
  Rendezvous forward(hash_named("sha1"));
  const auto owners = owners_after(forward, nodes);
  std::reverse(nodes.begin(), nodes.end());
  Rendezvous backward(hash_named("sha1"));
  EXPECT_EQ(owners_after(backward, nodes), owners);
}

// The logarithm is monotone: with equal weights both methods agree.
TEST(WeightedRendezvous, WithEqualWeightsIsRendezvous) {
  Rendezvous plain(hash_named("sha1"));
  WeightedRendezvous weighted(hash_named("sha1"));
  EXPECT_EQ(owners_after(weighted, numbered_nodes("s", 9)), owners_after(plain, numbered_nodes("s", 9)));
}

TEST(WeightedRendezvous, AGrownWeightOnlyAttracts) {
  std::vector<LabNode> nodes = numbered_nodes("s", 9);
  WeightedRendezvous scheme(hash_named("sha1"));
  const auto before = owners_after(scheme, nodes);
  nodes[3].weight = 2;
  const Movement moved = movement(before, owners_after(scheme, nodes), {.newcomer = 3});
  EXPECT_EQ(moved.needless, 0U);
  EXPECT_GT(moved.moved, 0U);
}

// The first entries and the FNV-1a of all, from an independent script.
TEST(Maglev, FillsItsTableAsPublished) {
  Maglev maglev(hash_named("sha1"));
  ASSERT_TRUE(maglev.become(numbered_nodes("s", 5)).ok());
  const std::vector<uint16_t> expected = {2, 3, 3, 3, 2, 0, 4, 0, 2, 0, 1, 0, 4, 0, 4, 0, 4, 1, 4, 0};
  const std::vector<uint16_t>& table = maglev.table();
  ASSERT_EQ(table.size(), 65537U);
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), table.begin()));
  std::string bytes(table.begin(), table.end());
  EXPECT_EQ(fnv1a32(bytes), 2347593974U);
}

TEST(Maglev, GivesEachNodeTheSameEntriesButOne) {
  Maglev maglev(hash_named("murmur3_128"));
  ASSERT_TRUE(maglev.become(numbered_nodes("s", 100)).ok());
  std::vector<int64_t> entries(100, 0);
  for (const uint16_t node : maglev.table()) ++entries[node];
  const auto [least, most] = std::minmax_element(entries.begin(), entries.end());
  EXPECT_LE(*most - *least, 1);
}

TEST(Maglev, MovesALittleNeedlessly) {
  Maglev maglev(hash_named("sha1"));
  const auto before = owners_after(maglev, numbered_nodes("s", 100));
  const Movement moved = movement(before, owners_after(maglev, numbered_nodes("s", 101)), {.newcomer = 100});
  EXPECT_GT(moved.needless, 0U);
  EXPECT_LT(moved.needless, keys().size() / 50);
}

TEST(Ketama, TakesFourPointsOfEachDigest) {
  EXPECT_EQ(md5_words("s1-0"), (std::array<uint32_t, 4>{0x9826764b, 0x45004b78, 0x42d88cc3, 0x9aa50717}));
  Ketama ketama;
  ASSERT_TRUE(ketama.become(numbered_nodes("s", 3)).ok());
  EXPECT_EQ(ketama.state_bytes(), 3U * 160 * 8);
}

// From an independent script.
TEST(Ketama, PlacesTheGoldenKeys) {
  Ketama ketama;
  const auto owners = owners_after(ketama, numbered_nodes("s", 3));
  const std::vector<uint32_t> expected = {0, 0, 2, 2, 1, 1, 2, 1, 0, 0, 2, 1, 1, 1, 1, 0, 1, 2, 2, 0};
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), owners.begin()));
}

TEST(BoundedLoads, NoNodeIsAboveItsCap) {
  for (const double bound : {1.01, 1.1, 1.25, 2.0}) {
    BoundedLoads scheme(bound, 1, hash_named("sha1"));
    const std::vector<LabNode> nodes = weighted_nodes(50);
    const Load load = load_of(owners_after(scheme, nodes), nodes);
    const std::vector<uint64_t> caps = scheme.caps(keys().size());
    EXPECT_EQ(load.total(), keys().size());
    for (size_t i = 0; i < nodes.size(); ++i) EXPECT_LE(load.keys[i], caps[i]) << "c = " << bound;
  }
}

TEST(BoundedLoads, TheCapIsRoundedUp) {
  BoundedLoads scheme(1.25, 1, hash_named("sha1"));
  ASSERT_TRUE(scheme.become(numbered_nodes("s", 3)).ok());
  EXPECT_EQ(scheme.caps(10), (std::vector<uint64_t>{5, 5, 5}));
}

TEST(BoundedLoads, SpillsToTheNextNodeClockwiseThatHasRoom) {
  BoundedLoads scheme(1.1, 3, hash_named("sha1"));
  const std::vector<LabNode> nodes = numbered_nodes("s", 10);
  const auto owners = owners_after(scheme, nodes);
  std::vector<uint64_t> room = scheme.caps(keys().size());
  const VirtualNodeRing ring = ring_of(nodes, 3, hash_named("sha1"));
  for (size_t key = 0; key < keys().size(); ++key) {
    size_t place = ring.first_at_or_after(keys().hashes[key]);
    while (room[ring.node_at(place)] == 0) place = (place + 1) % ring.size();
    ASSERT_EQ(owners[key], ring.node_at(place));
    --room[owners[key]];
  }
}

TEST(BoundedLoads, AWideBoundIsTheRing) {
  BoundedLoads bounded(20, 10, hash_named("sha1"));
  HashedRing ring(10, hash_named("sha1"));
  EXPECT_EQ(owners_after(bounded, numbered_nodes("s", 20)), owners_after(ring, numbered_nodes("s", 20)));
}

}  // namespace
}  // namespace ringkv::ringlab
