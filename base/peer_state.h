// What a node says of itself and gossip carries to all: versioned by that node alone, so the newer of two is
// simply the one to keep. Opinions about others (up, suspect, down) aren't here.
#pragma once

#include <compare>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "base/transport.h"

namespace ringkv {

inline constexpr size_t kAddressBytesMax = 320;  // a host's name has at most 253
inline constexpr size_t kGivenUpMax = 16;        // members that one node names

struct PeerState {
  NodeId node;
  Boot boot;
  uint64_t generation = 0;  // of the node: one more at every start
  uint64_t version = 0;     // within the generation: one more at every change
  Address peer_address;     // as advertised
  Address client_address;   // empty: it serves no clients of other processes
  uint64_t epoch = 0;       // of the ring that it has adopted and synced
  WallMicros wall = 0;      // its wall clock when it wrote this
  uint64_t keys = 0;
  uint64_t bytes = 0;
  uint64_t hints = 0;  // that it keeps for others
  uint64_t hint_bytes = 0;
  uint64_t lag_ms = 0;                 // age of the oldest write of another member that it may lack
  uint32_t incomplete_partitions = 0;  // that it has yet to refill
  // For the closing of ended lives ("Closed lives" in ARCHITECTURE.md): a digest of the latest boots that it
  // has met of every member; and the digest for which it has found that all members agree, and that it keeps
  // no hint with a dot of any other life. 0: none yet.
  uint64_t boots_met = 0;
  uint64_t boots_without_hints = 0;
  uint64_t ready_epoch = 0;  // of the begun change of the ring for which it has taken over what it is to own
  // Partitions that it doesn't own any more and of which it has data still; of those, how many their owners
  // have yet to pull from it.
  uint32_t former_partitions = 0;
  uint32_t former_untaken = 0;
  // While the ring changes: partitions that it takes over, and those of them that it has.
  uint32_t takeover_partitions = 0;
  uint32_t takeover_ready = 0;
  // Bytes a second (replication/transfer_pace.h): what it bears that anybody takes in, 0: nothing is known;
  // what it has taken in in the last second.
  uint64_t bears = 0;
  uint64_t taken_in = 0;
  // The latest limit that an operator has set of which it knows, for all members; 0: none.
  uint64_t transfer_limit = 0;
  WallMicros transfer_limit_set_at = 0;
  // Members that it hasn't reached for its own auto_remove_after (node/absences.h), in order of id.
  std::vector<NodeId> given_up;

  std::pair<uint64_t, uint64_t> age() const { return {generation, version}; }

  friend bool operator==(const PeerState&, const PeerState&) = default;
};

}  // namespace ringkv
