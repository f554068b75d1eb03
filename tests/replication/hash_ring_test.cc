#include "ringkv/hash_ring.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "base/token.h"
#include "replication/virtual_nodes.h"

namespace ringkv {
namespace {

using Names = std::vector<std::string>;

// Everything that can be asked of a ring of up to five nodes.
std::vector<Names> lists_of(const HashRing& ring) {
  std::vector<Names> lists;
  for (int key = 0; key < 500; ++key) lists.push_back(*ring.nodes_for(std::to_string(key), 5));
  return lists;
}

void expect_equals_fresh_ring(const HashRing& ring, uint32_t virtual_nodes, const HashRing::TokenOf& token) {
  HashRing fresh(virtual_nodes, token);
  const std::vector<HashRing::Node> members = ring.snapshot().members;
  for (const HashRing::Node& member : members)
    ASSERT_TRUE(fresh.add_node(member.id, member.weight, member.rack).ok());
  if (members.empty()) return;
  EXPECT_EQ(lists_of(ring), lists_of(fresh));
}

// Row B1: points that collide, and removal in all orders. One shared token, and tokens cut to few bits.
TEST(HashRing, RemovingCollidingPointsInAnyOrderLeavesTheRingOfTheSurvivors) {
  const std::vector<HashRing::TokenOf> tokens = {
      [](std::string_view) { return uint64_t{42}; },
      [](std::string_view bytes) { return token_of(sha1_of(bytes)) >> 60 << 60; },
      [](std::string_view bytes) { return token_of(sha1_of(bytes)) >> 48 << 48; },
  };
  for (const HashRing::TokenOf& token : tokens) {
    Names order = {"A", "B", "C", "D"};
    do {
      HashRing ring(8, token);
      for (const std::string id : {"A", "B", "C", "D"}) ASSERT_TRUE(ring.add_node(id).ok());
      for (const std::string& id : order) {
        ASSERT_TRUE(ring.remove_node(id).ok());
        expect_equals_fresh_ring(ring, 8, token);
      }
      EXPECT_EQ(ring.node_for("k").status().code(), StatusCode::kUnavailable);
      EXPECT_EQ(ring.nodes_for("k", 3).status().code(), StatusCode::kUnavailable);
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

TEST(HashRing, EqualPointsBelongToTheLowerName) {
  HashRing ring(4, [](std::string_view) { return uint64_t{7}; });
  for (const std::string id : {"b", "c", "a"}) ASSERT_TRUE(ring.add_node(id).ok());
  EXPECT_EQ(*ring.node_for("k"), "a");
  EXPECT_EQ(*ring.nodes_for("k", 9), (Names{"a", "b", "c"}));
}

TEST(HashRing, AnEmptyRingSaysNoNodes) {
  const HashRing ring;
  ASSERT_FALSE(ring.node_for("k").ok());
  EXPECT_EQ(ring.node_for("k").status().code(), StatusCode::kUnavailable);
  EXPECT_NE(ring.node_for("k").status().message().find("no nodes"), std::string::npos);
}

TEST(HashRing, RefusesWhatIsNoNode) {
  HashRing ring;
  ASSERT_TRUE(ring.add_node("n1").ok());
  EXPECT_EQ(ring.add_node("").code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(ring.add_node("n1").code(), StatusCode::kInvalidArgument);
  for (const double weight : {0.0, -1.0, 100.01, std::nan("")})
    EXPECT_EQ(ring.add_node("n2", weight).code(), StatusCode::kInvalidArgument) << weight;
  EXPECT_EQ(ring.remove_node("n2").code(), StatusCode::kNotFound);
  EXPECT_EQ(ring.snapshot().version, 1U);
}

TEST(HashRing, SnapshotHasMembersInOrderAndAVersionThatRises) {
  HashRing ring;
  ASSERT_TRUE(ring.add_node("n2", 0.5, "b").ok());
  ASSERT_TRUE(ring.add_node("n1", 2, "a").ok());
  EXPECT_EQ(ring.snapshot().members, (std::vector<HashRing::Node>{{"n1", 2, "a"}, {"n2", 0.5, "b"}}));
  EXPECT_EQ(ring.snapshot().version, 2U);
  ASSERT_TRUE(ring.remove_node("n2").ok());
  EXPECT_EQ(ring.snapshot().version, 3U);
}

// A point owns what lies before it: a token at the point is its own, the next one isn't.
TEST(HashRing, AKeyBelongsToThePointAtOrAfterItsToken) {
  const auto given = [](std::string_view bytes) {
    if (bytes == "a#0") return uint64_t{100};
    if (bytes == "b#0") return uint64_t{200};
    return *from_hex(bytes);
  };
  HashRing ring(1, given);
  ASSERT_TRUE(ring.add_node("a").ok());
  ASSERT_TRUE(ring.add_node("b").ok());
  EXPECT_EQ(*ring.node_for(hex(100)), "a");
  EXPECT_EQ(*ring.node_for(hex(101)), "b");
  EXPECT_EQ(*ring.node_for(hex(200)), "b");
  EXPECT_EQ(*ring.node_for(hex(201)), "a");
  EXPECT_EQ(*ring.node_for(hex(0)), "a");
}

TEST(HashRing, NodesForTakesNoRackTwiceBeforeEveryRackOnce) {
  HashRing ring;
  for (const std::string id : {"a1", "a2", "a3", "b1", "c1"})
    ASSERT_TRUE(ring.add_node(id, 1, id.substr(0, 1)).ok());
  for (int key = 0; key < 200; ++key) {
    const Names list = *ring.nodes_for(std::to_string(key), 4);
    ASSERT_EQ(list.size(), 4U);
    EXPECT_EQ(std::string({list[0][0], list[1][0], list[2][0]}).find_first_not_of("abc"), std::string::npos);
    EXPECT_NE(list[0][0], list[1][0]);
    EXPECT_NE(list[1][0], list[2][0]);
    EXPECT_NE(list[0][0], list[2][0]);
    EXPECT_EQ(list[3][0], 'a');
  }
  EXPECT_TRUE(ring.nodes_for("k", 0)->empty());
}

TEST(VirtualNodes, CountIsRoundedHalfUpAndAtLeastOne) {
  EXPECT_EQ(virtual_node_count(150, 1), 150U);
  EXPECT_EQ(virtual_node_count(150, 0.5), 75U);
  EXPECT_EQ(virtual_node_count(1, 2.5), 3U);
  EXPECT_EQ(virtual_node_count(1, 1.4999), 1U);
  EXPECT_EQ(virtual_node_count(150, 0.001), 1U);
  EXPECT_EQ(virtual_node_count(150, 100), 15000U);
}

}  // namespace
}  // namespace ringkv
