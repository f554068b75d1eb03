#include "replication/virtual_nodes.h"

#include <algorithm>
#include <cmath>

namespace ringkv {

uint32_t virtual_node_count(uint32_t per_unit_of_weight, double weight) {
  // One multiplication and no addition: nothing that a compiler could fuse into another rounding.
  return std::max<uint32_t>(1, static_cast<uint32_t>(std::llround(per_unit_of_weight * weight)));
}

VirtualNodeRing::VirtualNodeRing(std::vector<VirtualNode> points) {
  std::sort(points.begin(), points.end());
  tokens_.reserve(points.size());
  nodes_.reserve(points.size());
  for (const VirtualNode& point : points) {
    tokens_.push_back(point.token);
    nodes_.push_back(point.node);
  }
}

size_t VirtualNodeRing::first_at_or_after(Token token) const {
  const auto found = std::lower_bound(tokens_.begin(), tokens_.end(), token);
  return found == tokens_.end() ? 0 : static_cast<size_t>(found - tokens_.begin());
}

void VirtualNodeRing::insert(uint32_t node, std::vector<VirtualNode> points) {
  for (uint32_t& other : nodes_) other += other >= node ? 1 : 0;
  std::sort(points.begin(), points.end());
  VirtualNodeRing merged;
  size_t old = 0;
  const auto take_old = [&] {
    merged.tokens_.push_back(tokens_[old]);
    merged.nodes_.push_back(nodes_[old++]);
  };
  for (const VirtualNode& point : points) {
    while (old < size() && std::pair(tokens_[old], nodes_[old]) < std::pair(point.token, point.node))
      take_old();
    merged.tokens_.push_back(point.token);
    merged.nodes_.push_back(node);
  }
  while (old < size()) take_old();
  *this = std::move(merged);
}

void VirtualNodeRing::erase(uint32_t node) {
  size_t kept = 0;
  for (size_t place = 0; place < size(); ++place) {
    if (nodes_[place] == node) continue;
    tokens_[kept] = tokens_[place];
    nodes_[kept++] = nodes_[place] - (nodes_[place] > node ? 1 : 0);
  }
  tokens_.resize(kept);
  nodes_.resize(kept);
}

}  // namespace ringkv
