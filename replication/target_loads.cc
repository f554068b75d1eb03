#include "replication/target_loads.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace ringkv {
namespace {

// Weights as integers, in units of 2^-20; a level is a load per weight, with 30 more bits below the point.
constexpr int kWeightBits = 20;
constexpr int kLevelBits = 30;

int64_t fixed_weight(double weight) {
  return std::max<int64_t>(1, std::llround(std::ldexp(weight, kWeightBits)));
}

struct Rack {
  std::vector<size_t> nodes;
  int64_t load_min = 0;
  int64_t load_max = 0;
};

int64_t load_at(int64_t level, int64_t weight, int64_t load_max) {
  if (level >= (load_max << kLevelBits) / weight) return load_max;
  return (level * weight) >> kLevelBits;
}

// The lowest level at which `load` (which rises with it) reaches `wanted`, or the highest level.
int64_t lowest_level(int64_t highest, int64_t wanted, const std::function<int64_t(int64_t)>& load) {
  int64_t low = 0;
  int64_t high = highest;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (load(middle) >= wanted) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

// Fills in what each rack holds at least (its part of the full rounds) and at most (and of the last one).
void bound_racks(std::vector<Rack>& racks, uint32_t copies, int64_t load_max) {
  uint32_t placed = 0;
  for (size_t round = 0; placed < copies; ++round) {
    uint32_t size = 0;
    for (const Rack& rack : racks) size += rack.nodes.size() > round ? 1 : 0;
    for (Rack& rack : racks) {
      if (rack.nodes.size() <= round) continue;
      rack.load_max += load_max;
      if (placed + size <= copies) rack.load_min += load_max;
    }
    placed += size;
  }
}

}  // namespace

TargetLoads target_loads(const WeightedNodes& nodes, uint32_t partitions, uint32_t replicas) {
  const size_t count = nodes.weights.size();
  const int64_t load_max = int64_t{partitions} * kLoadUnitsPerCopy;  // of one node: each partition once
  const int64_t level_max = load_max << kLevelBits;
  TargetLoads targets{.copies = static_cast<uint32_t>(std::min<size_t>(replicas, count)),
                      .load = std::vector<int64_t>(count, 0)};

  std::vector<int64_t> weights(count);
  std::vector<Rack> racks;
  for (size_t node = 0; node < count; ++node) {
    weights[node] = fixed_weight(nodes.weights[node]);
    racks.resize(std::max<size_t>(racks.size(), nodes.rack_of[node] + 1));
    racks[nodes.rack_of[node]].nodes.push_back(node);
  }
  bound_racks(racks, targets.copies, load_max);

  const auto unbounded = [&](const Rack& rack, int64_t level) {
    int64_t load = 0;
    for (const size_t node : rack.nodes) load += load_at(level, weights[node], load_max);
    return load;
  };
  const auto bounded = [&](const Rack& rack, int64_t level) {
    return std::clamp(unbounded(rack, level), rack.load_min, rack.load_max);
  };
  const int64_t level = lowest_level(level_max, load_max * targets.copies, [&](int64_t at) {
    int64_t load = 0;
    for (const Rack& rack : racks) load += bounded(rack, at);
    return load;
  });
  for (const Rack& rack : racks) {
    const int64_t rack_level =
        lowest_level(level_max, bounded(rack, level), [&](int64_t at) { return unbounded(rack, at); });
    for (const size_t node : rack.nodes) targets.load[node] = load_at(rack_level, weights[node], load_max);
  }
  return targets;
}

}  // namespace ringkv
