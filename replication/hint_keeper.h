// Keeps hints for nodes that can't take a write now (Dynamo paper, section 4.6), merged: a key written a
// thousand times is one hint.
//
// As with records, everything that changes one hint is serial, by a latch on (intended node, key): it covers
// the read, the decision and the hand-over to the commit thread. A hint is taken away only when all that it
// holds then is covered by what the intended node has acknowledged, so that a late acknowledgement cancels
// exactly what it acknowledges.
//
// Not kept (budget of the intended node, disk nearly full, intended node not a member): refused by name and
// counted; such a hint is no acknowledgement. One that was acknowledged is never dropped.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>

#include "replication/convergence_environment.h"

namespace ringkv {

class HintKeeper {
 public:
  explicit HintKeeper(ConvergenceEnvironment& environment) : environment_(environment) {}

  void on(NodeId from, HintPut put, Moment moment, MessageOutbox& outbox);
  // From another node, or of what this node has delivered itself.
  void on(HintCovered covered, Moment moment, MessageOutbox& outbox);
  bool on(HintRead& read, Moment moment, MessageOutbox& outbox);  // false: another's

  size_t waiting() const { return latches_.size(); }

 private:
  struct Keep {
    NodeId from;
    HintPut put;
  };
  using Change = std::variant<Keep, HintCovered>;
  struct Latch {
    std::deque<Change> changes;
    uint64_t ticket = 0;
  };

  ConvergenceEnvironment& environment_;
  std::unordered_map<std::string, Latch> latches_;       // by hint key
  std::unordered_map<uint64_t, std::string> by_ticket_;  // hint keys
};

}  // namespace ringkv
