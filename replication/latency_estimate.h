// How long a node's answers take, as a number: their 95th percentile, followed one sample at a time. A sample
// above it raises it by 19 steps where one below lowers it by one, so that it rests where one in twenty lies
// above.
#pragma once

#include <algorithm>

#include "base/time.h"

namespace ringkv {

class LatencyEstimate {
 public:
  void add(Duration sample) {
    const double us = static_cast<double>(sample.count());
    if (p95_us_ == 0) {
      p95_us_ = us;
      return;
    }
    const double step = std::max(p95_us_ / 200, 1.0);
    p95_us_ = us > p95_us_ ? p95_us_ + 19 * step : std::max(1.0, p95_us_ - step);
  }

  Duration p95() const { return Duration(static_cast<Duration::rep>(p95_us_)); }

 private:
  double p95_us_ = 0;  // 0: nothing was measured yet
};

}  // namespace ringkv
