#include <algorithm>

#include "base/check.h"
#include "replication/founding_table.h"
#include "replication/placer.h"
#include "replication/preference_list.h"
#include "replication/rebalancer.h"

namespace ringkv {
namespace {

constexpr uint32_t kNobody = TrialTable::kNobody;

// What a copy that needn't have moved costs, against the imbalance. To bring a load from 5 % off its target
// nearer by one copy is worth just as much.
constexpr int64_t kMoveCost = TrialTable::kImbalanceOne / 5;

// The members that are to own partitions, numbered in order of name.
struct Nodes {
  std::vector<uint16_t> position;  // in `members`
  WeightedNodes weighted;
};

Nodes nodes_of(const std::vector<Member>& members) {
  Nodes nodes;
  std::vector<std::string_view> racks;
  for (size_t i = 0; i < members.size(); ++i) {
    if (members[i].status == MemberStatus::kLeaving) continue;
    nodes.position.push_back(static_cast<uint16_t>(i));
    nodes.weighted.weights.push_back(members[i].weight);
    racks.push_back(members[i].rack);
  }
  nodes.weighted.rack_of = number_racks(racks);
  return nodes;
}

// For each previous member the number of the node of its name, or kNobody.
std::vector<uint32_t> node_of_previous(const std::vector<Member>& previous_members, const Nodes& nodes,
                                       const std::vector<Member>& members) {
  std::vector<uint32_t> node_of(previous_members.size(), kNobody);
  for (size_t i = 0; i < previous_members.size(); ++i) {
    const auto found = std::lower_bound(
        nodes.position.begin(), nodes.position.end(), previous_members[i].name,
        [&](uint16_t position, const std::string& name) { return members[position].name < name; });
    if (found != nodes.position.end() && members[*found].name == previous_members[i].name)
      node_of[i] = static_cast<uint32_t>(found - nodes.position.begin());
  }
  return node_of;
}

std::vector<uint32_t> renumbered(const std::vector<uint16_t>& positions,
                                 const std::vector<uint32_t>& node_of) {
  std::vector<uint32_t> nodes;
  nodes.reserve(positions.size());
  for (const uint16_t position : positions) nodes.push_back(node_of[position]);
  return nodes;
}

// For each node what its target rose by: where the change asks for no more than that, no more need move. What
// the old table lacked in evenness is no reason to move data.
std::vector<int64_t> rises(const TargetLoads& targets, const std::vector<Member>& previous_members,
                           const OwnerTable& previous, const std::vector<uint32_t>& node_of,
                           uint32_t replicas) {
  std::vector<bool> owned(previous_members.size(), false);
  for (const uint16_t owner : previous) owned[owner] = true;
  WeightedNodes before;
  std::vector<std::string_view> racks;
  std::vector<uint32_t> node_now;
  for (size_t i = 0; i < previous_members.size(); ++i) {
    if (!owned[i]) continue;
    before.weights.push_back(previous_members[i].weight);
    racks.push_back(previous_members[i].rack);
    node_now.push_back(node_of[i]);
  }
  before.rack_of = number_racks(racks);
  const TargetLoads targets_before = target_loads(before, static_cast<uint32_t>(previous.size()), replicas);

  std::vector<int64_t> rise = targets.load;
  for (size_t i = 0; i < node_now.size(); ++i) {
    if (node_now[i] != kNobody) rise[node_now[i]] -= targets_before.load[i];
  }
  for (int64_t& units : rise) units = std::max<int64_t>(0, units) / kLoadUnitsPerCopy;
  return rise;
}

// Puts nodes without a partition on the ring: each gets one. But where lists can't do without nodes that own
// next to nothing (newcomers in a new rack), those begin with their whole share, spread evenly: else walks,
// and the evaluation of changes, would go on for half the ring.
class Seeding {
 public:
  Seeding(const TargetLoads& targets, const std::vector<uint32_t>& rack_of, std::vector<uint32_t>& owners)
      : targets_(targets), rack_of_(rack_of), owners_(owners), owned_(rack_of.size(), 0) {
    for (const uint32_t owner : owners_) {
      if (owner != kNobody) ++owned_[owner];
    }
  }

  void seed_all() {
    const bool too_few_are_found = !walks_end_soon();
    for (uint32_t node = 0; node < owned_.size(); ++node) {
      if (too_few_are_found && is_short(node)) seed(node, wanted(node) / kLoadUnitsPerCopy);
      if (owned_[node] == 0) seed(node, 1);
    }
  }

