// Improves an owner table one partition at a time, always by the change that helps most among those looked
// at.
//
// Partitions are looked at in slices that are spread evenly over the ring, so that the work for a change does
// not grow with the number of partitions.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "replication/trial_table.h"

namespace ringkv {

class Rebalancer {
 public:
  // `move_cost` is how much imbalance must go for one copy to move that needn't have moved. The table must
  // outlive this.
  Rebalancer(TrialTable& table, int64_t move_cost);

  // Gives each partition without an owner to the node with which least moves and load is evenest.
  void fill();

  // Nodes that lack more than a fifth of their target (joiners, weights that rose) take partitions, in
  // such places only that nothing moves but what they gain.
  void take();

  // Brings the loads that are farthest from their targets nearer, where that is worth the copies that move.
  void even();

 private:
  using Change = TrialTable::Change;

  void take(uint32_t node);
  int64_t cost_of(Change change);
  std::optional<Change> cheapest_owner(uint32_t partition, int64_t below);
  std::optional<uint32_t> farthest_node(const std::vector<bool>& passed_over) const;
  std::optional<Change> improvement_for(uint32_t node);

  template <class Cost>
  std::optional<Change> first_good_slice(Cost cost);

  TrialTable& table_;
  const int64_t move_cost_;
  std::vector<uint32_t> spread_order_;
  size_t cursor_ = 0;  // where in spread_order_ the next slice begins
};

}  // namespace ringkv
