// Makes the faults of nodes and disks happen, each at random moments of its own, until it is told to make
// peace.
#pragma once

#include <memory>
#include <vector>

#include "tools/simulation/history.h"
#include "tools/simulation/simulated_node.h"

namespace ringkv::simulation {

class Nemesis {
 public:
  // All are borrowed. Power cuts are written into the history: they excuse the loss of what was only
  // buffered.
  Nemesis(World& world, std::vector<SimulatedNode*> nodes, History& history);

  void start();
  // No more faults; what is down is started, disks have room.
  void make_peace();

 private:
  using Strike = void (Nemesis::*)(uint32_t node);

  void schedule(Duration apart, uint32_t node, Strike strike);
  void kill(uint32_t node);
  void aim_power_cut(uint32_t node);
  void cut_power(uint32_t node);
  void stop(uint32_t node);
  void fail_disk(uint32_t node);
  void fill_disk(uint32_t node);
  void jump_clock(uint32_t node);
  void keep_up(uint32_t node);

  World& world_;
  const std::vector<SimulatedNode*> nodes_;
  History& history_;
  bool peace_ = false;
};

}  // namespace ringkv::simulation
