// How many copies each node should hold: as even by weight as the rack rule allows.
//
// A node holds a partition at most once, and the rounds of the rack rule fix how many copies a rack holds at
// least and at most. Within those bounds the largest load by weight is as small as it can be.
#pragma once

#include <cstdint>
#include <vector>

namespace ringkv {

// Loads are counted in sixteenths of a copy. Integers only: a target must be the same on every platform.
inline constexpr int64_t kLoadUnitsPerCopy = 16;

struct WeightedNodes {
  std::vector<uint32_t> rack_of;  // small numbers, equal for equal racks
  std::vector<double> weights;
};

struct TargetLoads {
  uint32_t copies = 0;        // of a partition: min(replicas, nodes)
  std::vector<int64_t> load;  // by node, in units
};

TargetLoads target_loads(const WeightedNodes& nodes, uint32_t partitions, uint32_t replicas);

}  // namespace ringkv
