// Makes the faults of nodes, disks and ways between machines happen, each at random moments of its own, or at
// those who have a part in a change of the ring, until it is told to make peace.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tools/simulation/core.h"
#include "tools/simulation/history.h"
#include "tools/simulation/ring_operator.h"
#include "tools/simulation/simulated_node.h"
#include "tools/simulation/strikes.h"

namespace ringkv::simulation {

class Nemesis {
 public:
  struct Setting {
    Strikes& strikes;
    std::vector<SimulatedNode*> nodes;
    std::vector<std::string> clients;  // names of their machines
    std::function<bool()> requests_under_way;
    std::function<void(const SimulatedNode&)> on_other_disk;  // that node's isn't the one it had
  };

  // All are borrowed. Power cuts and lost disks are written into the history: they excuse losses.
  Nemesis(World& world, SimulatedNetwork& network, Setting setting, History& history);

  // Starts nodes that are down, from now on; strikes once it is let loose, and at disks and members once
  // there is something to lose.
  void keep_nodes_up();
  void let_loose();
  void strike_members();
  // No more faults; what is down is started, disks have room, everybody hears everybody, clocks are right.
  void make_peace();

  // The same for these alone; the others stay broken for good, each in one way or another, and have nothing
  // more to do with them.
  void make_peace_in(const Machines& core);
  // As few as suffice, or some more; none: too much was lost.
  Machines chosen_core() const;

  bool at_peace() const { return peace_; }
  bool is_gone(const SimulatedNode& node) const { return &node == gone_ || dead_.contains(&node); }
  // One that is a member still, of the newest ring that anybody holds.
  bool is_gone_member(const SimulatedNode& node) const;

 private:
  using Way = SimulatedNetwork::Way;

  static constexpr Duration kCutMin = std::chrono::milliseconds(300);
  static constexpr Duration kCutMax = std::chrono::seconds(10);
  static constexpr uint64_t kAimOneIn = 4;

  void schedule(FaultInterval fault, const std::function<void()>& strike);
  void strike_node(FaultInterval fault, void (Nemesis::*strike)(SimulatedNode&));
  void partition();
  void cut_pair();
  void draw_apart();
  void swizzle();
  void cut(const std::vector<Way>& ways, Duration duration);
  void kill(SimulatedNode& node);
  void move(SimulatedNode& node);
  void swap(SimulatedNode& node);
  void give_doors_back();
  void freeze(SimulatedNode& node);
  void aim_power_cut(SimulatedNode& node);
  void cut_power(SimulatedNode& node);
  void stop(SimulatedNode& node);
  void fail_disk(SimulatedNode& node);
  void fill_disk(SimulatedNode& node);
  void slow_disk(SimulatedNode& node);
  void jump_clock(SimulatedNode& node);
  void let_clock_drift(SimulatedNode& node);
  void stop_clock(SimulatedNode& node);
  void miss_the_day(SimulatedNode& node);
  void lose_the_date(SimulatedNode& node);
  bool may_be_far_off(const SimulatedNode& node) const;
  void set_clock_wrong(SimulatedNode& node, Duration offset);
  void set_clock_right_later(SimulatedNode& node, Duration after);
  Duration forth_or_back(Duration duration) const;
  void keep_away(SimulatedNode& node);
  void sleep(SimulatedNode& node);
  void wipe(SimulatedNode& node);
  void copy_disk(SimulatedNode& node);
  void put_back(SimulatedNode& node, const SimulatedNode::DiskCopy& copy, Step kept);
  void damage(void (SimulatedNode::*how)(Family));
  void leave_for_good();
  void break_for_good(SimulatedNode& node, const Machines& core);
  void cut_off(const SimulatedNode& node, const Machines& core);
  void aim();
  void hit(SimulatedNode& node);
  void watch_transfer();
  void isolate(const SimulatedNode& node);
  RingOperator::Setting operator_setting();
  bool may_leave(const SimulatedNode& node) const;
  void let_die(SimulatedNode& node);
  void come_back(SimulatedNode& node);
  bool is_outside(const SimulatedNode& node) const;
  const RingDescription* newest_ring() const;
  bool may_take_vote(const SimulatedNode& node, size_t seats_less = 0) const;
  void keep_up(SimulatedNode& node);

  std::vector<std::string> machines() const;
  std::vector<Way> ways_of(const std::string& machine) const;
  std::string any_node() const;
  Duration between(Duration shortest, Duration longest) const;
  void saw_under_load(std::string_view what);

  World& world_;
  SimulatedNetwork& network_;
  const Setting setting_;
  History& history_;
  std::map<const SimulatedNode*, Time> away_until_;
  std::set<const SimulatedNode*> votes_taken_;
  std::set<const SimulatedNode*> copied_;  // to be put back to that
  SimulatedNode* damaged_ = nullptr;
  const SimulatedNode* gone_ = nullptr;
  std::set<const SimulatedNode*> dead_;            // in the end
  std::map<const SimulatedNode*, Time> joins_at_;  // of those that have left
  RingOperator operator_;
  bool partitioned_ = false;
  bool members_change_ = false;
  bool peace_ = false;
};

}  // namespace ringkv::simulation
