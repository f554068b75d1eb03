// A ring description made ready for requests: every partition's preference list, precomputed, so that a
// lookup after the hash is one table read. Immutable; replaced when the epoch changes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/ring_description.h"

namespace ringkv {

class Ring {
 public:
  // The description must be a valid one (as decode_ring_description returns).
  explicit Ring(RingDescription description, TokenFunction token = &token_of);

  const RingDescription& description() const { return description_; }
  const std::string& encoded() const { return encoded_; }
  const std::string& digest() const { return digest_; }
  uint64_t epoch() const { return description_.epoch; }
  uint32_t partitions() const { return description_.partitions(); }

  Token token(const KeyDigest& key) const { return token_(key); }
  Partition partition(const KeyDigest& key) const { return partition_of(token_(key), partitions()); }

  // min(N, members with partitions) owners in order of acceptance, as positions in description().members. By
  // the present table, and by the one that a change under way leads to (without a change: the same).
  std::span<const uint16_t> preference_list(Partition partition) const { return present_.of(partition); }
  std::span<const uint16_t> next_preference_list(Partition partition) const {
    return description_.change ? next_.of(partition) : present_.of(partition);
  }
  // Whom gets ask: the present list until the change is switched.
  std::span<const uint16_t> read_list(Partition partition) const {
    return description_.change && description_.change->switched ? next_.of(partition)
                                                                : present_.of(partition);
  }
  // On either list: puts reach it, and it holds copies.
  bool is_owner(NodeId node, Partition partition) const;
  bool is_present_owner(NodeId node, Partition partition) const {
    return is_on(preference_list(partition), node);
  }
  bool is_next_owner(NodeId node, Partition partition) const {
    return is_on(next_preference_list(partition), node);
  }

  const Member& member(uint16_t position) const { return description_.members[position]; }

  // Share of all replica copies that a member holds, 0 to 1.
  double share(uint16_t position) const;

 private:
  // Of all partitions, one behind the other, each of as many owners.
  struct Lists {
    std::vector<uint16_t> positions;
    uint32_t copies = 0;

    std::span<const uint16_t> of(Partition partition) const {
      return {positions.data() + size_t{partition} * copies, copies};
    }
  };
  uint16_t present_position(std::string_view name) const;
  bool is_on(std::span<const uint16_t> list, NodeId node) const;
  static Lists lists_of(const OwnerTable& owners, const std::vector<Member>& members, uint32_t replicas);

  RingDescription description_;
  std::string encoded_;
  std::string digest_;
  TokenFunction token_;
  Lists present_;
  Lists next_;                         // while a change is under way
  std::vector<uint32_t> copies_held_;  // by member, in the present lists
};

}  // namespace ringkv
