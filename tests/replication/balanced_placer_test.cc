// Figures of the balanced placer: load over the best that the rack rule allows, data moved over the ideal.
// The table is printed so that it can be quoted; the bounds are the promise.
#include <gtest/gtest.h>

#include <cstdio>
#include <set>

#include "tests/replication/placement_measure.h"

namespace ringkv {
namespace {

// A change and its measure. Ideal: what each node's share rises by; for a join what the joiner holds after,
// for a leave what the leaver held.
struct Measured {
  double load = 0;
  double moved = 0;
};

Measured measure(const Cluster& before, const Cluster& after, double ideal) {
  return {.load = load_ratio(after), .moved = copies_moved(before, after) / ideal};
}

Cluster founded(std::vector<Member> members, uint32_t replicas = 3, uint32_t partitions = 4096) {
  return Cluster{.members = {}, .owners = {}, .partitions = partitions, .replicas = replicas}.changed(
      std::move(members));
}

std::vector<Member> without(std::vector<Member> members, size_t position) {
  members.erase(members.begin() + static_cast<std::ptrdiff_t>(position));
  return members;
}

// The worst over one leaver of each rack.
Measured worst_leave(const Cluster& cluster, size_t racks) {
  Measured worst;
  const auto held = copies_held(cluster);
  for (size_t i = 0; i < std::min(racks, cluster.members.size()); ++i) {
    const Cluster left = cluster.changed(without(cluster.members, i));
    const Measured one = measure(cluster, left, held.at(cluster.members[i].name));
    worst = {.load = std::max(worst.load, one.load), .moved = std::max(worst.moved, one.moved)};
  }
  return worst;
}

struct GrowthRow {
  size_t nodes = 0;  // after the join
  Measured join;
  Measured leave;  // from there, the worst one
};

// One node joins after another, up to 12; from each size one node of each rack leaves.
std::vector<GrowthRow> grow(size_t racks) {
  std::vector<GrowthRow> rows;
  Cluster cluster = founded(nodes(3, racks));
  for (size_t n = 4; n <= 12; ++n) {
    const Cluster joined = cluster.changed(nodes(n, racks));
    const double joiner_holds = copies_held(joined).at(node(n).name);
    rows.push_back({n, measure(cluster, joined, joiner_holds), worst_leave(joined, racks)});
    const GrowthRow& row = rows.back();
    std::printf("racks %zu, nodes %2zu: join load %.4f moved %.4f, leave load %.4f moved %.4f\n", racks, n,
                row.join.load, row.join.moved, row.leave.load, row.leave.moved);
    cluster = joined;
  }
  return rows;
}

TEST(BalancedPlacer, JoinsAndLeavesOfEqualNodesMoveTheIdealAndStayEven) {
  for (const size_t racks : {1, 3}) {
    for (const GrowthRow& row : grow(racks)) {
      EXPECT_LE(row.join.load, 1.02) << racks << " racks, " << row.nodes << " nodes";
      EXPECT_LE(row.join.moved, 1.02) << racks << " racks, " << row.nodes << " nodes";
      EXPECT_LE(row.leave.load, 1.02) << racks << " racks, " << row.nodes << " nodes";
      EXPECT_LE(row.leave.moved, 1.02) << racks << " racks, " << row.nodes << " nodes";
    }
  }
}

// Where racks are of unequal size, a leave can change how many copies the rack rule leaves to the other
// racks. Then lists that never held the leaver have to change too: with four racks of 2, 2, 2 and 1 nodes no
// even placement after a leave moves less than 1.33 times what the leaver held. (replication/README.md)
TEST(BalancedPlacer, OtherNumbersOfRacksStayEvenAndLeavesMayMoveMore) {
  for (const size_t racks : {2, 4, 5}) {
    for (const GrowthRow& row : grow(racks)) {
      EXPECT_LE(row.join.load, 1.10) << racks << " racks, " << row.nodes << " nodes";
      EXPECT_LE(row.join.moved, 1.10) << racks << " racks, " << row.nodes << " nodes";
      EXPECT_LE(row.leave.load, 1.10) << racks << " racks, " << row.nodes << " nodes";
      EXPECT_LE(row.leave.moved, 1.50) << racks << " racks, " << row.nodes << " nodes";
    }
  }
}

// Sum of what each node holds more than before.
double gained(const Cluster& before, const Cluster& after) {
  const auto held = copies_held(before);
  double sum = 0;
  for (const auto& [name, copies] : copies_held(after))
    sum += std::max(0.0, copies - (held.contains(name) ? held.at(name) : 0));
  return sum;
}

void expect_within(const char* what, const Cluster& before, const Cluster& after, double load_max,
                   double moved_max) {
  const Measured measured = measure(before, after, std::max(1.0, gained(before, after)));
  std::printf("%-44s load %.4f moved %.4f\n", what, measured.load, measured.moved);
  EXPECT_LE(measured.load, load_max) << what;
  EXPECT_LE(measured.moved, moved_max) << what;
}

TEST(BalancedPlacer, FoundingWithSeveralMembersIsEven) {
  for (const size_t racks : {1, 2, 3, 4, 5}) {
    for (size_t n = 1; n <= 13; ++n) {
      const Cluster cluster = founded(nodes(n, racks));
      EXPECT_LE(load_ratio(cluster), 1.02) << n << " nodes, " << racks << " racks";
    }
  }
}

TEST(BalancedPlacer, KeepsWeightsWithinTwoPerCent) {
  std::vector<Member> members = nodes(6, 1);
  for (size_t i = 0; i < members.size(); ++i) members[i].weight = 1 + 0.5 * static_cast<double>(i % 3);
  const Cluster weighted = founded(members);
  const auto held = copies_held(weighted);
  const double by_weight = 3 * 4096 / 9.0;
  for (const Member& member : weighted.members) {
    EXPECT_NEAR(held.at(member.name) / (member.weight * by_weight), 1, 0.02) << member.name;
  }

  members[0].weight = 2;
  const Cluster heavier = weighted.changed(members);
  expect_within("weight 1 -> 2 of 6 unequal nodes", weighted, heavier, 1.02, 1.02);
  members[0].weight = 0.5;
  expect_within("weight 2 -> 0.5 of 6 unequal nodes", heavier, heavier.changed(members), 1.02, 1.02);
}

TEST(BalancedPlacer, WeightsWithinRacksAreKept) {
  std::vector<Member> members = nodes(6, 3);
  for (size_t i = 0; i < 3; ++i) members[i].weight = 2;
  EXPECT_LE(load_ratio(founded(members)), 1.02);
  const Cluster equal = founded(nodes(6, 3));
  const Cluster heavier = equal.changed(members);
  expect_within("three weights 1 -> 2, 6 nodes, 3 racks", equal, heavier, 1.02, 1.02);
  expect_within("three weights back", heavier, heavier.changed(equal.members), 1.02, 1.02);
}

TEST(BalancedPlacer, SeveralJoinsAtOnceMoveOnlyWhatTheJoinersGet) {
  for (const size_t racks : {1, 3}) {
    const Cluster six = founded(nodes(6, racks));
    expect_within("6 -> 9 nodes at once", six, six.changed(nodes(9, racks)), 1.02, 1.02);
    expect_within("6 -> 12 nodes at once", six, six.changed(nodes(12, racks)), 1.02, 1.02);
    const Cluster one = founded(nodes(1, racks));
    expect_within("1 -> 6 nodes at once", one, one.changed(nodes(6, racks)), 1.02, 1.02);
  }
}

TEST(BalancedPlacer, AReplacementTakesWhatItsForerunnerHeld) {
  for (const size_t racks : {1, 3}) {
    const Cluster six = founded(nodes(6, racks));
    std::vector<Member> members = six.members;
    members[2] = node(99, six.members[2].rack);
    expect_within("one of 6 replaced", six, six.changed(members), 1.02, 1.02);
  }
}

TEST(BalancedPlacer, RackChangesAndNewRacksKeepTheRackRule) {
  Cluster cluster = founded(nodes(6, 1));
  std::vector<Member> members = cluster.members;
  for (const auto& [position, rack] :
       std::vector<std::pair<size_t, std::string>>{{0, "b"}, {1, "c"}, {2, "b"}}) {
    members[position].rack = rack;
    const Cluster next = cluster.changed(members);
    expect_within("one of 6 changes its rack", cluster, next, 1.10, 1.10);
    cluster = next;
  }
  const Cluster one_rack = founded(nodes(6, 1));
  std::vector<Member> with_new_rack = nodes(6, 1);
  with_new_rack.push_back(node(7, "z"));
  expect_within("a first node of a second rack joins", one_rack, one_rack.changed(with_new_rack), 1.10, 1.10);
}

// Walks must find a light node that is alone in its rack; were it to keep its one partition, each walk would
// go on for half the ring, and so would each evaluation of a change.
TEST(BalancedPlacer, ALightNodeLeftAloneInItsRackGetsEnoughPartitionsToBeFound) {
  std::vector<Member> members = nodes(8, 2);
  for (size_t i = 3; i < 8; i += 2) members[i].rack = "a";  // rack b: node 2 only
  members.push_back(node(9, "b", 0.01));
  const Cluster before = founded(members);

  const Cluster after = before.changed(without(members, 1));

  const auto owned = std::count(after.owners.begin(), after.owners.end(), 7);
  EXPECT_EQ(after.members[7].name, node(9).name);
  EXPECT_GT(owned, 4096 / 16);
  EXPECT_LE(load_ratio(after), 1.10);
}

TEST(BalancedPlacer, MoreReplicasAndLopsidedRacksStayEven) {
  for (const uint32_t replicas : {1U, 2U, 4U, 5U}) {
    const Cluster six = founded(nodes(6, 3), replicas);
    EXPECT_LE(load_ratio(six), 1.02) << replicas;
    // With two copies on three racks of 3, 2 and 2 nodes, taking a partition from another rack hands copies
    // to the third one, which should lose some too: the way there isn't free.
    const bool strained = replicas == 2;
    expect_within("6 -> 7 nodes, 3 racks, N 1, 2, 4, 5", six, six.changed(nodes(7, 3)),
                  strained ? 1.13 : 1.10, strained ? 1.30 : 1.10);
  }
  Cluster six = founded(nodes(6, 3));
  six.replicas = 5;
  EXPECT_LE(load_ratio(six.changed(six.members)), 1.10);

  std::vector<Member> members = nodes(7, 1);
  members[5].rack = "b";
  members[6].rack = "c";
  const Cluster lopsided = founded(members);
  members.push_back(node(8, "a"));
  const Cluster joined = lopsided.changed(members);
  expect_within("join to racks of 5, 1, 1", lopsided, joined, 1.10, 1.10);
  members.push_back(node(9, "b"));
  expect_within("join to racks of 6, 1, 1", joined, joined.changed(members), 1.10, 1.10);
}

TEST(BalancedPlacer, AHundredNodesAreEvenWithinOneList) {
  for (const size_t racks : {1, 3}) {
    const Cluster hundred = founded(nodes(100, racks));
    expect_within("100 -> 101 nodes", hundred, hundred.changed(nodes(101, racks)), 1.10, 1.10);
  }
}

// I7: the same changes give the same table; members are matched by name, whatever their positions.
TEST(BalancedPlacer, IsAFunctionOfThePreviousTableAndTheChange) {
  const Cluster five = founded(nodes(5, 3), 3, 1024);
  EXPECT_EQ(founded(nodes(5, 3), 3, 1024).owners, five.owners);
  EXPECT_EQ(five.changed(nodes(6, 3)).owners, five.changed(nodes(6, 3)).owners);

  // The same ring with another node's name before all: positions differ, owners' names don't.
  std::vector<Member> shifted_members = five.members;
  shifted_members.insert(shifted_members.begin(), node(0, "a"));
  shifted_members[0].status = MemberStatus::kLeaving;
  OwnerTable shifted = five.owners;
  for (uint16_t& owner : shifted) ++owner;
  std::vector<Member> to = nodes(6, 3);
  EXPECT_EQ(place_balanced(shifted_members, shifted, to, 1024, 3), five.changed(to).owners);
}

// I7: the tables that this build makes are those that every build makes: owners' names, joined by commas.
TEST(BalancedPlacer, TablesArePinned) {
  const auto digest = [](const Cluster& cluster) {
    std::string joined;
    for (const uint16_t owner : cluster.owners)
      joined += (joined.empty() ? "" : ",") + cluster.members[owner].name;
    return ring_digest(joined);
  };
  const Cluster five = founded(nodes(5, 3), 3, 1024);
  EXPECT_EQ(digest(five), "1e5ec06ae599003e81f6121b4178d4049c6c5afb");
  const Cluster six = five.changed(nodes(6, 3));
  EXPECT_EQ(digest(six), "dd7917f4a8efa04dcea003bf4e3c52ff43a97ab9");
  std::vector<Member> members = without(six.members, 1);
  const Cluster left = six.changed(members);
  EXPECT_EQ(digest(left), "b5e974c6cd9f0c6b15330920a06acb0fb7c44154");
  members[0].weight = 1.7;
  EXPECT_EQ(digest(left.changed(members)), "5a0668b7f100c96acd8f0435040d5d2ea4dbeb4e");
}

TEST(BalancedPlacer, AMemberThatIsLeavingGetsNothing) {
  const Cluster six = founded(nodes(6, 3));
  std::vector<Member> members = six.members;
  members[2].status = MemberStatus::kLeaving;

  const OwnerTable placed = place_balanced(six.members, six.owners, members, 4096, 3);

  const OwnerTable without_it = six.changed(without(six.members, 2)).owners;
  for (size_t p = 0; p < placed.size(); ++p) {
    EXPECT_NE(placed[p], 2);
    EXPECT_EQ(members[placed[p]].name, without(six.members, 2)[without_it[p]].name);
  }
  for (Member& member : members) member.status = MemberStatus::kLeaving;
  EXPECT_TRUE(place_balanced(six.members, six.owners, members, 4096, 3).empty());
}

// More nodes than partitions, one partition, weights far apart: a table all the same, owned by who may own.
TEST(BalancedPlacer, TinyTablesAndExtremeWeightsWork) {
  for (const uint32_t partitions : {1U, 2U, 4U, 16U}) {
    Cluster cluster = founded(nodes(1, 3), 3, partitions);
    for (size_t n = 2; n <= 9; ++n) {
      cluster = cluster.changed(nodes(n, 3));
      ASSERT_EQ(cluster.owners.size(), partitions);
      const std::set<uint16_t> owners(cluster.owners.begin(), cluster.owners.end());
      EXPECT_LT(*owners.rbegin(), n);
      EXPECT_EQ(owners.size(), std::min<size_t>(n, partitions));
    }
  }
  std::vector<Member> members = nodes(6, 2);
  members[0].weight = 1e-9;
  members[1].weight = 100;
  const Cluster extreme = founded(members);
  EXPECT_EQ(std::set<uint16_t>(extreme.owners.begin(), extreme.owners.end()).size(), 6U);
}

}  // namespace
}  // namespace ringkv
