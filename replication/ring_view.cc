#include "replication/ring_view.h"

#include <algorithm>

#include "base/text.h"
#include "replication/quorum.h"

namespace ringkv {

RingView::RingView(NodeId self, const Ring& ring, TokenFunction token)
    : self_(self), token_(token), ring_(&ring), hasher_(ring.description().secret) {}

void RingView::set_ring(const Ring& ring) {
  ring_ = &ring;
  hasher_ = RecordHasher(ring.description().secret);
}

Place RingView::place(std::string_view bucket, std::string_view key) const {
  return place_of({ring_->partitions(), token_}, bucket, key);
}

std::vector<NodeId> RingView::owners_of(Partition partition) const {
  std::vector<NodeId> owners;
  const std::span<const uint16_t> list = ring_->preference_list(partition);
  owners.reserve(list.size());
  for (const uint16_t position : list) owners.push_back(ring_->member(position).node);
  return owners;
}

std::string RingView::name_of(NodeId node) const {
  const Member* member = ring_->description().find_member(node);
  return member == nullptr ? hex(node.value) : member->name;
}

std::string RingView::names_of(std::span<const NodeId> nodes) const {
  std::string names;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (i > 0) names += i + 1 == nodes.size() ? " and " : ", ";
    names += name_of(nodes[i]);
  }
  return names;
}

Status RingView::unreachable(NodeId node) const {
  return ringkv::unavailable(cat(name_of(node), " can't be reached"));
}

uint32_t RingView::holders_for_confirmation(uint32_t owners) const {
  uint32_t read_quorum = majority_of(owners);
  for (const BucketDescription& bucket : ring_->description().buckets) {
    if (bucket.read_quorum != 0) read_quorum = std::min(read_quorum, bucket.read_quorum);
  }
  return owners - read_quorum + 1;
}

}  // namespace ringkv
