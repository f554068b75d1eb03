// The end of a run in liveness mode: a core is healed, the rest stays broken for good, and the core must go
// on.
#pragma once

#include <vector>

#include "tools/simulation/core.h"
#include "tools/simulation/core_checker.h"
#include "tools/simulation/simulated_ring.h"

namespace ringkv::simulation {

class CoreProgress {
 public:
  explicit CoreProgress(SimulatedRing& ring) : ring_(ring) {}

  // Heals a core, if too much isn't lost for one, and notes what it can't do.
  void demand();

 private:
  void demand_of(const Machines& core);
  void settle_in(const Machines& core);
  std::vector<CoreMember> members_of(const Machines& core) const;

  SimulatedRing& ring_;
};

}  // namespace ringkv::simulation
