// What a ring's plan, or the change under way, comes to: which copies go where, what stands against it and
// whom the next step waits for. Pure.
#pragma once

#include <functional>

#include "base/client_message.h"
#include "base/peer_state.h"
#include "base/ring_description.h"

namespace ringkv {

// The other members in the eyes of the node asked.
struct PlanSight {
  std::function<bool(NodeId)> is_reachable;
  std::function<const PeerState*(NodeId)> state_of;  // nullptr: nothing has come yet
};

PlanOutline plan_outline(const RingDescription& ring, const PlanSight& sight);

// "none", "planned", "begun", "switched".
std::string plan_stage(const RingDescription& ring);
// In words: of a plan as typed, of a change what differs.
std::vector<std::string> plan_steps(const RingDescription& ring);

// What only the node that begins a plan can judge. FORBIDDEN: a member would be replaced that is up, or one
// that is lost would get copies. UNAVAILABLE: only this node may be unable to reach whoever is replaced.
// UNAVAILABLE, naming who is missing: the next ring could not be changed any more. Joiners that wait have
// asked lately and count as there.
struct CommitSight {
  std::function<bool(NodeId)> is_reachable;
  std::function<bool(NodeId)> is_down;  // in the eyes of all that can be reached
};
Status check_commit(const RingDescription& ring, const CommitSight& sight);

}  // namespace ringkv
