// What time it is in the cluster: the own clock, or the members' median where the own is off by more than the
// skew bound. From what probes and their answers say, so a reading is at most one way of a message old; in
// between it goes on with this machine's monotonic time, so that a jump of the own clock shows at once.
//
// A core: no clock of its own. Loop thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/ids.h"
#include "base/time.h"

namespace ringkv {

class ClusterClock {
 public:
  static constexpr int64_t kSkewBoundMicros = 5'000'000;
  static constexpr Duration kHeardWithin = std::chrono::minutes(1);

  // Of the ring, this node not among them; others are forgotten.
  void set_members(const std::vector<NodeId>& others);

  // Its clock says `theirs`. What strangers say doesn't count, nor what can't be the time.
  void on_heard(NodeId node, WallMicros theirs, Time now);

  // To be added to the own clock, which says `own`; 0 within the bound, and where fewer than a majority were
  // heard.
  int64_t correction_micros(WallMicros own, Time now) const;

  // A majority of the members, this node among them, was heard within a minute: what depends on time alone
  // may be removed for good.
  bool heard_majority(Time now) const;

  // Of the member's clock against ours; nothing: it was not heard within a minute.
  std::optional<int64_t> offset_micros(NodeId node, WallMicros own, Time now) const;

 private:
  struct Reading {
    WallMicros wall = 0;
    Time at;
  };

  std::vector<NodeId> others_;  // in order
  std::map<NodeId, Reading> readings_;
};

}  // namespace ringkv
