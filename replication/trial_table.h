// An owner table on trial: it says what giving one partition to another node would do to the load of all,
// without rebuilding the lists.
//
// A partition's owner is read by the walks that reach it, and those begin at the partition and without a gap
// before it: a walk that begins earlier never ends later. So a change is evaluated by going back from the
// partition until a walk ends before it.
#pragma once

#include <cstdint>
#include <vector>

#include "replication/rack_rounds.h"
#include "replication/target_loads.h"

namespace ringkv {

class TrialTable {
 public:
  struct Shape {
    std::vector<uint32_t> rack_of;  // by node
    TargetLoads targets;
    std::vector<int64_t> allowances;     // copies that each node may newly hold at no cost
    std::vector<uint32_t> lists_before;  // one after another, of equal size; kNobody for a node that left
  };

  struct Change {
    uint32_t partition = 0;
    uint32_t owner = 0;
  };

  struct Effect {
    int64_t imbalance = 0;  // growth of the imbalance, kImbalanceOne for 1
    int64_t moved = 0;      // growth of the copies that nodes hold and didn't hold before
    int64_t needless = 0;   // growth of those beyond what is allowed: of each node, and of all together
    int64_t gained = 0;     // copies that the new owner holds more than now
  };

  // Sum over nodes of (load - target)^2 / target, in copies, and a little of the same for owned partitions.
  static constexpr int64_t kImbalanceOne = int64_t{1} << 32;

  static constexpr uint32_t kNobody = RackRounds::kNobody;

  // `owners` may be kNobody here and there: such a partition is passed over by every walk.
  TrialTable(Shape shape, std::vector<uint32_t> owners);

  uint32_t partitions() const { return static_cast<uint32_t>(owners_.size()); }
  size_t nodes() const { return load_.size(); }
  uint32_t owner(uint32_t partition) const { return owners_[partition]; }
  const std::vector<uint32_t>& owners() const { return owners_; }

  // Load above target, in units; negative below.
  int64_t excess(uint32_t node) const { return load_[node] * kLoadUnitsPerCopy - shape_.targets.load[node]; }
  int64_t target(uint32_t node) const { return shape_.targets.load[node]; }

  // Whether the change is one, leaves each node on the ring that is there, and brings none on.
  bool allows(Change change) const;

  // For a change that is allowed.
  Effect effect_of(Change change);
  void apply(Change change);

 private:
  template <class Visit>
  void walk_again(uint32_t partition, Visit visit);
  bool held_before(size_t partition, uint32_t node) const;
  void add_difference(size_t partition);
  void gain(size_t partition, uint32_t node, int copies);
  int64_t imbalance_growth(uint32_t node, int64_t copies) const;
  int64_t owned_imbalance_growth(uint32_t node, int64_t partitions) const;

  Shape shape_;
  size_t list_before_size_;
  std::vector<uint32_t> owners_;
  RackRounds rounds_;

  size_t list_size_;
  std::vector<uint32_t> lists_;
  std::vector<uint32_t> walk_steps_;  // by partition
  std::vector<int64_t> load_;         // copies, by node
  std::vector<int64_t> owned_;        // partitions, by node
  std::vector<int64_t> newly_;        // copies held that weren't before, by node

  int64_t newly_beyond_all_ = 0;  // copies newly held by anybody, less all allowances

  // Scratch of one evaluation.
  struct Gain {
    int64_t copies = 0;
    int64_t newly = 0;
  };
  std::vector<Gain> gains_;  // by node
  std::vector<uint32_t> touched_;
};

}  // namespace ringkv
