// A start's first word to all the others: a node serves when those that it reaches have taken its life.
// Counts who has answered, and waits for the latest ring that any of them holds; whoever can't be reached
// isn't waited for.
//
// Loop thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "ringkv/status.h"

namespace ringkv {

class Introduction {
 public:
  using Done = std::function<void(Status)>;

  // `done` once: OK, or why this life isn't taken. Perhaps from within this call.
  void begin(const std::vector<NodeId>& members, size_t seeds, Time until, Done done);

  bool under_way() const { return done_ != nullptr; }

  void on_welcomed(NodeId member);
  void on_failed(NodeId member);
  // It wants to be greeted in a later generation: its refusal is none yet.
  void on_behind(NodeId member);
  void on_caught_up(NodeId member) { behind_.erase(member); }

  // (lineage, epoch) of a ring that somebody holds; of the one that is held here. The end comes with the next
  // tick, never from within.
  using RingOrder = std::pair<uint64_t, uint64_t>;
  void on_ring_heard(RingOrder ring) { ring_heard_ = std::max(ring_heard_, ring); }
  void on_ring_held(RingOrder ring) { ring_held_ = ring; }

  void on_seed(bool is_own);  // it has said who it is, or hasn't answered
  // One seed's address may have passed to another cluster; who meets none of his own has been misled.
  void on_foreign_seed(Status why);

  void end(Status status);
  void tick(Time now);

 private:
  void look();

  Done done_;
  Time until_{};
  std::set<NodeId> waiting_;  // members that have neither welcomed nor failed to
  std::set<NodeId> behind_;
  size_t seeds_waiting_ = 0;
  RingOrder ring_heard_{};
  RingOrder ring_held_{};
  Status foreign_;
  bool met_own_ = false;
};

}  // namespace ringkv
