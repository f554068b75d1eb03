// What `stats` shows of requests, by kind: how many, how they ended, how long they took.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/time.h"
#include "ringkv/admin.h"
#include "ringkv/latency_histogram.h"
#include "ringkv/status.h"

namespace ringkv {

enum class RequestKind : uint8_t { kPut, kDelete, kGet, kExists, kScan };
inline constexpr size_t kRequestKinds = 5;
std::string_view name_of(RequestKind kind);

class RequestStatistics {
 public:
  void count(RequestKind kind, const Status& outcome, Duration latency);
  void reset_latencies();
  // Of all kinds but scans since it was asked last.
  LatencyHistogram take_recent();

  void count_forwarded() { ++forwarded_; }
  void count_hedged() { ++hedged_; }
  void count_unconfirmed() { ++unconfirmed_; }
  void count_read_repairs(size_t copies) { read_repairs_ += copies; }
  void count_stale_epoch() { ++stale_epochs_; }
  void count_hinted() { ++hinted_; }
  void count_not_waited_for() { ++not_waited_for_; }
  void set_lingering(size_t puts) { lingering_ = puts; }
  size_t lingering() const { return lingering_; }

  // put.count, put.failed, put.unknown, put.p50_us, …
  void add_to(Statistics& statistics) const;

 private:
  struct Kind {
    uint64_t count = 0;
    uint64_t failed = 0;   // refused: nothing was written or read
    uint64_t unknown = 0;  // UNKNOWN_OUTCOME
    LatencyHistogram latencies;
  };

  std::array<Kind, kRequestKinds> kinds_;
  LatencyHistogram recent_;
  uint64_t forwarded_ = 0;       // to an owner, because this node is none
  uint64_t hedged_ = 0;          // another owner was asked beside one that was slow
  uint64_t unconfirmed_ = 0;     // gets
  uint64_t read_repairs_ = 0;    // copies sent to owners that differed
  uint64_t stale_epochs_ = 0;    // other nodes had a newer ring
  uint64_t hinted_ = 0;          // hints that were kept, here or elsewhere, for puts of this coordinator
  uint64_t not_waited_for_ = 0;  // answered puts whose slow owners weren't waited for, for want of room
  uint64_t lingering_ = 0;       // answered puts that wait for slow owners, now
};

}  // namespace ringkv
