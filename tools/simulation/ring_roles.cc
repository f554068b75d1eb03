#include "tools/simulation/ring_roles.h"

#include <algorithm>

namespace ringkv::simulation {
namespace {

// Of partitions whose owners change.
template <class Has>
bool in_any_moving(const Ring& ring, Has has) {
  for (Partition partition = 0; partition < ring.partitions(); ++partition) {
    const auto present = ring.preference_list(partition);
    const auto next = ring.next_preference_list(partition);
    if (std::is_permutation(present.begin(), present.end(), next.begin(), next.end())) continue;
    if (has(partition)) return true;
  }
  return false;
}

bool gains(const Ring& ring, NodeId node) {
  return in_any_moving(ring, [&](Partition partition) {
    return ring.is_next_owner(node, partition) && !ring.is_present_owner(node, partition);
  });
}

bool loses(const Ring& ring, NodeId node) {
  return in_any_moving(ring, [&](Partition partition) {
    return ring.is_present_owner(node, partition) && !ring.is_next_owner(node, partition);
  });
}

bool is_source(const Ring& ring, NodeId node) {
  return in_any_moving(ring, [&](Partition partition) { return ring.is_present_owner(node, partition); });
}

bool is_in(RingRole role, const SimulatedNode& node, const Ring& newest,
           const std::vector<SimulatedNode*>& nodes) {
  const RingDescription& ring = newest.description();
  const bool begun = ring.change && !ring.change->switched;
  const bool switched = ring.change && ring.change->switched;
  const Member* member = ring.find_member(node.node());
  switch (role) {
    case RingRole::kGainer:
      return begun && gains(newest, node.node()) && node.member_state().ready_epoch != newest.epoch();
    case RingRole::kSource:
      return begun && is_source(newest, node.node());
    case RingRole::kLeaver:
      return member != nullptr && member->status == MemberStatus::kLeaving;
    case RingRole::kProposer:
      return node.proposing();
    case RingRole::kAdopter:
      return node.life()->ring().epoch() == newest.epoch() &&
             std::any_of(nodes.begin(), nodes.end(), [&](const SimulatedNode* other) {
               return other->serving() && other->life()->ring().epoch() < newest.epoch();
             });
    case RingRole::kOldOwner:
      return switched && loses(newest, node.node());
    case RingRole::kFormer:
      return node.life()->convergence().former().partitions() > 0;
  }
  return false;
}

}  // namespace

const Ring* newest_ring_of(const std::vector<SimulatedNode*>& nodes) {
  const Ring* newest = nullptr;
  for (const SimulatedNode* node : nodes) {
    if (!node->serving() || node->life() == nullptr) continue;
    if (newest == nullptr || node->life()->ring().epoch() > newest->epoch()) newest = &node->life()->ring();
  }
  return newest;
}

std::vector<SimulatedNode*> nodes_in_role(RingRole role, const std::vector<SimulatedNode*>& nodes) {
  std::vector<SimulatedNode*> found;
  const Ring* newest = newest_ring_of(nodes);
  if (newest == nullptr) return found;
  for (SimulatedNode* node : nodes) {
    if (node->serving() && is_in(role, *node, *newest, nodes)) found.push_back(node);
  }
  return found;
}

std::string_view sighting_of(RingRole role) {
  switch (role) {
    case RingRole::kGainer:
      return sighting::kHitGainer;
    case RingRole::kSource:
      return sighting::kHitSource;
    case RingRole::kLeaver:
      return sighting::kHitLeaver;
    case RingRole::kProposer:
      return sighting::kHitProposer;
    case RingRole::kAdopter:
      return sighting::kHitAdopter;
    case RingRole::kOldOwner:
      return sighting::kHitOldOwner;
    case RingRole::kFormer:
      return sighting::kHitFormer;
  }
  return {};
}

}  // namespace ringkv::simulation
