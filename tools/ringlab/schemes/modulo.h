// hash(key) mod N: even, and nearly every key moves when N changes.
#pragma once

#include "tools/ringlab/scheme.h"

namespace ringkv::ringlab {

class Modulo : public Scheme {
 public:
  Status become(const std::vector<LabNode>& nodes) override {
    nodes_ = nodes;
    return {};
  }

  std::vector<uint32_t> owners(const KeySet& keys) const override {
    return owners_by_hash(keys, [&](uint64_t hash) { return nodes_[hash % nodes_.size()].number; });
  }

  size_t state_bytes() const override { return sizeof(uint32_t); }

 private:
  std::vector<LabNode> nodes_;
};

}  // namespace ringkv::ringlab
