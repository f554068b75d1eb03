// Who runs the ring, and changes it all the time: drafts steps, looks whether they were taken, and commits
// what was drafted, each by the requests that kvctl makes (now and then twice at once, or late); takes
// changes back; gives the place of a dead member to a node that waits.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/simulation/simulated_node.h"

namespace ringkv::simulation {

class RingOperator {
 public:
  // What the nemesis knows of its machines.
  struct Setting {
    std::vector<SimulatedNode*> nodes;
    std::function<bool(const SimulatedNode&)> may_leave;  // its seat goes, and the others are enough
    std::function<bool(const SimulatedNode&)> may_die;    // the same of one that can't vote meanwhile
    std::function<void(SimulatedNode&)> let_die;          // it is down for so long that it is given up
    std::function<const SimulatedNode*()> dead_member;    // for good; nullptr: none
  };

  RingOperator(World& world, Setting setting) : world_(world), setting_(std::move(setting)) {}

  // One step of somebody's work.
  void act();
  void rest() { resting_ = true; }

 private:
  using Steps = std::vector<PlanStep>;

  void change(const RingDescription& ring);
  void replace(const RingDescription& ring);
  void keep_replacing(const std::string& old_name, const std::string& by, bool force, uint32_t tries);
  void take_back(SimulatedNode& at, const RingDescription& ring);
  void draft(SimulatedNode& at, const Steps& steps);
  void commit_soon(SimulatedNode& at);
  void commit(SimulatedNode& at, uint64_t epoch);

  void add_step(const RingDescription& ring, Steps& steps);
  SimulatedNode* anybody() const;
  SimulatedNode* machine(const std::string& name) const;
  const Member& any_member(const RingDescription& ring) const;

  World& world_;
  const Setting setting_;
  bool resting_ = false;
};

}  // namespace ringkv::simulation
