// Latencies in buckets that keep three digits, from 1 µs to about 19 hours (after HdrHistogram, G. Tene:
// linear within each power of two). Adding is an increment; memory is fixed. Not thread-safe.
#pragma once

#include <cstdint>
#include <vector>

namespace ringkv {

class LatencyHistogram {
 public:
  void add(uint64_t microseconds);
  void merge(const LatencyHistogram& other);
  void reset();

  uint64_t count() const { return count_; }
  uint64_t max_us() const { return max_us_; }
  double mean_us() const {
    return count_ == 0 ? 0 : static_cast<double>(sum_us_) / static_cast<double>(count_);
  }

  // The latency that `quantile` (0 to 1) of all stay at or below; 0 when there are none.
  uint64_t quantile_us(double quantile) const;

 private:
  std::vector<uint64_t> counts_;  // made at the first add
  uint64_t count_ = 0;
  uint64_t sum_us_ = 0;
  uint64_t max_us_ = 0;
};

}  // namespace ringkv
