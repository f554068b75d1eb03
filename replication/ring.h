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

  // min(N, members with partitions) owners in order of acceptance, as positions in description().members.
  std::span<const uint16_t> preference_list(Partition partition) const;

  const Member& member(uint16_t position) const { return description_.members[position]; }

  // Share of all replica copies that a member holds, 0 to 1.
  double share(uint16_t position) const;

 private:
  RingDescription description_;
  std::string encoded_;
  std::string digest_;
  TokenFunction token_;
  uint32_t copies_ = 0;                // min(N, members with partitions)
  std::vector<uint16_t> lists_;        // partitions x copies_
  std::vector<uint32_t> copies_held_;  // by member
};

}  // namespace ringkv
