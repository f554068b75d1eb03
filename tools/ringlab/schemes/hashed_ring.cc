#include "tools/ringlab/schemes/hashed_ring.h"

namespace ringkv::ringlab {

VirtualNodeRing ring_of(const std::vector<LabNode>& nodes, uint32_t virtual_nodes, const Hash& hash) {
  std::vector<VirtualNode> points;
  for (uint32_t i = 0; i < nodes.size(); ++i)
    add_virtual_nodes(points, nodes[i].name, i, virtual_node_count(virtual_nodes, nodes[i].weight), hash);
  return VirtualNodeRing(std::move(points));
}

std::vector<double> arc_shares(const VirtualNodeRing& ring, size_t nodes, const Hash& hash) {
  std::vector<double> shares(nodes, 0);
  const Token mask = ~Token{0} >> (64 - hash.bits);
  Token before = ring.token_at(ring.size() - 1);
  for (size_t place = 0; place < ring.size(); ++place) {
    const Token arc = (ring.token_at(place) - before) & mask;
    shares[ring.node_at(place)] += static_cast<double>(arc) / hash.circle();
    before = ring.token_at(place);
  }
  if (ring.size() == 1) shares[ring.node_at(0)] = 1;
  return shares;
}

Status HashedRing::become(const std::vector<LabNode>& nodes) {
  nodes_ = nodes;
  ring_ = ring_of(nodes, virtual_nodes_, hash_);
  return {};
}

std::vector<uint32_t> HashedRing::owners(const KeySet& keys) const {
  return owners_by_hash(
      keys, [&](uint64_t hash) { return nodes_[ring_.node_at(ring_.first_at_or_after(hash))].number; });
}

}  // namespace ringkv::ringlab
