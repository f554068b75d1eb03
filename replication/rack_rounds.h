// The rule of preference lists, one owner at a time, for every ring of the project: the continuous one, the
// partition table, and a table that the balanced placer tries out.
//
// Of each rack the first node met belongs to round 0, the second to round 1, and so on; the list is round 0
// in order of meeting, then round 1, and so on, cut after `copies`. How many nodes each round has is known
// before the walk, so that each node has its place at once and the walk ends with the last place taken.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/check.h"

namespace ringkv {

class RackRounds {
 public:
  struct Nodes {
    std::vector<uint32_t> rack_of;  // small numbers, equal for equal racks
    std::vector<bool> on_ring;      // whether a full circle meets the node
  };

  RackRounds(const Nodes& nodes, size_t copies);

  // min(copies, nodes on the ring).
  size_t list_size() const { return list_.size(); }

  // Walks clockwise over `size` places from `start` on until the list is complete; returns the steps taken.
  // The list is good until the next walk. `owner_at` gives the node at a place, or kNobody.
  template <class OwnerAt>
  size_t walk(size_t start, size_t size, OwnerAt owner_at);

  std::span<const uint32_t> list() const { return list_; }

  static constexpr uint32_t kNobody = 0xFFFF'FFFF;

 private:
  struct Rack {
    uint32_t walk = 0;  // the walk that `met` counts for
    uint32_t met = 0;
  };

  void restart();
  void meet(uint32_t node);

  std::vector<uint32_t> rack_of_;
  std::vector<size_t> round_begin_;  // where each round begins in the list; the end of the last one

  uint32_t walk_ = 0;
  std::vector<uint32_t> met_in_walk_;  // by node
  std::vector<Rack> racks_;
  std::vector<size_t> round_end_;  // how far each round is filled
  std::vector<uint32_t> list_;
  size_t missing_ = 0;
};

// Equal numbers for equal names, counted from 0 in order of first appearance.
std::vector<uint32_t> number_racks(const std::vector<std::string_view>& racks);

template <class OwnerAt>
size_t RackRounds::walk(size_t start, size_t size, OwnerAt owner_at) {
  restart();
  size_t steps = 0;
  for (size_t place = start; missing_ > 0; ++steps) {
    CHECK(steps < size);  // a full circle meets every node that is said to be on the ring
    if (const uint32_t owner = owner_at(place); owner != kNobody) meet(owner);
    if (++place == size) place = 0;
  }
  return steps;
}

inline void RackRounds::restart() {
  ++walk_;
  missing_ = list_.size();
  for (size_t round = 0; round < round_end_.size(); ++round) round_end_[round] = round_begin_[round];
}

inline void RackRounds::meet(uint32_t node) {
  if (met_in_walk_[node] == walk_) return;
  met_in_walk_[node] = walk_;
  Rack& rack = racks_[rack_of_[node]];
  if (rack.walk != walk_) rack = {.walk = walk_, .met = 0};
  const uint32_t round = rack.met++;
  if (round >= round_end_.size() || round_end_[round] == round_begin_[round + 1]) return;
  list_[round_end_[round]++] = node;
  --missing_;
}

}  // namespace ringkv
