// Jump consistent hash (Lamping, Veach: A Fast, Minimal Memory, Consistent Hash Algorithm, 2014): no state
// but the number of buckets. Buckets are numbered without gaps, so only the last one can go.
#pragma once

#include "tools/ringlab/scheme.h"

namespace ringkv::ringlab {

// The bucket, 0 to buckets - 1, of a key.
uint32_t jump_bucket(uint64_t key, uint32_t buckets);

class Jump : public Scheme {
 public:
  // Refuses to lose any node but the last ones.
  Status become(const std::vector<LabNode>& nodes) override;
  std::vector<uint32_t> owners(const KeySet& keys) const override;
  size_t state_bytes() const override { return sizeof(uint32_t); }

 private:
  std::vector<LabNode> nodes_;
};

}  // namespace ringkv::ringlab
