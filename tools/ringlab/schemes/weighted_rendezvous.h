// Weighted rendezvous hashing by the logarithmic method (Schindelhauer, Schomaker: Weighted Distributed Hash
// Tables, SPAA 2005): with u uniform in (0, 1) of key and node, the node with the smallest -ln(u) / weight
// has the key, which it is with a chance proportional to its weight.
#pragma once

#include "tools/ringlab/scheme.h"

namespace ringkv::ringlab {

class WeightedRendezvous : public Scheme {
 public:
  explicit WeightedRendezvous(Hash hash) : hash_(std::move(hash)) {}

  Status become(const std::vector<LabNode>& nodes) override;
  std::vector<uint32_t> owners(const KeySet& keys) const override;
  size_t state_bytes() const override { return candidates_.size() * sizeof(Candidate); }

 private:
  struct Candidate {
    uint64_t hash = 0;
    double distance_per_log = 1;  // 1 / weight
  };

  Hash hash_;
  std::vector<LabNode> nodes_;
  std::vector<Candidate> candidates_;  // by position
};

}  // namespace ringkv::ringlab
