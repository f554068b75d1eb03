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

bool has_lost_members(const Ring& ring) {
  const std::vector<Member>& members = ring.description().members;
  return std::any_of(members.begin(), members.end(), [](const Member& member) { return member.lost; });
}

}  // namespace

RingView::RingView(NodeId self, const Ring& ring, TokenFunction token)
    : self_(self),
      token_(token),
      ring_(&ring),
      nodes_on_ring_(count_nodes_on(ring)),
      has_lost_members_(has_lost_members(ring)),
      hasher_(ring.description().secret) {}

void RingView::set_ring(const Ring& ring) {
  ring_ = &ring;
  nodes_on_ring_ = count_nodes_on(ring);
  has_lost_members_ = has_lost_members(ring);
  hasher_ = RecordHasher(ring.description().secret);
}

Place RingView::place(std::string_view bucket, std::string_view key) const {
  return place_of({ring_->partitions(), token_}, bucket, key);
}

std::vector<NodeId> WriteLists::all() const {
  std::vector<NodeId> nodes = present;
  for (const NodeId node : next) {
    if (std::find(present.begin(), present.end(), node) == present.end()) nodes.push_back(node);
  }
  return nodes;
}

std::vector<NodeId> RingView::nodes_of(std::span<const uint16_t> list) const {
  std::vector<NodeId> nodes;
  nodes.reserve(list.size());
  for (const uint16_t position : list) nodes.push_back(ring_->member(position).node);
  return nodes;
}

std::vector<NodeId> RingView::owners_of(Partition partition) const {
  return nodes_of(ring_->read_list(partition));
}

// Where only the order differs nothing moves.
WriteLists RingView::write_lists(Partition partition) const {
  const std::span<const uint16_t> present = ring_->preference_list(partition);
  const std::span<const uint16_t> next = ring_->next_preference_list(partition);
  if (!ring_->description().change ||
      std::is_permutation(present.begin(), present.end(), next.begin(), next.end()))
    return {nodes_of(present), {}};
  return {nodes_of(present), nodes_of(next)};
}

std::vector<NodeId> RingView::holders_of(Partition partition) const { return write_lists(partition).all(); }

// The walk ends with the last node met, soon where partitions are mixed well.
std::vector<NodeId> RingView::stand_ins(Partition partition) const {
  const OwnerTable& table = ring_->description().owners;
  std::vector<NodeId> found;
  std::vector<bool> met(ring_->description().members.size(), false);
  size_t missing = nodes_on_ring_;
  for (const auto& list : {ring_->preference_list(partition), ring_->next_preference_list(partition)}) {
    for (const uint16_t owner : list) {
      if (!met[owner] && ring_->share(owner) > 0) --missing;
      met[owner] = true;
    }
  }
  if (missing == 0) return found;
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

uint32_t RingView::holders_to_hear(uint32_t owners) const {
  uint32_t write_quorum = majority_of(owners);
  uint32_t read_quorum = majority_of(owners);
  for (const BucketDescription& bucket : ring_->description().buckets) {
    if (bucket.write_quorum != 0) write_quorum = std::min(write_quorum, bucket.write_quorum);
    if (bucket.read_quorum != 0) read_quorum = std::max(read_quorum, std::min(bucket.read_quorum, owners));
  }
  return std::max(owners - write_quorum + 1, read_quorum);
}

uint32_t RingView::holders_for_confirmation(const std::vector<NodeId>& owners) const {
  return std::min(holders_for_confirmation(static_cast<uint32_t>(owners.size())), surviving(owners));
}

uint32_t RingView::holders_to_hear(const std::vector<NodeId>& owners) const {
  return std::min(holders_to_hear(static_cast<uint32_t>(owners.size())), surviving(owners));
}

uint32_t RingView::surviving(const std::vector<NodeId>& owners) const {
  if (!has_lost_members_) return static_cast<uint32_t>(owners.size());
  return static_cast<uint32_t>(std::count_if(owners.begin(), owners.end(), [this](NodeId owner) {
    const Member* member = ring_->description().find_member(owner);
    return member == nullptr || !member->lost;
  }));
}

}  // namespace ringkv
