// Time as the cores see it: values that come in as arguments, never clocks that are read.
#pragma once

#include <chrono>
#include <cstdint>

namespace ringkv {

using Duration = std::chrono::microseconds;

// Since some start of this process; never goes back. For deadlines and time-outs.
struct MonotonicTime {
  using duration = Duration;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<MonotonicTime>;
  static constexpr bool is_steady = true;
};
using Time = MonotonicTime::time_point;

// Microseconds since 1970, as this machine believes; may jump. For expiry and hybrid times.
using WallMicros = uint64_t;

// One a node, never one a process: nodes in one process may have different clocks (simulation, embedding).
class Clock {
 public:
  virtual ~Clock() = default;
  virtual Time now() const = 0;
  virtual WallMicros wall_now() const = 0;
};

}  // namespace ringkv
