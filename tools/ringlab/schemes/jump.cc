#include "tools/ringlab/schemes/jump.h"

#include <algorithm>

#include "base/text.h"

namespace ringkv::ringlab {

uint32_t jump_bucket(uint64_t key, uint32_t buckets) {
  int64_t bucket = -1;
  int64_t next = 0;
  while (next < int64_t{buckets}) {
    bucket = next;
    key = key * 2862933555777941757ULL + 1;
    next = static_cast<int64_t>(static_cast<double>(bucket + 1) * (static_cast<double>(int64_t{1} << 31) /
                                                                   static_cast<double>((key >> 33) + 1)));
  }
  return static_cast<uint32_t>(bucket);
}

Status Jump::become(const std::vector<LabNode>& nodes) {
  const size_t kept = std::min(nodes.size(), nodes_.size());
  for (size_t i = 0; i < kept; ++i) {
    if (nodes[i] == nodes_[i]) continue;
    return invalid_argument(cat("jump hash numbers its buckets without gaps: only the last node (",
                                nodes_.back().name, ") can be removed, not ", nodes_[i].name,
                                ", unless every later node takes another's place"));
  }
  nodes_ = nodes;
  return {};
}

std::vector<uint32_t> Jump::owners(const KeySet& keys) const {
  const auto buckets = static_cast<uint32_t>(nodes_.size());
  return owners_by_hash(keys, [&](uint64_t hash) { return nodes_[jump_bucket(hash, buckets)].number; });
}

}  // namespace ringkv::ringlab
