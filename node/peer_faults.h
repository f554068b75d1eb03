// Traffic that is dropped or delayed on purpose between this node and others, for tests with real processes
// (kvctl fault). Dropped is silence: connections stay and nothing gets through.
#pragma once

#include <map>

#include "base/ids.h"
#include "base/time.h"

namespace ringkv {

class PeerFaults {
 public:
  void drop(NodeId peer) { dropped_or_delay_[peer] = kDropped; }
  void delay(NodeId peer, Duration each_way) { dropped_or_delay_[peer] = each_way; }
  void heal() { dropped_or_delay_.clear(); }

  bool any() const { return !dropped_or_delay_.empty(); }
  bool drops(NodeId peer) const { return delay_of(peer) == kDropped; }
  Duration delay_of(NodeId peer) const {
    const auto at = dropped_or_delay_.find(peer);
    return at == dropped_or_delay_.end() ? Duration::zero() : at->second;
  }

 private:
  static constexpr Duration kDropped = Duration::max();

  std::map<NodeId, Duration> dropped_or_delay_;
};

}  // namespace ringkv
