// How long a piece of work takes, by the machine's monotonic clock.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace ringkv::ringlab {

template <class Work>
double milliseconds_of(Work work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

// Nanoseconds an item, of the fastest run: others were disturbed.
template <class Work>
double nanoseconds_per_item(uint64_t items, int runs, Work work) {
  double fastest = milliseconds_of(work);
  for (int run = 1; run < runs; ++run) fastest = std::min(fastest, milliseconds_of(work));
  return 1e6 * fastest / static_cast<double>(items);
}

}  // namespace ringkv::ringlab
