// Rendezvous hashing, highest random weight (Thaler, Ravishankar: Using Name-Based Mappings to Increase Hit
// Rates, IEEE/ACM Transactions on Networking 6(1), 1998): the node whose score with the key is the highest
// has it.
#pragma once

#include "tools/ringlab/scheme.h"

namespace ringkv::ringlab {

// A key's score with a node: a hash of both. The published functions are linear congruential; any hash of the
// pair will do, and this one keeps what was hashed of each.
inline uint64_t rendezvous_score(uint64_t key_hash, uint64_t node_hash) {
  return fmix64(key_hash ^ node_hash);
}

class Rendezvous : public Scheme {
 public:
  explicit Rendezvous(Hash hash) : hash_(std::move(hash)) {}

  Status become(const std::vector<LabNode>& nodes) override;
  std::vector<uint32_t> owners(const KeySet& keys) const override;
  size_t state_bytes() const override { return node_hashes_.size() * sizeof(uint64_t); }

 private:
  Hash hash_;
  std::vector<LabNode> nodes_;
  std::vector<uint64_t> node_hashes_;  // by position
};

}  // namespace ringkv::ringlab
