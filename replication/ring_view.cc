#include "replication/ring_view.h"

#include <algorithm>

#include "base/text.h"
#include "replication/quorum.h"

namespace ringkv {
namespace {

size_t count_nodes_on(const Ring& ring) {
  size_t nodes = 0;
  for (size_t member = 0; member < ring.description().members.size(); ++member) {
    nodes += ring.share(static_cast<uint16_t>(member)) > 0 ? 1 : 0;
  }
  return nodes;
}

}  // namespace

RingView::RingView(NodeId self, const Ring& ring, TokenFunction token)
    : self_(self),
      token_(token),
      ring_(&ring),
      nodes_on_ring_(count_nodes_on(ring)),
      hasher_(ring.description().secret) {}

void RingView::set_ring(const Ring& ring) {
  ring_ = &ring;
  nodes_on_ring_ = count_nodes_on(ring);
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

// The walk ends with the last node met, soon where partitions are mixed well.
std::vector<NodeId> RingView::stand_ins(Partition partition) const {
  const OwnerTable& table = ring_->description().owners;
  const std::span<const uint16_t> list = ring_->preference_list(partition);
  std::vector<NodeId> found;
  const size_t missing = nodes_on_ring_ - list.size();
  if (missing == 0) return found;
  std::vector<bool> met(ring_->description().members.size(), false);
  for (const uint16_t owner : list) met[owner] = true;
  for (size_t step = 0; step < table.size() && found.size() < missing; ++step) {
    const uint16_t owner = table[(partition + step) % table.size()];
    if (met[owner]) continue;
    met[owner] = true;
    found.push_back(ring_->member(owner).node);
  }
  return found;
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
