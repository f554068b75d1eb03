// How requests ended.
#pragma once

#include <cstdint>
#include <string>

#include "ringkv/latency_histogram.h"
#include "ringkv/status.h"

namespace ringkv::tools {

struct Tally {
  LatencyHistogram latency_us;  // of what was answered, and of what wasn't sent as long as it waited
  uint64_t answered = 0;        // in time: what still was under way at the end has its latency alone
  uint64_t errors = 0;
  uint64_t unknown = 0;  // neither answered nor an error
  uint64_t misses = 0;   // of the answered
  uint64_t unsent = 0;   // at a fixed rate: due, but as many as may be were under way until the end
  std::string last_error;

  void add(const Tally& other) {
    latency_us.merge(other.latency_us);
    answered += other.answered;
    errors += other.errors;
    unknown += other.unknown;
    misses += other.misses;
    unsent += other.unsent;
    if (!other.last_error.empty()) last_error = other.last_error;
  }

  void count(const Status& status, uint64_t took_us, bool missed, bool in_time) {
    if (status.ok()) {
      latency_us.add(took_us);
      if (in_time) ++answered;
      if (missed) ++misses;
      return;
    }
    ++(status.code() == StatusCode::kUnknownOutcome ? unknown : errors);
    last_error = status.to_string();
  }

  void count_unsent(uint64_t waited_us) {
    latency_us.add(waited_us);
    ++unsent;
  }
};

}  // namespace ringkv::tools
