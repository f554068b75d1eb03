// Sentences of "Dynamo: Amazon's Highly Available Key-value Store" (DeCandia et al., SOSP 2007) that ringkv
// holds itself to. Each test cites its section. Where ringkv deviates, ARCHITECTURE.md says so and there is
// no test here.
#include <gtest/gtest.h>

#include <set>

#include "replication/placer.h"
#include "replication/preference_list.h"
#include "ringkv/hash_ring.h"
#include "tests/replication/peer_fixture.h"

namespace ringkv {
namespace {

using Values = std::vector<std::string>;

std::vector<Member> members(int count) {
  std::vector<Member> made;
  for (int i = 1; i <= count; ++i) {
    made.push_back({.node = NodeId{static_cast<uint64_t>(i)}, .name = "n" + std::to_string(i), .rack = "a"});
  }
  return made;
}

// 4.1: "The get(key) operation locates the object replicas associated with the key in the storage system and
// returns a single object or a list of objects with conflicting versions along with a context."
TEST(DynamoPaper, AGetReturnsOneObjectOrConflictingOnesAlongWithAContext) {
  PeerFixture peer;
  peer.put("cart", "book", "");
  EXPECT_EQ(peer.get("cart").values, Values{"book"});
  peer.put("cart", "pen", "");
  const GetResult result = peer.get("cart");
  EXPECT_EQ(result.values, (Values{"book", "pen"}));
  EXPECT_FALSE(result.context.empty());
}

// 4.1: "Dynamo treats both the key and the object supplied by the caller as an opaque array of bytes."
TEST(DynamoPaper, KeysAndObjectsAreOpaqueBytes) {
  std::string all;
  for (int i = 0; i < 256; ++i) all.push_back(static_cast<char>(i));
  PeerFixture peer;
  peer.put(all, all);
  EXPECT_EQ(peer.get(all).values, Values{all});
}

// 4.2: "The principle advantage of consistent hashing is that departure or arrival of a node only affects its
// immediate neighbors and other nodes remain unaffected."
TEST(DynamoPaper, ANodesDepartureMovesOnlyItsOwnKeys) {
  HashRing ring;
  for (int i = 1; i <= 10; ++i) ASSERT_TRUE(ring.add_node("n" + std::to_string(i)).ok());
  std::map<std::string, std::string> before;
  for (int i = 0; i < 5000; ++i)
    before["key" + std::to_string(i)] = *ring.node_for("key" + std::to_string(i));
  ASSERT_TRUE(ring.remove_node("n4").ok());
  for (const auto& [key, owner] : before) {
    if (owner != "n4") {
      EXPECT_EQ(*ring.node_for(key), owner) << key;
    }
  }
}

// 4.2: "The number of virtual nodes that a node is responsible can decided based on its capacity, accounting
// for heterogeneity in the physical infrastructure."
TEST(DynamoPaper, ANodeOfTwiceTheWeightOwnsAboutTwiceAsMuch) {
  std::vector<Member> uneven = members(4);
  uneven[1].weight = 2;
  const OwnerTable owners = place_hashed(uneven, 4096);
  std::map<uint16_t, int> owned;
  for (const uint16_t owner : owners) ++owned[owner];
  EXPECT_NEAR(owned[1], 4096 * 2 / 5, 4096 / 20);
}

// 4.3: "the preference list for a key is constructed by skipping positions in the ring to ensure that the
// list contains only distinct physical nodes."
TEST(DynamoPaper, APreferenceListHoldsDistinctNodes) {
  const std::vector<Member> five = members(5);
  const OwnerTable owners = place_hashed(five, 1024);
  const std::vector<uint16_t> lists = preference_lists(owners, five, 3);
  ASSERT_EQ(lists.size(), 1024U * 3);
  for (size_t i = 0; i < lists.size(); i += 3) {
    EXPECT_EQ(
        std::set<uint16_t>(lists.begin() + static_cast<long>(i), lists.begin() + static_cast<long>(i) + 3)
            .size(),
        3U);
  }
}

// 4.4: "Dynamo treats the result of each modification as a new and immutable version of the data. It allows
// for multiple versions of an object to be present in the system at the same time."
TEST(DynamoPaper, ConcurrentVersionsLiveSideBySide) {
  PeerFixture peer;
  const std::string seen = peer.put("cart", "D2").context.bytes();
  peer.put("cart", "D3", seen);
  peer.put("cart", "D4", seen);
  EXPECT_EQ(peer.get("cart").values, (Values{"D3", "D4"}));
}

// 4.4, figure 3: "the client performs the reconciliation and node Sx coordinates the write": D5 descends from
// D3 and D4.
TEST(DynamoPaper, AReconciledVersionReplacesItsBranches) {
  PeerFixture peer;
  const std::string seen = peer.put("cart", "D2").context.bytes();
  peer.put("cart", "D3", seen);
  peer.put("cart", "D4", seen);
  peer.put("cart", "D5", peer.get("cart").context.bytes());
  EXPECT_EQ(peer.get("cart").values, Values{"D5"});
}

// 4.4: "Most of the time, new versions subsume the previous version(s), and the system itself can determine
// the authoritative version (syntactic reconciliation)."
TEST(DynamoPaper, ANewVersionSubsumesThePreviousOne) {
  PeerFixture peer;
  for (int i = 0; i < 10; ++i) peer.put("cart", std::to_string(i), peer.get("cart").context.bytes());
  EXPECT_EQ(peer.get("cart").values, Values{"9"});
}

// 4.4: "an 'add to cart' operation can never be forgotten or rejected": a delete of what was seen keeps what
// was not.
TEST(DynamoPaper, ADeleteOfAnOlderVersionKeepsAConcurrentAddition) {
  PeerFixture peer;
  const std::string seen = peer.put("cart", "old").context.bytes();
  peer.put("cart", "added meanwhile", seen);
  peer.remove("cart", seen);
  EXPECT_EQ(peer.get("cart").values, Values{"added meanwhile"});
}

// 4.5: "R is the minimum number of nodes that must participate in a successful read operation. W is the
// minimum number of nodes that must participate in a successful write operation."
TEST(DynamoPaper, AWriteSucceedsOnceWNodesHaveTakenPart) {
  Quorum quorum({NodeId{1}, NodeId{2}, NodeId{3}}, 2);
  quorum.on_success(NodeId{3});
  EXPECT_FALSE(quorum.reached());
  quorum.on_success(NodeId{1});
  EXPECT_TRUE(quorum.reached());
}

}  // namespace
}  // namespace ringkv
