// A ring that goes on without members that are gone for good, when no majority of the voters will ever answer
// again: who decides changes, and nothing else. It isn't agreed on, which is why it starts a lineage of its
// own, above every older one; whoever it declares lost is refused until it comes back empty. Pure.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/ring_description.h"
#include "base/time.h"
#include "gossip/messages.h"
#include "ringkv/admin.h"

namespace ringkv {

// The other members in the eyes of the node asked.
struct ForceSight {
  NodeId self;
  std::function<bool(NodeId)> is_reachable;
  std::function<Health(NodeId)> health;
  std::function<uint64_t(NodeId)> epoch;  // of the ring that it holds; 0: not known
};

// FORBIDDEN, by name: a member is to be lost that is up; a majority can decide; somebody else can't be
// reached either. UNAVAILABLE: too early to say so.
Status check_force(const RingDescription& ring, const std::vector<std::string>& lost,
                   const ForceSight& sight);

// What it would come to. All of `lost` are members.
ForceReport force_report(const RingDescription& ring, const std::vector<std::string>& lost);

// The next ring. Of two that are forced on two sides of a split the later one has the higher lineage;
// `random` tells them apart within a second. A change that isn't switched yet is taken back, a draft dropped.
// Who was leaving is to stay, until it is told again: whom it waits for may be lost, and what it has may be
// the last copy.
RingDescription forced_ring(RingDescription ring, const std::vector<std::string>& lost, WallMicros now,
                            uint16_t random);

}  // namespace ringkv
