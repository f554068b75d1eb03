// When requests are to start at a fixed rate, whatever became of those before.
//
// Latencies count from here: a request that a stall kept from being sent has waited for that long, and one
// that was only measured from its late sending would hide it (coordinated omission, G. Tene).
#pragma once

#include <chrono>
#include <cstdint>

namespace ringkv::tools {

class Pace {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  // Of all requests, which `senders` share by turns; `turn` is this one's, from 0.
  Pace(double per_second, TimePoint start, uint32_t senders = 1, uint32_t turn = 0)
      : per_second_(per_second), start_(start), senders_(senders), turn_(turn) {}

  // The start of this sender's request `number`, from 0. Each is reckoned from the first start: no error adds
  // up.
  TimePoint due(uint64_t number) const {
    const double of_all = static_cast<double>(number) * senders_ + turn_;
    return start_ + std::chrono::duration_cast<std::chrono::nanoseconds>(
                        std::chrono::duration<double>(of_all / per_second_));
  }

 private:
  double per_second_;
  TimePoint start_;
  double senders_;
  double turn_;
};

}  // namespace ringkv::tools
