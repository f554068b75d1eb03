// I7 and I8 over 3 to 13 nodes, 1 to 5 racks, N 1 to 5 and 1 to 256 virtual nodes, and rows of the bug log.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "base/text.h"
#include "replication/ring.h"
#include "ringkv/hash_ring.h"
#include "tests/replication/placement_measure.h"

namespace ringkv {
namespace {

using Names = std::vector<std::string>;

struct Shape {
  size_t nodes;
  size_t racks;
  uint32_t replicas;
  uint32_t virtual_nodes;
};

std::ostream& operator<<(std::ostream& out, const Shape& shape) {
  return out << shape.nodes << " nodes, " << shape.racks << " racks, N " << shape.replicas << ", "
             << shape.virtual_nodes << " virtual nodes";
}

std::vector<Shape> shapes(std::vector<uint32_t> virtual_nodes) {
  std::vector<Shape> all;
  for (size_t n = 3; n <= 13; ++n) {
    for (size_t racks = 1; racks <= std::min<size_t>(n, 5); ++racks) {
      for (uint32_t replicas = 1; replicas <= 5; ++replicas) {
        for (const uint32_t each : virtual_nodes) all.push_back({n, racks, replicas, each});
      }
    }
  }
  return all;
}

// Checks one list by counting, apart from how it was found: distinct nodes, racks as even as they can be.
void expect_list_keeps_the_rule(std::span<const uint16_t> list, const std::vector<Member>& members,
                                const std::set<uint16_t>& owners, uint32_t replicas) {
  std::map<std::string, size_t> rack_sizes;
  for (const uint16_t owner : owners) ++rack_sizes[members[owner].rack];
  std::map<std::string, size_t> taken;
  for (const uint16_t position : list) ++taken[members[position].rack];

  EXPECT_EQ(list.size(), std::min<size_t>(replicas, owners.size()));
  EXPECT_EQ(std::set<uint16_t>(list.begin(), list.end()).size(), list.size());
  EXPECT_EQ(taken.size(), std::min(list.size(), rack_sizes.size()));
  for (const auto& [rack, count] : taken) {
    for (const auto& [other, size] : rack_sizes) {
      // A rack with nodes left is at most one copy behind.
      const size_t others = taken.contains(other) ? taken.at(other) : 0;
      EXPECT_TRUE(others == size || count <= others + 1) << rack << " against " << other;
    }
  }
}

void expect_table_keeps_the_rule(const OwnerTable& owners, const std::vector<Member>& members,
                                 uint32_t replicas) {
  const std::vector<uint16_t> lists = preference_lists(owners, members, replicas);
  const std::set<uint16_t> present(owners.begin(), owners.end());
  const size_t size = lists.size() / owners.size();
  for (size_t p = 0; p < owners.size(); ++p) {
    expect_list_keeps_the_rule({lists.data() + p * size, size}, members, present, replicas);
    EXPECT_EQ(lists[p * size], owners[p]) << "partition " << p;
  }
}

// I8, row B7: at the wrap too (every partition is walked, the last ones across it).
TEST(RingProperties, EveryListHasDistinctNodesOnAsManyRacksAsThereAre) {
  for (const Shape& shape : shapes({1, 8, 64, 256})) {
    SCOPED_TRACE(cat(shape));
    const std::vector<Member> members = nodes(shape.nodes, shape.racks);
    const OwnerTable owners = place_hashed(members, 256, shape.virtual_nodes);
    expect_table_keeps_the_rule(owners, members, shape.replicas);
    if (HasFailure()) return;
  }
}

TEST(RingProperties, BalancedTablesKeepTheRuleToo) {
  for (const Shape& shape : shapes({1})) {
    SCOPED_TRACE(cat(shape));
    Cluster cluster{.members = {}, .owners = {}, .partitions = 128, .replicas = shape.replicas};
    cluster = cluster.changed(nodes(shape.nodes - 1, shape.racks));
    cluster = cluster.changed(nodes(shape.nodes, shape.racks));
    EXPECT_EQ(std::set<uint16_t>(cluster.owners.begin(), cluster.owners.end()).size(), shape.nodes);
    expect_table_keeps_the_rule(cluster.owners, cluster.members, shape.replicas);
    if (HasFailure()) return;
  }
}

// Row B7 on the continuous ring: keys around the last and the first point.
TEST(RingProperties, ListsOfTheContinuousRingKeepTheRuleAtTheWrap) {
  for (const Shape& shape : shapes({1, 8, 64})) {
    SCOPED_TRACE(cat(shape));
    const auto given = [](std::string_view bytes) {  // "@token" is placed as it says
      return bytes.starts_with('@') ? *from_hex(bytes.substr(1)) : token_of(sha1_of(bytes));
    };
    HashRing ring(shape.virtual_nodes, given);
    std::map<std::string, uint16_t> position;
    const std::vector<Member> members = nodes(shape.nodes, shape.racks);
    std::set<uint16_t> present;
    for (const Member& member : members) {
      ASSERT_TRUE(ring.add_node(member.name, 1, member.rack).ok());
      const auto next = static_cast<uint16_t>(position.size());
      position[member.name] = next;
      present.insert(next);
    }
    for (const uint64_t token : {~0ULL, ~0ULL - 1, 0ULL, 1ULL, 1ULL << 63, ~0ULL - (1ULL << 58)}) {
      std::vector<uint16_t> list;
      const Names names = *ring.nodes_for("@" + hex(token), shape.replicas);
      for (const std::string& name : names) list.push_back(position.at(name));
      expect_list_keeps_the_rule(list, members, present, shape.replicas);
    }
    EXPECT_EQ(*ring.nodes_for("@ffffffffffffffff", 5), *ring.nodes_for("@0000000000000000", 5));
    if (HasFailure()) return;
  }
}

// Ranks recomputed in the plainest way: walk once around, note each node's rank within its rack, sort by
// rank.
TEST(RingProperties, ListsEqualThoseOfAPlainReference) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    std::mt19937_64 random(seed);
    const size_t count = 1 + random() % 13;
    std::vector<Member> members;
    for (size_t i = 0; i < count; ++i) members.push_back(node(i + 1, rack_name(random() % 5)));
    OwnerTable owners(64);
    for (uint16_t& owner : owners) owner = static_cast<uint16_t>(random() % count);
    const auto copies = static_cast<uint32_t>(1 + random() % 6);

