#include "replication/rebalancer.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace ringkv {
namespace {

constexpr size_t kSliceSize = 512;
constexpr int kPasses = 4;
constexpr int64_t kWorthwhile = TrialTable::kImbalanceOne / 512;  // less is not worth a step
constexpr int64_t kLackToTakeFraction = 5;
constexpr int64_t kTolerableFraction = 128;

// 0, then a half, then the quarters, and so on: any run of it is spread over the whole ring.
std::vector<uint32_t> bit_reversed(uint32_t partitions) {
  std::vector<uint32_t> order(partitions, 0);
  for (uint32_t i = 1; i < partitions; ++i) order[i] = order[i / 2] / 2 + (i % 2) * (partitions / 2);
  return order;
}

}  // namespace

Rebalancer::Rebalancer(TrialTable& table, int64_t move_cost)
    : table_(table), move_cost_(move_cost), spread_order_(bit_reversed(table.partitions())) {}

int64_t Rebalancer::cost_of(Change change) {
  const TrialTable::Effect effect = table_.effect_of(change);
  return effect.imbalance + move_cost_ * effect.needless;
}

// The owner that costs least, if that is less than `below`.
std::optional<TrialTable::Change> Rebalancer::cheapest_owner(uint32_t partition, int64_t below) {
  std::optional<Change> cheapest;
  for (uint32_t node = 0; node < table_.nodes(); ++node) {
    const Change change{.partition = partition, .owner = node};
    if (!table_.allows(change)) continue;
    const int64_t cost = cost_of(change);
    if (cost >= below) continue;
    below = cost;
    cheapest = change;
  }
  return cheapest;
}

void Rebalancer::fill() {
  std::vector<uint32_t> empty;
  for (const uint32_t partition : spread_order_) {
    if (table_.owner(partition) == TrialTable::kNobody) empty.push_back(partition);
  }
  for (const uint32_t partition : empty) {
    if (const auto change = cheapest_owner(partition, std::numeric_limits<int64_t>::max()))
      table_.apply(*change);
  }
  // The first ones were decided while most of the ring had no owner.
  for (int pass = 1; pass < kPasses; ++pass) {
    for (const uint32_t partition : empty) {
      if (const auto change = cheapest_owner(partition, 0)) table_.apply(*change);
    }
  }
}

// Looks at slices until one has a change that is worth while: the cheapest of that slice. `cost(partition)`
// gives a cost and the change that has it.
template <class Cost>
std::optional<TrialTable::Change> Rebalancer::first_good_slice(Cost cost) {
  for (size_t seen = 0; seen < spread_order_.size();) {
    std::optional<Change> cheapest;
    int64_t least = -kWorthwhile;
    for (size_t i = 0; i < kSliceSize && seen < spread_order_.size(); ++i, ++seen) {
      cost(spread_order_[cursor_], [&](Change change, int64_t its_cost) {
        if (its_cost >= least) return;
        least = its_cost;
        cheapest = change;
      });
      cursor_ = (cursor_ + 1) % spread_order_.size();
    }
    if (cheapest) return cheapest;
  }
  return std::nullopt;
}

void Rebalancer::take(uint32_t node) {
  while (table_.excess(node) < 0) {
    const auto change = first_good_slice([&](uint32_t partition, auto offer) {
      const Change candidate{.partition = partition, .owner = node};
      if (!table_.allows(candidate)) return;
      const TrialTable::Effect effect = table_.effect_of(candidate);
      const bool only_gained = effect.gained > 0 && effect.moved <= effect.gained;
      if (only_gained && effect.needless <= 0) offer(candidate, effect.imbalance);
    });
    if (!change) return;
    table_.apply(*change);
  }
}

void Rebalancer::take() {
  for (uint32_t node = 0; node < table_.nodes(); ++node) {
    if (-table_.excess(node) * kLackToTakeFraction > table_.target(node)) take(node);
  }
}

// The node whose load is farthest from its target, as a part of it; nothing when all are near enough.
std::optional<uint32_t> Rebalancer::farthest_node(const std::vector<bool>& passed_over) const {
  std::optional<uint32_t> farthest;
  const auto distance = [this](uint32_t node) { return std::abs(table_.excess(node)); };
  for (uint32_t node = 0; node < table_.nodes(); ++node) {
    if (passed_over[node] || distance(node) * kTolerableFraction <= table_.target(node)) continue;
    if (!farthest || distance(node) * table_.target(*farthest) > distance(*farthest) * table_.target(node))
      farthest = node;
  }
  return farthest;
}

std::optional<TrialTable::Change> Rebalancer::improvement_for(uint32_t node) {
  return first_good_slice([&](uint32_t partition, auto offer) {
    if (table_.excess(node) < 0) {
      const Change change{.partition = partition, .owner = node};
      if (table_.allows(change)) offer(change, cost_of(change));
    } else if (table_.owner(partition) == node) {
      if (const auto change = cheapest_owner(partition, 0)) offer(*change, cost_of(*change));
    }
  });
}

void Rebalancer::even() {
  for (int pass = 0; pass < kPasses; ++pass) {
    bool changed = false;
    std::vector<bool> passed_over(table_.nodes(), false);
    // Each change lowers one sum of imbalance and moves, so this ends.
    while (const auto node = farthest_node(passed_over)) {
      const auto change = improvement_for(*node);
      if (change) table_.apply(*change);
      changed |= change.has_value();
      passed_over[*node] = !change.has_value();
    }
    if (!changed) return;
  }
}

}  // namespace ringkv
