#include "replication/ring.h"

#include "replication/preference_list.h"

namespace ringkv {

Ring::Ring(RingDescription description, TokenFunction token)
    : description_(std::move(description)),
      encoded_(encode_ring_description(description_)),
      digest_(ring_digest(encoded_)),
      token_(token),
      lists_(preference_lists(description_.owners, description_.members, description_.replicas)),
      copies_held_(description_.members.size(), 0) {
  copies_ = static_cast<uint32_t>(lists_.size() / description_.owners.size());
  for (const uint16_t position : lists_) ++copies_held_[position];
}

std::span<const uint16_t> Ring::preference_list(Partition partition) const {
  return {lists_.data() + size_t{partition} * copies_, copies_};
}

double Ring::share(uint16_t position) const {
  return static_cast<double>(copies_held_[position]) / static_cast<double>(lists_.size());
}

}  // namespace ringkv
