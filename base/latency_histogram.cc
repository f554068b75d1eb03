#include "ringkv/latency_histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace ringkv {
namespace {

// Values below 2^11 have a bucket each; each further power of two is cut into 2^10: at most 1/1024 off.
constexpr unsigned kExactBits = 11;
constexpr uint64_t kBucketsPerPower = uint64_t{1} << (kExactBits - 1);
constexpr unsigned kValueBitsMax = 36;
constexpr uint64_t kValueMax = (uint64_t{1} << kValueBitsMax) - 1;
constexpr size_t kBuckets = (uint64_t{1} << kExactBits) + (kValueBitsMax - kExactBits) * kBucketsPerPower;

size_t bucket_of(uint64_t value) {
  if (value < uint64_t{1} << kExactBits) return value;
  const auto bits = static_cast<unsigned>(std::bit_width(value));
  const unsigned shift = bits - kExactBits;
  return shift * kBucketsPerPower + (value >> shift);
}

uint64_t highest_of(size_t bucket) {
  if (bucket < uint64_t{1} << kExactBits) return bucket;
  const uint64_t shift = bucket / kBucketsPerPower - 1;
  const uint64_t top = bucket - shift * kBucketsPerPower;
  return ((top + 1) << shift) - 1;
}

}  // namespace

void LatencyHistogram::add(uint64_t microseconds) {
  if (counts_.empty()) counts_.resize(kBuckets);
  ++counts_[bucket_of(std::min(microseconds, kValueMax))];
  ++count_;
  sum_us_ += microseconds;
  max_us_ = std::max(max_us_, microseconds);
}

void LatencyHistogram::merge(const LatencyHistogram& other) {
  if (other.count_ == 0) return;
  if (counts_.empty()) counts_.resize(kBuckets);
  for (size_t i = 0; i < kBuckets; ++i) counts_[i] += other.counts_[i];
  count_ += other.count_;
  sum_us_ += other.sum_us_;
  max_us_ = std::max(max_us_, other.max_us_);
}

void LatencyHistogram::reset() { *this = LatencyHistogram(); }

uint64_t LatencyHistogram::quantile_us(double quantile) const {
  if (count_ == 0) return 0;
  const auto wanted = static_cast<uint64_t>(std::ceil(quantile * static_cast<double>(count_)));
  uint64_t seen = 0;
  for (size_t i = 0; i < kBuckets; ++i) {
    seen += counts_[i];
    if (seen >= std::max<uint64_t>(1, wanted)) return std::min(highest_of(i), max_us_);
  }
  return max_us_;
}

}  // namespace ringkv
