// Consistent hashing with bounded loads (Mirrokni, Thorup, Zadimoghaddam, 2016): no node takes more than
// ceil(c x average) keys; a key whose node is full goes on clockwise to the first that isn't. Keys come in
// their order.
//
// On the nodes' own ring. A weight scales a node's bound like its points.
#pragma once

#include "tools/ringlab/schemes/hashed_ring.h"

namespace ringkv::ringlab {

class BoundedLoads : public Scheme {
 public:
  BoundedLoads(double bound, uint32_t virtual_nodes, Hash hash)
      : bound_(bound), virtual_nodes_(virtual_nodes), hash_(std::move(hash)) {}

  Status become(const std::vector<LabNode>& nodes) override;
  std::vector<uint32_t> owners(const KeySet& keys) const override;
  size_t state_bytes() const override;  // the ring and each node's load

  // By position in the nodes: how many of `keys` keys each may have.
  std::vector<uint64_t> caps(uint64_t keys) const;

 private:
  double bound_;  // c, above 1
  uint32_t virtual_nodes_;
  Hash hash_;
  std::vector<LabNode> nodes_;
  VirtualNodeRing ring_;
};

}  // namespace ringkv::ringlab
