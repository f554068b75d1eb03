// ring_golden.json was written by an independent script from the rules alone (SHA-1 points, rack rounds, the
// partition table): eight clusters, 1,000 keys each.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "replication/placer.h"
#include "replication/ring.h"
#include "replication/virtual_nodes.h"
#include "ringkv/hash_ring.h"

namespace ringkv {
namespace {

using Json = nlohmann::json;
using Names = std::vector<std::string>;

const Json& golden() {
  static const Json json =
      Json::parse(std::ifstream(RINGKV_SOURCE_DIR "/tests/replication/ring_golden.json"));
  return json;
}

// Hexadecimal bytes; "6b*n" is byte 6b n times.
std::string key_of(const std::string& text) {
  const size_t star = text.find('*');
  std::string bytes;
  for (size_t i = 0; i < std::min(star, text.size()); i += 2)
    bytes.push_back(static_cast<char>(*from_hex(text.substr(i, 2))));
  return star == std::string::npos ? bytes : std::string(std::stoul(text.substr(star + 1)), bytes[0]);
}

std::vector<Member> members_of(const Json& cluster) {
  std::vector<Member> members;
  for (const Json& member : cluster["members"]) {
    members.push_back({.node = {members.size() + 1},
                       .disk = {},
                       .name = member["name"],
                       .rack = member["rack"],
                       .weight = member["weight"]});
  }
  return members;
}

Ring ring_of(const Json& cluster) {
  RingDescription ring;
  ring.members = members_of(cluster);
  ring.placer = PlacerKind::kHashed;
  ring.replicas = cluster["replicas"];
  ring.owners = place_hashed(ring.members, cluster["partitions"], cluster["vnodes"]);
  return Ring(std::move(ring));
}

Names names_of(const Ring& ring, std::span<const uint16_t> list) {
  Names names;
  for (const uint16_t position : list) names.push_back(ring.member(position).name);
  return names;
}

// Row B4: the same tokens, points and lists as another implementation, in every build.
TEST(RingGolden, PointsOfTheContinuousRing) {
  ASSERT_EQ(golden()["cases"].size(), 8U);
  for (const Json& cluster : golden()["cases"]) {
    const std::vector<Member> members = members_of(cluster);
    std::vector<VirtualNode> points;
    for (uint32_t i = 0; i < members.size(); ++i)
      add_virtual_nodes(points, members[i].name, i, virtual_node_count(cluster["vnodes"], members[i].weight),
                        [](std::string_view bytes) { return token_of(sha1_of(bytes)); });
    std::sort(points.begin(), points.end());

    ASSERT_EQ(points.size(), cluster["points"]) << cluster["title"];
    const auto expect_point = [&](const VirtualNode& point, const Json& expected) {
      EXPECT_EQ(Json({hex(point.token), members[point.node].name, point.number}), expected)
          << cluster["title"];
    };
    const Json& first = cluster["first_points"];
    const Json& last = cluster["last_points"];
    for (size_t i = 0; i < first.size(); ++i) expect_point(points[i], first[i]);
    for (size_t i = 0; i < last.size(); ++i) expect_point(points[points.size() - last.size() + i], last[i]);
  }
}

TEST(RingGolden, OwnersOfPartitions) {
  for (const Json& cluster : golden()["cases"]) {
    const Ring ring = ring_of(cluster);
    std::map<std::string, uint32_t> owned;
    std::string joined;
    for (const uint16_t owner : ring.description().owners) {
      ++owned[ring.member(owner).name];
      joined += (joined.empty() ? "" : ",") + ring.member(owner).name;
    }
    EXPECT_EQ(Json(owned), cluster["owned_partitions"]) << cluster["title"];
    EXPECT_EQ(ring_digest(joined), cluster["owners_sha1"]) << cluster["title"];
  }
}

TEST(RingGolden, TokensAndListsOfKeys) {
  for (const Json& cluster : golden()["cases"]) {
    const Ring ring = ring_of(cluster);
    HashRing continuous(cluster["vnodes"]);
    for (const Member& member : ring.description().members)
      ASSERT_TRUE(continuous.add_node(member.name, member.weight, member.rack).ok());
    ASSERT_EQ(cluster["lists"].size(), 1000U);
    for (const Json& row : cluster["lists"]) {
      const std::string key = key_of(row[0]);
      const KeyDigest digest = digest_of("", key);
      const Partition partition = ring.partition(digest);
      EXPECT_EQ(hex(ring.token(digest)), row[1]) << row[0];
      EXPECT_EQ(*continuous.nodes_for(key, cluster["replicas"]), row[2].get<Names>())
          << cluster["title"] << " " << row[0];
      EXPECT_EQ(*continuous.node_for(key), row[2][0]) << cluster["title"] << " " << row[0];
      EXPECT_EQ(partition, row[3]) << row[0];
      EXPECT_EQ(names_of(ring, ring.preference_list(partition)), row[4].get<Names>())
          << cluster["title"] << " " << row[0];
    }
  }
}

}  // namespace
}  // namespace ringkv
