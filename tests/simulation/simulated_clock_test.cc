#include "tools/simulation/simulated_clock.h"

#include <gtest/gtest.h>

namespace ringkv::simulation {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

class ClockTest : public testing::Test {
 protected:
  void pass(Duration duration) { events.run_until(events.now() + duration); }
  Duration since(WallMicros wall) const { return Duration(static_cast<int64_t>(clock.wall_now() - wall)); }

  EventQueue events;
  Trace trace{nullptr};
  SeededRandom random{1};
  Faults faults;
  Sightings sightings;
  Calendar calendar;
  World world{events, trace, random, faults, sightings, calendar};
  SimulatedClock clock{world};
};

TEST_F(ClockTest, IsOffBySoMuchUntilItIsSetRight) {
  clock.set_wrong_by(-minutes(60));
  pass(seconds(10));
  EXPECT_EQ(clock.wall_now() + 3'600'000'000U, SimulatedClock::true_now(world));
  clock.set_wrong_by({});
  EXPECT_EQ(clock.wall_now(), SimulatedClock::true_now(world));
}

TEST_F(ClockTest, ThatDriftsIsOffByMoreAndMoreAndThenNoMore) {
  clock.set_wrong_by(seconds(1));
  clock.drift(50'000, seconds(20));
  EXPECT_EQ(clock.wrong_by_in_the_end(), seconds(2));
  pass(seconds(10));
  EXPECT_EQ(clock.wrong_by(), milliseconds(1500));
  pass(seconds(60));
  EXPECT_EQ(clock.wrong_by(), seconds(2));
}

TEST_F(ClockTest, ThatStandsStillIsSoFarBehindWhenItGoesOn) {
  const WallMicros before = clock.wall_now();
  clock.drift(SimulatedClock::kStandsStill, seconds(30));
  pass(seconds(29));
  EXPECT_EQ(clock.wall_now(), before);
  pass(seconds(11));
  EXPECT_EQ(since(before), seconds(10));
}

}  // namespace
}  // namespace ringkv::simulation
