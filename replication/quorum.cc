#include "replication/quorum.h"

#include <algorithm>

namespace ringkv {

uint32_t smallest_write_quorum(const RingDescription& ring, uint32_t owners) {
  uint32_t smallest = owners;
  for (const BucketDescription& bucket : ring.buckets) {
    const uint32_t w = bucket.write_quorum == 0 ? majority_of(owners) : bucket.write_quorum;
    smallest = std::min(smallest, w);
  }
  return std::max<uint32_t>(smallest, 1);
}
namespace {

bool remove(std::vector<NodeId>& nodes, NodeId node) {
  const auto at = std::find(nodes.begin(), nodes.end(), node);
  if (at == nodes.end()) return false;
  nodes.erase(at);
  return true;
}

}  // namespace

Quorum::Quorum(const std::vector<NodeId>& asked, uint32_t needed) : waiting_(asked), needed_(needed) {
  succeeded_.reserve(asked.size());
}

bool Quorum::awaits(NodeId node) const {
  return std::find(waiting_.begin(), waiting_.end(), node) != waiting_.end() ||
         std::find(failed_.begin(), failed_.end(), node) != failed_.end();
}

void Quorum::on_success(NodeId node) {
  if (remove(waiting_, node) || remove(failed_, node)) succeeded_.push_back(node);
}

void Quorum::on_failure(NodeId node) {
  if (remove(waiting_, node)) failed_.push_back(node);
}

}  // namespace ringkv