    std::vector<uint16_t> expected;
    for (size_t start = 0; start < owners.size(); ++start) {
      std::map<std::string, size_t> met;
      std::set<uint16_t> seen;
      std::vector<std::pair<size_t, uint16_t>> ranked;
      for (size_t i = 0; i < owners.size(); ++i) {
        const uint16_t owner = owners[(start + i) % owners.size()];
        if (seen.insert(owner).second) ranked.emplace_back(met[members[owner].rack]++, owner);
      }
      std::stable_sort(ranked.begin(), ranked.end(),
                       [](const auto& a, const auto& b) { return a.first < b.first; });
      ranked.resize(std::min<size_t>(copies, ranked.size()));
      for (const auto& [rank, owner] : ranked) expected.push_back(owner);
    }
    ASSERT_EQ(preference_lists(owners, members, copies), expected) << "seed " << seed;
  }
}

RingDescription described(std::vector<Member> members, uint32_t replicas, uint32_t virtual_nodes) {
  RingDescription ring;
  std::sort(members.begin(), members.end(), [](const Member& a, const Member& b) { return a.name < b.name; });
  ring.members = std::move(members);
  ring.placer = PlacerKind::kHashed;
  ring.replicas = replicas;
  ring.owners = place_hashed(ring.members, 1024, virtual_nodes);
  ring.buckets = {{}};
  ring.secret = std::string(32, 's');
  return ring;
}

// I7, row B2: six members joined in 50 orders: bytes, digest and all lists are equal. Short tokens make
// points collide on the continuous ring.
TEST(RingProperties, TheOrderOfJoinsDoesNotMatter) {
  std::vector<Member> members = nodes(6, 3);
  members[1].weight = 2;
  const Ring expected(described(members, 3, 64));
  ASSERT_TRUE(decode_ring_description(expected.encoded()).ok());
  const auto short_token = [](std::string_view bytes) { return token_of(sha1_of(bytes)) >> 56 << 56; };
  std::vector<Names> expected_lists;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    std::shuffle(members.begin(), members.end(), std::mt19937_64(seed));
    const Ring ring(described(members, 3, 64));
    EXPECT_EQ(ring.encoded(), expected.encoded()) << "seed " << seed;
    EXPECT_EQ(ring.digest(), expected.digest()) << "seed " << seed;
    HashRing continuous(64, short_token);
    for (const Member& member : members)
      ASSERT_TRUE(continuous.add_node(member.name, member.weight, member.rack).ok());
    std::vector<Names> lists;
    for (int key = 0; key < 2000; ++key) lists.push_back(*continuous.nodes_for(std::to_string(key), 3));
    if (expected_lists.empty()) expected_lists = lists;
    ASSERT_EQ(lists, expected_lists) << "seed " << seed;
    for (Partition p = 0; p < 1024; ++p) {
      ASSERT_TRUE(std::ranges::equal(ring.preference_list(p), expected.preference_list(p)))
          << "seed " << seed;
    }
  }
}

