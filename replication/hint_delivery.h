// Brings hints to the nodes that they are for, as soon as these can be reached, at a pace that follows the
// receiver's latency: a window of copies under way that grows while they are acknowledged quickly and halves
// when they are not. Goes on after any crash of either side: what isn't acknowledged is still on disk.
//
// Where the intended node no longer owns the key, the hint goes to the present owners, and is taken away when
// all of them have it. One receiver's trouble holds up nobody else's hints.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "replication/convergence_environment.h"

namespace ringkv {

class HintDelivery {
 public:
  explicit HintDelivery(ConvergenceEnvironment& environment) : environment_(environment) {}

  void tick(Moment moment, MessageOutbox& outbox);
  // The node can be reached again, or has lost what was sent to it.
  void restart(NodeId node, Moment moment, MessageOutbox& outbox);
  bool on(HintsRead& read, Moment moment, MessageOutbox& outbox);           // false: another's
  bool on(const ReplicaPutAck& ack, Moment moment, MessageOutbox& outbox);  // false: another's

  size_t under_way() const;

 private:
  ConvergenceEnvironment& environment_;
};

}  // namespace ringkv
