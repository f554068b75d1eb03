#include "tools/ringlab/schemes/rendezvous.h"

namespace ringkv::ringlab {

Status Rendezvous::become(const std::vector<LabNode>& nodes) {
  nodes_ = nodes;
  node_hashes_.clear();
  // Mixed first: two raw hashes that differ in a few bits would meet a key's bits in the same places.
  for (const LabNode& node : nodes) node_hashes_.push_back(fmix64(hash_(node.name)));
  return {};
}

std::vector<uint32_t> Rendezvous::owners(const KeySet& keys) const {
  return owners_by_hash(keys, [&](uint64_t hash) {
    size_t best = 0;
    uint64_t best_score = 0;
    for (size_t i = 0; i < node_hashes_.size(); ++i) {
      const uint64_t score = rendezvous_score(hash, node_hashes_[i]);
      if (score <= best_score) continue;
      best_score = score;
      best = i;
    }
    return nodes_[best].number;
  });
}

}  // namespace ringkv::ringlab