 private:
  // Partitions that a node should own, in load units.
  int64_t wanted(uint32_t node) const { return targets_.load[node] / targets_.copies; }

  bool is_short(uint32_t node) const { return owned_[node] * kLoadUnitsPerCopy < wanted(node) / 4; }

  // Whether each round of a list can be filled by nodes that own enough to be met often.
  bool walks_end_soon() const {
    std::vector<size_t> nodes_in_rack(owned_.size(), 0);  // there are no more racks than nodes
    std::vector<size_t> often_met(owned_.size(), 0);
    for (uint32_t node = 0; node < owned_.size(); ++node) {
      ++nodes_in_rack[rack_of_[node]];
      often_met[rack_of_[node]] += is_short(node) ? 0 : 1;
    }
    const auto racks_above = [](const std::vector<size_t>& sizes, size_t round) {
      return static_cast<size_t>(
          std::count_if(sizes.begin(), sizes.end(), [&](size_t size) { return size > round; }));
    };
    size_t missing = targets_.copies;
    for (size_t round = 0; missing > 0; ++round) {
      const size_t needed = std::min(missing, racks_above(nodes_in_rack, round));
      if (racks_above(often_met, round) < needed) return false;
      missing -= needed;
    }
    return true;
  }

  // Gives the node a partition in each of `count` equal parts of the ring, of whoever has most to spare
  // there.
  void seed(uint32_t node, int64_t count) {
    const auto partitions = static_cast<int64_t>(owners_.size());
    for (int64_t part = 0; part < count; ++part) {
      const auto begin = owners_.begin() + partitions * part / count;
      const auto end = owners_.begin() + partitions * (part + 1) / count;
      const auto best =
          std::max_element(begin, end, [&](uint32_t a, uint32_t b) { return spare(a) < spare(b); });
      if (best == end || *best == node || spare(*best) == kNone) continue;
      if (*best != kNobody) --owned_[*best];
      *best = node;
      ++owned_[node];
    }
  }

  static constexpr int64_t kNone = INT64_MIN;

  // How much an owner has to give; without an owner, a partition is anybody's.
  int64_t spare(uint32_t owner) const {
    if (owner == kNobody) return INT64_MAX;
    return owned_[owner] > 1 ? owned_[owner] * kLoadUnitsPerCopy - wanted(owner) : kNone;
  }

  const TargetLoads& targets_;
  const std::vector<uint32_t>& rack_of_;
  std::vector<uint32_t>& owners_;
  std::vector<int64_t> owned_;
};

}  // namespace

OwnerTable place_balanced(const std::vector<Member>& previous_members, const OwnerTable& previous,
                          const std::vector<Member>& members, uint32_t partitions, uint32_t replicas) {
  CHECK(previous.empty() || previous.size() == partitions);
  const Nodes nodes = nodes_of(members);
  if (nodes.position.empty()) return {};
  const std::vector<uint32_t>& rack_of = nodes.weighted.rack_of;
  const TargetLoads targets = target_loads(nodes.weighted, partitions, replicas);

  const std::vector<uint32_t> node_of = node_of_previous(previous_members, nodes, members);
  std::vector<uint32_t> owners = renumbered(previous, node_of);
  std::vector<uint32_t> lists_before =
      renumbered(preference_lists(previous, previous_members, replicas), node_of);
  // Where every node holds everything, no table moves more than another: begin the best one.
  const bool all_hold_all = targets.copies == nodes.position.size();
  const bool nobody_stays =
      std::all_of(owners.begin(), owners.end(), [](uint32_t node) { return node == kNobody; });
  const bool founding = all_hold_all || nobody_stays;
  if (founding) {
    owners = founding_table(rack_of, targets, partitions);
    lists_before.clear();
  }
  Seeding(targets, rack_of, owners).seed_all();

  TrialTable table({.rack_of = rack_of,
                    .targets = targets,
                    .allowances = rises(targets, previous_members, previous, node_of, replicas),
                    .lists_before = std::move(lists_before)},
                   std::move(owners));
  Rebalancer rebalancer(table, founding ? 0 : kMoveCost);
  rebalancer.fill();
  rebalancer.take();
  rebalancer.even();

  OwnerTable placed;
  placed.reserve(partitions);
  for (const uint32_t node : table.owners()) placed.push_back(nodes.position[node]);
  return placed;
}

}  // namespace ringkv
