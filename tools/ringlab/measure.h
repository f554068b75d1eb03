// What is measured of a placement: how even it is, and what a change moves.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tools/ringlab/scheme.h"

namespace ringkv::ringlab {

struct Load {
  std::vector<uint64_t> keys;  // by node, in order of the nodes
  uint64_t fewest = 0;
  uint64_t most = 0;

  // By weight, as if all nodes had the same. Infinite where a node has none.
  double max_over_min = 0;
  double max_over_mean = 0;
  double deviation_over_mean = 0;  // standard deviation

  uint64_t total() const;
  double mean() const { return static_cast<double>(total()) / static_cast<double>(keys.size()); }
};

// `owners` are numbers of `nodes`.
Load load_of(const std::vector<uint32_t>& owners, const std::vector<LabNode>& nodes);

// Of any counts, all of weight 1.
Load load_of(std::vector<uint64_t> keys);

double max_over_min(uint64_t most, uint64_t fewest);

// Standard deviation over mean.
double deviation_over_mean(const std::vector<double>& values);

struct Movement {
  uint64_t moved = 0;
  uint64_t needless = 0;  // moved, although neither from the leaver nor to the newcomer
};

struct Change {
  std::optional<uint32_t> newcomer;
  std::optional<uint32_t> leaver;
};

Movement movement(const std::vector<uint32_t>& before, const std::vector<uint32_t>& after,
                  const Change& change);

double percent(double part, double whole);

}  // namespace ringkv::ringlab
