#include "tools/ringlab/measure.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace ringkv::ringlab {
namespace {

Load load_by_weight(std::vector<uint64_t> keys, const std::vector<double>& weights) {
  Load load{.keys = std::move(keys)};
  load.fewest = *std::min_element(load.keys.begin(), load.keys.end());
  load.most = *std::max_element(load.keys.begin(), load.keys.end());
  const double weight = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<double> by_weight;  // against the fair share
  for (size_t i = 0; i < weights.size(); ++i)
    by_weight.push_back(static_cast<double>(load.keys[i]) * weight / weights[i]);
  const auto [least, greatest] = std::minmax_element(by_weight.begin(), by_weight.end());
  load.max_over_min = *least == 0 ? std::numeric_limits<double>::infinity() : *greatest / *least;
  load.max_over_mean = load.total() == 0 ? 0 : *greatest / static_cast<double>(load.total());
  load.deviation_over_mean = deviation_over_mean(by_weight);
  return load;
}

}  // namespace

uint64_t Load::total() const { return std::accumulate(keys.begin(), keys.end(), uint64_t{0}); }

Load load_of(const std::vector<uint32_t>& owners, const std::vector<LabNode>& nodes) {
  std::vector<uint64_t> by_number;
  for (const uint32_t owner : owners) {
    if (owner >= by_number.size()) by_number.resize(owner + 1);
    ++by_number[owner];
  }
  std::vector<uint64_t> keys;
  std::vector<double> weights;
  for (const LabNode& node : nodes) {
    keys.push_back(node.number < by_number.size() ? by_number[node.number] : 0);
    weights.push_back(node.weight);
  }
  return load_by_weight(std::move(keys), weights);
}

Load load_of(std::vector<uint64_t> keys) {
  const std::vector<double> weights(keys.size(), 1);
  return load_by_weight(std::move(keys), weights);
}

double max_over_min(uint64_t most, uint64_t fewest) {
  if (fewest == 0) return std::numeric_limits<double>::infinity();
  return static_cast<double>(most) / static_cast<double>(fewest);
}

double deviation_over_mean(const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return mean == 0 ? 0 : std::sqrt(squares / count) / mean;
}

Movement movement(const std::vector<uint32_t>& before, const std::vector<uint32_t>& after,
                  const Change& change) {
  Movement movement;
  for (size_t key = 0; key < before.size(); ++key) {
    if (before[key] == after[key]) continue;
    ++movement.moved;
    const bool involved = before[key] == change.leaver || after[key] == change.newcomer;
    movement.needless += involved ? 0 : 1;
  }
  return movement;
}

double percent(double part, double whole) { return 100 * part / whole; }

}  // namespace ringkv::ringlab
