#include "tools/ringlab/schemes/bounded_loads.h"

#include <cmath>

namespace ringkv::ringlab {

Status BoundedLoads::become(const std::vector<LabNode>& nodes) {
  nodes_ = nodes;
  ring_ = ring_of(nodes, virtual_nodes_, hash_);
  return {};
}

std::vector<uint64_t> BoundedLoads::caps(uint64_t keys) const {
  double total_weight = 0;
  for (const LabNode& node : nodes_) total_weight += node.weight;
  std::vector<uint64_t> caps;
  for (const LabNode& node : nodes_) {
    const double fair = static_cast<double>(keys) * node.weight / total_weight;
    caps.push_back(static_cast<uint64_t>(std::ceil(bound_ * fair)));
  }
  return caps;
}

std::vector<uint32_t> BoundedLoads::owners(const KeySet& keys) const {
  std::vector<uint64_t> room = caps(keys.size());
  return owners_by_hash(keys, [&](uint64_t hash) {
    // The caps add up to more than the keys: some node always has room.
    size_t place = ring_.first_at_or_after(hash);
    while (room[ring_.node_at(place)] == 0) place = place + 1 == ring_.size() ? 0 : place + 1;
    --room[ring_.node_at(place)];
    return nodes_[ring_.node_at(place)].number;
  });
}

size_t BoundedLoads::state_bytes() const {
  return ring_.size() * (sizeof(Token) + sizeof(uint32_t)) + nodes_.size() * sizeof(uint32_t);
}

}  // namespace ringkv::ringlab
