// Who has which part in a change of the ring just now: whom to hit so that a step of it is met by every other
// fault.
#pragma once

#include <string_view>
#include <vector>

#include "tools/simulation/simulated_node.h"

namespace ringkv::simulation {

enum class RingRole : uint8_t {
  kGainer,    // takes partitions over, and isn't ready
  kSource,    // has what a gainer takes over
  kLeaver,    // leaves, with or without partitions
  kProposer,  // has a proposal for the next ring under way
  kAdopter,   // holds the newest ring, which others that serve don't
  kOldOwner,  // lost partitions by a switch that isn't finished
  kFormer,    // has partitions still that it doesn't own any more
};
inline constexpr RingRole kRingRoles[] = {RingRole::kGainer,   RingRole::kSource,  RingRole::kLeaver,
                                          RingRole::kProposer, RingRole::kAdopter, RingRole::kOldOwner,
                                          RingRole::kFormer};

// The newest ring that a node which serves holds; nullptr: none does.
const Ring* newest_ring_of(const std::vector<SimulatedNode*>& nodes);

std::vector<SimulatedNode*> nodes_in_role(RingRole role, const std::vector<SimulatedNode*>& nodes);

std::string_view sighting_of(RingRole role);

}  // namespace ringkv::simulation
