// What strikes wall clocks, and the calendar of all. The clocks of most nodes are never far off at one time,
// or nobody could know what time it is.
#include <algorithm>
#include <utility>

#include "tools/simulation/nemesis.h"

namespace ringkv::simulation {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr Duration kJumpMin = milliseconds(10);
constexpr Duration kJumpMax = minutes(60);
constexpr Duration kNotFar = seconds(2);  // less than half of the bound within which clocks may differ
constexpr Duration kMinutesOff = minutes(2);
constexpr uint64_t kDriftMillionthsMax = 50'000;
constexpr Duration kDriftMin = seconds(1);
constexpr Duration kDriftMax = seconds(60);
constexpr Duration kDay = std::chrono::hours(24);
constexpr uint64_t kDaysMax = 30;
constexpr uint64_t kLostDateDaysMax = 400;
constexpr int64_t kMonthsOff = 60;  // days
constexpr Duration kSetRightWithin = seconds(60);
constexpr Duration kSleepMin = seconds(10);
constexpr Duration kSleepMax = seconds(60);

bool is_far(Duration by) { return by > kNotFar || by < -kNotFar; }

bool is_or_gets_far(const SimulatedClock& clock) {
  return is_far(clock.wrong_by()) || is_far(clock.wrong_by_in_the_end());
}

}  // namespace

// As well as those that are.
bool Nemesis::may_be_far_off(const SimulatedNode& node) const {
  const RingDescription* ring = newest_ring();
  const size_t members = ring == nullptr ? setting_.nodes.size() : ring->members.size();
  const auto far = std::count_if(setting_.nodes.begin(), setting_.nodes.end(), [&](const auto& other) {
    return other != &node && is_or_gets_far(other->clock());
  });
  return 2 * (static_cast<size_t>(far) + 1) < members;
}

void Nemesis::set_clock_wrong(SimulatedNode& node, Duration offset) {
  if (is_far(offset) && !may_be_far_off(node)) offset %= kNotFar;
  node.clock().set_wrong_by(offset);
}

void Nemesis::set_clock_right_later(SimulatedNode& node, Duration after) {
  world_.events.after(after, [this, &node] {
    if (!peace_) node.clock().set_wrong_by(Duration::zero());
  });
}

Duration Nemesis::forth_or_back(Duration duration) const {
  return world_.random.one_in(2) ? duration : -duration;
}

void Nemesis::jump_clock(SimulatedNode& node) {
  set_clock_wrong(node, forth_or_back(between(kJumpMin, kJumpMax)));
  const Duration by = node.clock().wrong_by();
  if (by > kMinutesOff || by < -kMinutesOff) saw_under_load(sighting::kClockJumped);
}

void Nemesis::let_clock_drift(SimulatedNode& node) {
  if (!may_be_far_off(node)) return;
  const auto millionths = static_cast<int64_t>(1 + world_.random.below(kDriftMillionthsMax));
  node.clock().drift(world_.random.one_in(2) ? millionths : -millionths, between(kDriftMin, kDriftMax));
  saw_under_load(sighting::kClockDrifted);
}

void Nemesis::stop_clock(SimulatedNode& node) {
  if (!may_be_far_off(node)) return;
  const Duration still = between(kDriftMin, kDriftMax);
  node.clock().drift(SimulatedClock::kStandsStill, still);
  set_clock_right_later(node, still + world_.up_to(kSetRightWithin));
  saw_under_load(sighting::kClockStoodStill);
}

void Nemesis::miss_the_day(SimulatedNode& node) {
  if (!may_be_far_off(node)) return;
  const auto days = static_cast<int64_t>(1 + world_.random.below(kDaysMax));
  node.clock().set_wrong_by(forth_or_back(kDay * days));
  set_clock_right_later(node, world_.up_to(kSetRightWithin));
  world_.sightings.saw(sighting::kWrongDay);
}

// As where a machine's own battery is flat: it has come back, and perhaps serves, before it is told the date.
void Nemesis::lose_the_date(SimulatedNode& node) {
  if (!may_be_far_off(node)) return;
  kill(node);
  const auto days = static_cast<int64_t>(1 + world_.random.below(kLostDateDaysMax));
  node.clock().set_wrong_by(forth_or_back(kDay * days));
  set_clock_right_later(node, world_.up_to(kSetRightWithin));
  if (days > kMonthsOff) world_.sightings.saw(sighting::kLostDate);
}

// Days pass, for everybody, between the moment at which it was sent something and the one at which it looks.
void Nemesis::sleep(SimulatedNode& node) {
  if (!node.serving() || node.frozen()) return;
  node.freeze(between(kSleepMin, kSleepMax));
  world_.calendar.leap(world_.events.now(), kDay * static_cast<int64_t>(1 + world_.random.below(kDaysMax)));
  saw_under_load(sighting::kDaysPassed);
}

}  // namespace ringkv::simulation
