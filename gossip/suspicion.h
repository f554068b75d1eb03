// How long a suspected member has to refute: the more nodes accuse it independently, the less (Dadgar,
// Phillips, Currey, "Lifeguard", 2017, "local health aware suspicion").
#pragma once

#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "base/time.h"

namespace ringkv {

class Suspicion {
 public:
  struct Patience {
    Duration longest;            // with a single accuser
    Duration shortest;           // once as many others as `confirmations` accuse it too
    uint32_t confirmations = 1;  // at least 1
  };

  Suspicion(NodeId accuser, const Patience& patience, Time now)
      : patience_(patience), since_(now), accusers_{accuser} {}

  // Each accuser counts once, and no more of them are kept than shorten the time.
  void confirm(NodeId accuser);

  // This node's own probes have failed too: it is named as the accuser from now on. False: it was already.
  bool observe(NodeId self);

  NodeId accuser() const { return accusers_.front(); }
  Time ends() const;
  void postpone(Duration by) { since_ += by; }

 private:
  Patience patience_;
  Time since_;
  std::vector<NodeId> accusers_;  // never empty
  bool observed_ = false;
};

}  // namespace ringkv
