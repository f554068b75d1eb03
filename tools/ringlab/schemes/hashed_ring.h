// Consistent hashing on the continuous ring with virtual nodes (Karger et al., 1997; Dynamo paper,
// section 4.2): the nodes' own code in replication/virtual_nodes.h, with any hash.
#pragma once

#include "replication/virtual_nodes.h"
#include "tools/ringlab/scheme.h"

namespace ringkv::ringlab {

// Nodes on the ring are positions in `nodes`.
VirtualNodeRing ring_of(const std::vector<LabNode>& nodes, uint32_t virtual_nodes, const Hash& hash);

// By position in `nodes`: the exact share of the circle that falls to each of `nodes` nodes.
std::vector<double> arc_shares(const VirtualNodeRing& ring, size_t nodes, const Hash& hash);

class HashedRing : public Scheme {
 public:
  HashedRing(uint32_t virtual_nodes, Hash hash) : virtual_nodes_(virtual_nodes), hash_(std::move(hash)) {}

  Status become(const std::vector<LabNode>& nodes) override;
  std::vector<uint32_t> owners(const KeySet& keys) const override;
  size_t state_bytes() const override { return ring_.size() * (sizeof(Token) + sizeof(uint32_t)); }

  const VirtualNodeRing& ring() const { return ring_; }
  std::vector<double> shares() const { return arc_shares(ring_, nodes_.size(), hash_); }

 private:
  uint32_t virtual_nodes_;
  Hash hash_;
  std::vector<LabNode> nodes_;
  VirtualNodeRing ring_;
};

}  // namespace ringkv::ringlab
