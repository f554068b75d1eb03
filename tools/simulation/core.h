// The part of a ring that suffices: a majority of the voters, and of each key so many owners that reads and
// writes reach a quorum of every list that they must ask. What is outside of it stays broken for good.
#pragma once

#include <functional>
#include <vector>

#include "base/random.h"
#include "tools/simulation/simulated_node.h"

namespace ringkv::simulation {

using Machines = std::vector<SimulatedNode*>;

// Of these members' machines as few as it takes, or some more; none, where even all aren't enough.
// `may_vote`: its vote isn't lost with a disk.
Machines chosen_core(const Ring& ring, const Machines& candidates,
                     const std::function<bool(const SimulatedNode&)>& may_vote, Random& random);

}  // namespace ringkv::simulation
