#include "node/client_routes.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"

namespace ringkv {
namespace {

RingDescription ring_of(const std::vector<std::string>& names, uint64_t epoch, uint64_t seed) {
  RingDescription ring;
  ring.cluster = ClusterId{1};
  ring.epoch = epoch;
  ring.secret = std::string(32, 's');
  ring.buckets = {{}};
  for (const std::string& name : names) {
    const uint64_t id = static_cast<uint64_t>(name.back());
    const std::string rack(1, static_cast<char>('a' + id % 3));
    ring.members.push_back({.node = NodeId{id}, .disk = DiskId{id}, .name = name, .rack = rack});
  }
  SeededRandom random(seed);
  for (uint32_t i = 0; i < 256; ++i) ring.owners.push_back(static_cast<uint16_t>(random.below(names.size())));
  return ring;
}

std::shared_ptr<const ClientRoutes> routes_of(const RingDescription& ring,
                                              std::vector<RoutingTable::ClientAddress> addresses = {},
                                              const ClientRoutes* earlier = nullptr) {
  const auto routes = ClientRoutes::from({encode_ring_description(ring), std::move(addresses)}, earlier);
  EXPECT_TRUE(routes.ok()) << routes.status().to_string();
  return *routes;
}

// Names in preference order, as the page on placement says: clockwise from the key's partition, in each round
// every rack once.
std::vector<std::string> owners_by_hand(const RingDescription& ring, const std::string& bucket,
                                        const std::string& key) {
  const std::string hashed = bucket.empty() ? key : bucket + '\0' + key;
  const Partition first = partition_of(token_of(sha1_of(hashed)), ring.partitions());
  std::vector<std::string> names;
  while (names.size() < std::min<size_t>(ring.replicas, ring.members.size())) {
    std::vector<std::string> racks;  // of this round
    for (uint32_t step = 0; step < ring.partitions(); ++step) {
      const Member& member = ring.members[ring.owners[(first + step) % ring.partitions()]];
      const bool taken = std::find(names.begin(), names.end(), member.name) != names.end();
      const bool passed = std::find(racks.begin(), racks.end(), member.rack) != racks.end();
      if (taken || passed || names.size() == ring.replicas) continue;
      names.push_back(member.name);
      racks.push_back(member.rack);
    }
  }
  return names;
}

// Row B5: after a join and a leave too.
TEST(ClientRoutes, AgreeWithTheRingAboutAHundredThousandKeys) {
  std::shared_ptr<const ClientRoutes> routes;
  uint64_t epoch = 0;
  SeededRandom random(5);
  for (const std::vector<std::string>& names : {std::vector<std::string>{"n1", "n2", "n3", "n4"},
                                                {"n1", "n2", "n3", "n4", "n5"},
                                                {"n1", "n3", "n4", "n5"}}) {
    ++epoch;
    const RingDescription ring = ring_of(names, epoch, epoch);
    const Ring server(ring);
    routes = routes_of(ring, {}, routes.get());
    size_t different = 0;
    for (int i = 0; i < 100'000; ++i) {
      const std::string bucket = i % 4 == 0 ? "b" : "";
      std::string key(1 + random.below(12), '\0');
      for (char& byte : key) byte = static_cast<char>(random.next());
      std::vector<std::string> expected;
      for (const uint16_t owner : server.preference_list(server.partition(digest_of(bucket, key))))
        expected.push_back(server.member(owner).name);
      const std::vector<std::string> routed = routes->names_of_owners(bucket, key);
      different += routed != expected ? 1 : 0;
      if (i % 100 == 0) different += routed != owners_by_hand(ring, bucket, key) ? 1 : 0;
    }
    EXPECT_EQ(different, 0U) << "epoch " << epoch;
  }
}

TEST(ClientRoutes, ARingThatIsMalformedIsRefused) {
  EXPECT_FALSE(ClientRoutes::from({"", {}}, nullptr).ok());
  std::string description = encode_ring_description(ring_of({"n1"}, 1, 1));
  description.pop_back();
  EXPECT_FALSE(ClientRoutes::from({description, {}}, nullptr).ok());
}

TEST(ClientRoutes, AddressesFollowTheMembersAndWhatIsNoneIsLeftOut) {
  const auto routes =
      routes_of(ring_of({"n1", "n2", "n3"}, 1, 1),
                {{NodeId{'2'}, "n2:7401"}, {NodeId{'1'}, "somewhere"}, {NodeId{99}, "n9:7401"}});
  EXPECT_EQ(routes->address(0), "");
  EXPECT_EQ(routes->address(1), "n2:7401");
  EXPECT_EQ(routes->address(2), "");
  EXPECT_FALSE(routes->complete());
  EXPECT_TRUE(routes_of(ring_of({"n2"}, 1, 1), {{NodeId{'2'}, "n2:7401"}})->complete());
}

TEST(ClientRoutes, TheSameDescriptionKeepsItsRing) {
  const RingDescription ring = ring_of({"n1", "n2"}, 1, 1);
  const auto first = routes_of(ring);
  const auto second = routes_of(ring, {{NodeId{'1'}, "n1:7401"}}, first.get());
  EXPECT_EQ(&second->ring(), &first->ring());
  EXPECT_EQ(second->address(0), "n1:7401");
}

TEST(ClientRoutes, RingsAreOrderedByLineageThenEpoch) {
  const auto old = routes_of(ring_of({"n1"}, 5, 1));
  const auto newer = routes_of(ring_of({"n1"}, 6, 1));
  RingDescription forced = ring_of({"n1"}, 2, 1);
  forced.lineage = 2;
  const auto other_lineage = routes_of(forced);
  EXPECT_TRUE(newer->may_replace(*old));
  EXPECT_FALSE(old->may_replace(*newer));
  EXPECT_TRUE(old->may_replace(*old)) << "it may know more addresses";
  EXPECT_TRUE(other_lineage->may_replace(*newer));
  EXPECT_FALSE(newer->may_replace(*other_lineage));
}

}  // namespace
}  // namespace ringkv
