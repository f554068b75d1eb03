// Which lives of all members have been met, and whether all members say the same: what the closing of ended
// lives waits for (replication/boot_closing.h), as gossip knows it.
//
// Only what is on disk counts as met: a life that is refused must be refused after a crash too.
//
// Loop thread.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/ids.h"
#include "base/ring_description.h"
#include "gossip/state_gossip.h"
#include "replication/boot_closing.h"

namespace ringkv {

class LivesMet {
 public:
  explicit LivesMet(const Actor& self) { latest_[self.node] = self.boot; }

  // The latest life of the node, on disk; all before it are refused.
  void on_met(NodeId node, Boot boot) { latest_[node] = boot; }

  // Of the latest lives of all members, and of the ring: another epoch starts all over. 0 while somebody's
  // isn't known. The same for all members that have met the same.
  uint64_t digest(const RingDescription& ring) const;

  // What the members say, each in its latest life. `own`: what this node says now.
  BootClosing::Boots agreed(const RingDescription& ring, const StateGossip& states,
                            const PeerState& own) const;

 private:
  Boot latest_of(NodeId node) const;

  std::map<NodeId, Boot> latest_;
};

}  // namespace ringkv
