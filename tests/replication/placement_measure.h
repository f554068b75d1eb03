// Measures an owner table against the best that the rack rule allows.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "replication/placer.h"
#include "replication/preference_list.h"

namespace ringkv {

struct Cluster {
  std::vector<Member> members;
  OwnerTable owners;
  uint32_t partitions = 4096;
  uint32_t replicas = 3;

  // What joins, leaves and changes the members' order of name keeps.
  Cluster changed(std::vector<Member> to) const {
    std::sort(to.begin(), to.end(), [](const Member& a, const Member& b) { return a.name < b.name; });
    Cluster next{.members = to, .owners = {}, .partitions = partitions, .replicas = replicas};
    next.owners = place_balanced(members, owners, to, partitions, replicas);
    return next;
  }
};

// Two digits, so that order of name is order of number.
inline Member node(size_t number, std::string rack = "a", double weight = 1) {
  const std::string digits = std::to_string(1000 + number).substr(1);
  return {.node = {number}, .disk = {}, .name = "n" + digits, .rack = std::move(rack), .weight = weight};
}

inline std::string rack_name(size_t number) { return std::string(1, static_cast<char>('a' + number)); }

// n nodes, numbered from 1, in racks by turns.
inline std::vector<Member> nodes(size_t count, size_t racks) {
  std::vector<Member> members;
  for (size_t i = 0; i < count; ++i) members.push_back(node(i + 1, rack_name(i % racks)));
  return members;
}

inline std::vector<uint16_t> lists_of(const Cluster& cluster) {
  return preference_lists(cluster.owners, cluster.members, cluster.replicas);
}

inline std::map<std::string, double> copies_held(const Cluster& cluster) {
  std::map<std::string, double> held;
  std::vector<double> by_position(cluster.members.size(), 0);
  for (const uint16_t position : lists_of(cluster)) ++by_position[position];
  for (size_t i = 0; i < by_position.size(); ++i) held[cluster.members[i].name] = by_position[i];
  return held;
}

// Largest load by weight, at best: fractional loads of 0 to Q a node, each rack between what its full rounds
// and what all its rounds give it, N x Q together.
inline double best_load_by_weight(const Cluster& cluster) {
  const double q = cluster.partitions;
  std::map<std::string, std::vector<double>> racks;
  for (const Member& member : cluster.members) racks[member.rack].push_back(member.weight);
  const double copies = std::min<double>(cluster.replicas, static_cast<double>(cluster.members.size()));
  double full = 0;  // rounds that every rack with nodes left takes part in entirely
  const auto in_rounds = [&](double rounds) {
    double sum = 0;
    for (const auto& [rack, weights] : racks) sum += std::min(rounds, static_cast<double>(weights.size()));
    return sum;
  };
  while (in_rounds(full + 1) <= copies && in_rounds(full + 1) > in_rounds(full)) ++full;
  const double more = in_rounds(full) < copies ? 1 : 0;
  const auto feasible = [&](double level) {
    double sum = 0;
    for (const auto& [rack, weights] : racks) {
      const auto size = static_cast<double>(weights.size());
      double load = 0;
      for (const double weight : weights) load += std::min(q, level * weight);
      if (load < std::min(size, full) * q * (1 - 1e-12)) return false;
      sum += std::min(load, std::min(size, full + more) * q);
    }
    return sum >= copies * q * (1 - 1e-12);
  };
  double low = 0;
  double high = q * 1e9;
  for (int i = 0; i < 200; ++i) (feasible((low + high) / 2) ? high : low) = (low + high) / 2;
  return high;
}

// Largest load by weight over the best.
inline double load_ratio(const Cluster& cluster) {
  const auto held = copies_held(cluster);
  double most = 0;
  for (const Member& member : cluster.members) most = std::max(most, held.at(member.name) / member.weight);
  return most / best_load_by_weight(cluster);
}

// Copies held by nodes that didn't hold them before.
inline double copies_moved(const Cluster& before, const Cluster& after) {
  const auto old_lists = lists_of(before);
  const auto new_lists = lists_of(after);
  const size_t old_size = old_lists.size() / before.partitions;
  const size_t new_size = new_lists.size() / after.partitions;
  std::vector<int> old_position;  // by new position; -1 for a newcomer
  for (const Member& member : after.members) {
    int position = -1;
    for (size_t i = 0; i < before.members.size(); ++i) {
      if (before.members[i].name == member.name) position = static_cast<int>(i);
    }
    old_position.push_back(position);
  }
  double moved = 0;
  for (size_t p = 0; p < after.partitions; ++p) {
    const auto held = old_lists.begin() + static_cast<std::ptrdiff_t>(p * old_size);
    for (size_t i = 0; i < new_size; ++i) {
      const int position = old_position[new_lists[p * new_size + i]];
      const auto end = held + static_cast<std::ptrdiff_t>(old_size);
      moved += std::find(held, end, position) == end ? 1 : 0;
    }
  }
  return moved;
}

}  // namespace ringkv
