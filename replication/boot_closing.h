// Closes ended lives: of a boot that ended with a lost tail there may be dots that no floor will ever reach,
// and tombstones that wait for them. Its floor may be taken as "everything" once nothing of it can come any
// more:
//
//   1. every member has met a later life of its node (or its removal), and so refuses its messages;
//   2. after that, every member has said that it keeps no hint with a dot of it;
//   3. after that, this node has finished a round from each other owner, in one epoch without a change.
//
// Then whatever of it is held anywhere is held here too. Only this waits for members that are down.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "replication/convergence_environment.h"

namespace ringkv {

class BootClosing {
 public:
  // What gossip knows.
  struct Boots {
    std::vector<Actor> latest;       // of every member; in order
    uint64_t digest = 0;             // of those
    bool all_met = false;            // every member says the same digest
    bool all_without_hints = false;  // and that it keeps no hint of another life
    std::vector<NodeId> missing;     // members that don't say so: for people

    friend bool operator==(const Boots&, const Boots&) = default;
  };

  explicit BootClosing(ConvergenceEnvironment& environment) : environment_(environment) {}

  void set_boots(Boots boots, Moment moment, MessageOutbox& outbox);
  bool on(HintsRead& read, Moment moment, MessageOutbox& outbox);  // false: another's
  // `last_complete(node)`: when the last full round from it began.
  void tick(Moment moment, const std::vector<Actor>& blocking, MessageOutbox& outbox);

  // The digest for which this node has looked through its hints; 0: none.
  uint64_t boots_without_hints() const { return clear_digest_; }
  const Boots& boots() const { return boots_; }

 private:
  ConvergenceEnvironment& environment_;
  Boots boots_;
  uint64_t clear_digest_ = 0;
  std::optional<Time> all_clear_since_;
};

}  // namespace ringkv
