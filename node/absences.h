// Which members this node hasn't reached for a long time without a break: its word on who may be removed
// (RingDriver). Only what it has seen itself counts: a start begins anew, and so does a node that hasn't
// looked for a while, since it may have been paused.
//
// Pure but for what it remembers. Loop thread.
#pragma once

#include <map>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "replication/ring_view.h"

namespace ringkv {

class Absences {
 public:
  static constexpr Duration kLooksApartMax = std::chrono::seconds(10);

  // Zero: never long enough.
  explicit Absences(Duration long_enough) : long_enough_(long_enough) {}

  // Is to be called every second or so.
  void look(const RingView& view, Time now);

  // Members that have been unreachable for long enough, as of the last look, in order of id; at most
  // kGivenUpMax.
  const std::vector<NodeId>& given_up() const { return given_up_; }

 private:
  const Duration long_enough_;
  Time looked_at_{};
  std::map<NodeId, Time> unreachable_since_;
  std::vector<NodeId> given_up_;
};

}  // namespace ringkv
