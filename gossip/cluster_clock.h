// What time it is in the cluster: the own clock, or the members' median where the own is off by more than the
// skew bound. From what probes and their answers say, so an offset is at most one way of a message old.
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

  // Its clock said `theirs` when ours said `own`, a moment ago.
  void on_heard(NodeId node, WallMicros theirs, WallMicros own, Time now);

  // Members that are asked for: the ring's, this node among them.
  void set_members(std::vector<NodeId> others) { others_ = std::move(others); }

  // To be added to the own clock; 0 within the bound, and where fewer than a majority were heard.
  int64_t correction_micros(Time now) const;

  // A majority of the members, this node among them, was heard within a minute: what depends on time alone
  // may be removed for good.
  bool heard_majority(Time now) const;

  // Of the member's clock against ours; nothing: it was not heard within a minute.
  std::optional<int64_t> offset_micros(NodeId node, Time now) const;

 private:
  struct Heard {
    int64_t offset_micros = 0;
    Time at;
  };

  std::vector<NodeId> others_;
  std::map<NodeId, Heard> heard_;
};

}  // namespace ringkv
