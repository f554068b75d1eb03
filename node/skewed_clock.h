// A clock that can be put wrong, for tests of what a wrong clock does (`kvctl fault clock`). Loop thread.
#pragma once

#include "base/time.h"

namespace ringkv {

class SkewedClock final : public Clock {
 public:
  explicit SkewedClock(Clock& clock) : clock_(clock) {}

  void skew(int64_t offset_micros) { offset_micros_ = offset_micros; }

  Time now() const override { return clock_.now(); }
  WallMicros wall_now() const override {
    return static_cast<WallMicros>(static_cast<int64_t>(clock_.wall_now()) + offset_micros_);
  }

 private:
  Clock& clock_;
  int64_t offset_micros_ = 0;
};

}  // namespace ringkv
