// About how many bytes a message of a round takes on the wire, by what is in it.
#pragma once

#include <cstddef>
#include <variant>

#include "replication/messages.h"

namespace ringkv {

inline size_t bytes_of(const Floor& floor) { return 8 + 20 * floor.vector.entries().size(); }

// 0 for a message that isn't of rounds.
inline size_t round_bytes(const Message& message) {
  constexpr size_t kFrame = 40;
  if (const auto* compare = std::get_if<RoundCompare>(&message)) {
    return kFrame + 4 * compare->ids.size();
  }
  if (const auto* digests = std::get_if<RoundDigests>(&message)) {
    return kFrame + 4 * digests->ids.size() + 16 * digests->digests.size() + bytes_of(digests->lives);
  }
  if (std::holds_alternative<RoundOpen>(message)) return kFrame + 20;
  if (const auto* leaves = std::get_if<RoundLeaves>(&message)) {
    return kFrame + bytes_of(leaves->floor) + bytes_of(leaves->erased) + 16 * leaves->closed.size() +
           33 * leaves->leaves.size();
  }
  if (const auto* walk = std::get_if<RoundWalk>(&message)) {
    size_t bytes = kFrame + sizeof(LeafSet) + walk->after.size();
    for (const std::string& key : walk->storage_keys) bytes += 4 + key.size();
    bytes += 17 * walk->lacking.size();
    return bytes;
  }
  if (const auto* slice = std::get_if<RoundSlice>(&message)) {
    size_t bytes = kFrame + bytes_of(slice->floor) + 16 * slice->closed.size() + slice->last.size();
    for (const RoundSlice::Entry& entry : slice->entries) {
      bytes += 24 + entry.storage_key.size() + 24 * entry.dots.size();
      if (entry.record != nullptr) bytes += entry.record->size();
    }
    bytes += 18 * slice->answered.size();
    return bytes;
  }
  return 0;
}

}  // namespace ringkv
