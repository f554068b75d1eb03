#include "tools/ringlab/schemes/weighted_rendezvous.h"

#include <cmath>
#include <limits>

#include "tools/ringlab/schemes/rendezvous.h"

namespace ringkv::ringlab {
namespace {

// Uniform in (0, 1), both ends left out: the middle of one of 2^53 equal parts.
double unit_interval(uint64_t score) { return (static_cast<double>(score >> 11) + 0.5) * 0x1p-53; }

}  // namespace

Status WeightedRendezvous::become(const std::vector<LabNode>& nodes) {
  nodes_ = nodes;
  candidates_.clear();
  for (const LabNode& node : nodes) candidates_.push_back({fmix64(hash_(node.name)), 1 / node.weight});
  return {};
}

std::vector<uint32_t> WeightedRendezvous::owners(const KeySet& keys) const {
  return owners_by_hash(keys, [&](uint64_t hash) {
    size_t best = 0;
    double best_distance = std::numeric_limits<double>::infinity();
    for (size_t i = 0; i < candidates_.size(); ++i) {
      const double u = unit_interval(rendezvous_score(hash, candidates_[i].hash));
      // -ln(u) is at least 1 - u: most candidates are out without a logarithm.
      if ((1 - u) * candidates_[i].distance_per_log >= best_distance) continue;
      const double distance = -std::log(u) * candidates_[i].distance_per_log;
      if (distance >= best_distance) continue;
      best_distance = distance;
      best = i;
    }
    return nodes_[best].number;
  });
}

}  // namespace ringkv::ringlab
