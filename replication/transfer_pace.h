// How fast this node takes copies in by rounds: as fast as an operator has said, or else as fast as the
// requests of clients bear. While somebody takes copies in, each node holds the latencies of the requests
// that it coordinates against those from before: too long, and it bears less; else more. Until that has
// happened once it grows fast, and carefully from then on, as TCP does (V. Jacobson, "Congestion avoidance
// and control", 1988, but by a factor: what disks bear spans four orders of magnitude). Gossip tells the
// others, and all go by the member that bears least: whoever sends, or shares a disk with a replica, is
// spared too.
//
// Requests are slower while the ring changes anyway, however slow transfers are: puts wait for two lists.
// Where the least pace doesn't help for some seconds, what requests take then is what transfers are held
// against.
//
// A record costs its bytes, and 512 more for the work that it makes. Asking reserves what an answer has cost
// on average, so that many questions at once don't overshoot; the answer settles it.
//
// A core: no clock of its own. Loop thread.
#pragma once

#include <cstdint>

#include "base/time.h"

namespace ringkv {

inline constexpr uint64_t kTransferCostOfRecord = 512;

class TransferPace {
 public:
  static constexpr uint64_t kFirst = 10'000'000;  // bytes a second
  static constexpr uint64_t kLeast = 2'000'000;   // or nothing would end
  static constexpr uint64_t kMost = 2'000'000'000;
  static constexpr uint64_t kLeastLimit = 1'024;
  static constexpr uint64_t kRequestsEnough = 50;  // in a second, for their p99 to say something
  // While requests are this much slower than before transfers bear less: twice, and so much on top, since a
  // p99 of little is noise.
  static constexpr uint64_t kToleratedUs = 1'000;
  static constexpr uint64_t kToleratedUnknownUs = 20'000;  // where it isn't known how long they took before

  // What a second has shown, here and at the members that can be reached.
  struct Second {
    uint64_t limit = 0;  // an operator's, kLeastLimit to kMost; 0: none
    uint64_t requests = 0;
    uint64_t p99_us = 0;
    uint64_t least_of_others = 0;  // what the others bear; 0: nothing is known
    uint64_t most_taken_in = 0;    // by any member, this one too, in a second
  };
  void on_second(const Second& second);

  // Nothing is to be asked for before may_ask_at.
  bool may_ask(Time now);
  Time may_ask_at(Time now) const;
  // What was put by for an answer, to be given back to settle().
  uint64_t reserve();
  void settle(uint64_t reserved, uint64_t bytes, uint64_t records);
  // Of a question that is given up.
  void give_back(uint64_t reserved) { balance_ += static_cast<int64_t>(reserved); }

  uint64_t bytes_per_second() const { return pace_; }
  uint64_t limit() const { return limit_; }
  uint64_t bears() const { return bears_; }        // this node, without a limit
  uint64_t taken_in() const { return taken_in_; }  // in the last second
  bool is_strained() const { return strained_; }   // requests are too slow here, in the last second

 private:
  void learn(const Second& second);
  void learn_without_transfers(const Second& second);
  uint64_t tolerated_us() const;
  bool helps_no_more(const Second& second);
  void refill(Time now);

  uint64_t limit_ = 0;
  uint64_t bears_ = kFirst;
  uint64_t pace_ = kFirst;
  uint64_t base_p99_us_ = 0;   // without transfers; 0: not known
  uint64_t least_p99_us_ = 0;  // at the least pace, while these transfers last; 0: not known
  uint64_t least_sum_us_ = 0;  // of the seconds in a row in which that has not helped
  uint64_t least_seconds_ = 0;
  bool strained_ = false;
  bool grows_fast_ = true;
  int64_t balance_ = 0;
  Time refilled_at_{};
  uint64_t answer_cost_ = 64 << 10;  // on average
  uint64_t taken_in_ = 0;
  uint64_t taken_in_now_ = 0;
};

}  // namespace ringkv
