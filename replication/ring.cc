#include "replication/ring.h"

#include <algorithm>

#include "replication/preference_list.h"

namespace ringkv {

Ring::Ring(RingDescription description, TokenFunction token)
    : description_(std::move(description)),
      encoded_(encode_ring_description(description_)),
      digest_(ring_digest(encoded_)),
      token_(token),
      present_(lists_of(description_.owners, description_.members, description_.replicas)),
      copies_held_(description_.members.size(), 0) {
  if (const std::optional<RingChange>& change = description_.change) {
    next_ = lists_of(change->owners, change->members, change->replicas);
    for (uint16_t& position : next_.positions) position = present_position(change->members[position].name);
  }
  for (const uint16_t position : present_.positions) ++copies_held_[position];
}

Ring::Lists Ring::lists_of(const OwnerTable& owners, const std::vector<Member>& members, uint32_t replicas) {
  Lists lists{preference_lists(owners, members, replicas), 0};
  lists.copies = static_cast<uint32_t>(lists.positions.size() / owners.size());
  return lists;
}

uint16_t Ring::present_position(std::string_view name) const {
  return static_cast<uint16_t>(description_.find_member(name) - description_.members.data());
}

bool Ring::is_on(std::span<const uint16_t> list, NodeId node) const {
  return std::any_of(list.begin(), list.end(),
                     [&](uint16_t position) { return member(position).node == node; });
}

bool Ring::is_owner(NodeId node, Partition partition) const {
  return is_on(present_.of(partition), node) || (description_.change && is_on(next_.of(partition), node));
}

double Ring::share(uint16_t position) const {
  return static_cast<double>(copies_held_[position]) / static_cast<double>(present_.positions.size());
}

}  // namespace ringkv