// Row B4: keys of every kind; independent figures are in ring_golden_test. Equal bytes in, equal token out,
// whatever the sign of char.
TEST(RingProperties, TokensTakeEveryByteAsItIs) {
  EXPECT_EQ(hex(token_of(sha1_of(std::string("\0", 1)))), "5ba93c9db0cff93f");
  EXPECT_EQ(hex(token_of(sha1_of("\xff\xff\xff\xff\xff\xff\xff\xff"))), "be673e8a56eaa9d8");
  std::set<Token> tokens;
  for (int byte = 0; byte < 256; ++byte)
    tokens.insert(token_of(sha1_of(std::string(1, static_cast<char>(byte)))));
  EXPECT_EQ(tokens.size(), 256U);
}

// Row B10: no kind of key gathers on one node.
TEST(RingProperties, KeysOfEveryKindSpreadOverAllNodes) {
  std::mt19937_64 random(10);
  const std::string prefix(200, 'p');
  const std::vector<std::pair<std::string, std::function<std::string(int)>>> kinds = {
      {"sequential", [](int i) { return std::to_string(i); }},
      {"common prefix", [&](int i) { return prefix + std::to_string(i); }},
      {"binary counter", [](int i) { return std::string(reinterpret_cast<const char*>(&i), sizeof i); }},
      {"random", [&](int) { return std::to_string(random()); }},
  };
  const std::vector<Member> members = nodes(5, 1);
  const OwnerTable owners = place_hashed(members, 4096, 256);
  for (const auto& [kind, key] : kinds) {
    std::vector<double> keys(5, 0);
    for (int i = 0; i < 100000; ++i) ++keys[owners[partition_of(token_of(sha1_of(key(i))), 4096)]];
    EXPECT_LE(*std::max_element(keys.begin(), keys.end()) / 20000, 1.25) << kind;
    EXPECT_GT(*std::min_element(keys.begin(), keys.end()), 0) << kind;
  }
  std::set<uint16_t> used;  // one byte: 256 keys only
  for (int i = 0; i < 256; ++i)
    used.insert(owners[partition_of(token_of(sha1_of(std::string(1, static_cast<char>(i)))), 4096)]);
  EXPECT_EQ(used.size(), 5U);
}

// Row B12: a removed node moves no key that didn't have it in its list. On the ring alone, a node beyond the
// end of a list is never read.
TEST(RingProperties, RemovingANodeLeavesListsWithoutItAlone) {
  for (const size_t racks : {1, 3}) {
    HashRing ring;
    for (const Member& member : nodes(10, racks))
      ASSERT_TRUE(ring.add_node(member.name, 1, member.rack).ok());
    std::vector<Names> before;
    for (int key = 0; key < 100000; ++key) before.push_back(*ring.nodes_for(std::to_string(key), 3));

    const std::string gone = node(4).name;
    ASSERT_TRUE(ring.remove_node(gone).ok());

    size_t kept = 0;
    for (int key = 0; key < 100000; ++key) {
      const Names& list = before[static_cast<size_t>(key)];
      if (std::find(list.begin(), list.end(), gone) != list.end()) continue;
      ASSERT_EQ(*ring.nodes_for(std::to_string(key), 3), list) << key;
      ++kept;
    }
    EXPECT_GT(kept, 60000U);
  }
}

// Minimal movement of the hashed table: partitions go to the joiner or stay, and come from the leaver or
// stay.
TEST(RingProperties, HashedTablesMoveOnlyWhatTheJoinerTakesOrTheLeaverHad) {
  for (const uint32_t virtual_nodes : {1U, 8U, 64U, 256U}) {
    for (size_t n = 3; n <= 13; ++n) {
      const std::vector<Member> larger = nodes(n, 3);
      const OwnerTable with = place_hashed(larger, 4096, virtual_nodes);
      for (size_t gone = 0; gone < n; ++gone) {
        std::vector<Member> smaller = larger;
        smaller.erase(smaller.begin() + static_cast<std::ptrdiff_t>(gone));
        const OwnerTable without = place_hashed(smaller, 4096, virtual_nodes);
        for (size_t p = 0; p < 4096; ++p) {
          if (with[p] == gone) continue;
          ASSERT_EQ(smaller[without[p]].name, larger[with[p]].name) << n << " nodes, partition " << p;
        }
      }
    }
  }
}

TEST(RingProperties, HashedTablesGiveALeavingMemberNothing) {
  std::vector<Member> members = nodes(4, 1);
  members[1].status = MemberStatus::kLeaving;
  const OwnerTable owners = place_hashed(members, 256);
  EXPECT_EQ(std::count(owners.begin(), owners.end(), 1), 0);
  for (Member& member : members) member.status = MemberStatus::kLeaving;
  EXPECT_TRUE(place_hashed(members, 256).empty());
}

}  // namespace
}  // namespace ringkv
