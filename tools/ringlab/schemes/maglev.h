// Maglev hashing (Eisenbud et al.: Maglev: A Fast and Reliable Software Network Load Balancer, NSDI 2016,
// section 3.4): nodes take turns in claiming entries of a lookup table of prime size, each in the order of
// its own permutation. Nearly even, nearly consistent: a change moves some entries between nodes that have no
// part in it.
#pragma once

#include "tools/ringlab/scheme.h"

namespace ringkv::ringlab {

class Maglev : public Scheme {
 public:
  static constexpr uint32_t kTableSize = 65537;  // the paper's smaller table; a prime

  explicit Maglev(Hash hash) : hash_(std::move(hash)) {}

  Status become(const std::vector<LabNode>& nodes) override;
  std::vector<uint32_t> owners(const KeySet& keys) const override;
  size_t state_bytes() const override { return table_.size() * sizeof(uint16_t); }

  // By entry, a position in the nodes.
  const std::vector<uint16_t>& table() const { return table_; }

 private:
  Hash hash_;
  std::vector<LabNode> nodes_;
  std::vector<uint16_t> table_;
};

}  // namespace ringkv::ringlab
