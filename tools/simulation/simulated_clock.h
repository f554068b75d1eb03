// Virtual time as one machine sees it: its wall clock may be wrong, and for a while get more and more so.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time.h"
#include "tools/simulation/world.h"

namespace ringkv::simulation {

class SimulatedClock final : public Clock {
 public:
  static constexpr int64_t kStandsStill = -1'000'000;  // millionths

  explicit SimulatedClock(const World& world) : world_(world) {}

  Time now() const override { return world_.events.now(); }
  WallMicros wall_now() const override {
    return true_now(world_) + static_cast<WallMicros>(wrong_by().count());
  }
  static WallMicros true_now(const World& world) {
    constexpr auto kStart = std::chrono::hours(24 * 365 * 55);  // some time in 2024
    return static_cast<WallMicros>(
        (world.calendar.date(world.events.now()).time_since_epoch() + kStart).count());
  }

  // From now on, and it goes at its right pace.
  void set_wrong_by(Duration offset) {
    offset_ = offset;
    drift_ = {};
  }
  // For so long it gains so many millionths.
  void drift(int64_t millionths, Duration duration) {
    offset_ = wrong_by();
    drift_ = {now(), now() + duration, millionths};
  }
  Duration wrong_by() const { return wrong_by_at(now()); }
  Duration wrong_by_in_the_end() const { return wrong_by_at(Time::max()); }

 private:
  struct Drift {
    Time from;
    Time until;
    int64_t millionths = 0;
  };

  Duration wrong_by_at(Time time) const {
    const Duration drifted = std::min(time, drift_.until) - drift_.from;
    return offset_ + Duration(drifted.count() * drift_.millionths / 1'000'000);
  }

  const World& world_;
  Duration offset_{};
  Drift drift_;
};

}  // namespace ringkv::simulation
