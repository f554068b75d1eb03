// Computes leaves anew from data, partition by partition, slowly: catches bit rot in records that nobody
// reads, and our own mistakes. A leaf that doesn't fit the data is corrected and counted; a record that can't
// be read makes the store reopen and set the damaged file aside.
#pragma once

#include <cstdint>
#include <vector>

#include "replication/convergence_environment.h"

namespace ringkv {

class Scrubber {
 public:
  explicit Scrubber(ConvergenceEnvironment& environment) : environment_(environment) {}

  void tick(Moment moment, MessageOutbox& outbox);
  void on_committed(BatchNumber batch, Moment moment, MessageOutbox& outbox);
  bool on(RangeRead& read, Moment moment, MessageOutbox& outbox);  // false: another's
  void on(const Arrival& arrival, const ClientScrub& scrub, MessageOutbox& outbox);
  void fail_all(const Status& why, MessageOutbox& outbox);

 private:
  ConvergenceEnvironment& environment_;
};

}  // namespace ringkv
