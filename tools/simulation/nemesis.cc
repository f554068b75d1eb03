#include "tools/simulation/nemesis.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

#include "base/text.h"
#include "tools/simulation/ring_roles.h"

namespace ringkv::simulation {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kFreezeMin = milliseconds(100);
constexpr Duration kFreezeMax = seconds(5);
constexpr Duration kLowSpaceMax = seconds(5);
constexpr Duration kClockJumpMax = seconds(10);
constexpr Duration kClockJumpSmallMax = seconds(2);
constexpr Duration kDay = std::chrono::hours(24);
constexpr int64_t kDaysMax = 30;
constexpr Duration kWrongDayMax = seconds(60);
constexpr Duration kAwayMin = seconds(20);
constexpr Duration kAwayMax = seconds(60);
constexpr Duration kSleepMin = seconds(10);
constexpr Duration kSleepMax = seconds(60);
constexpr Duration kAimPauseMax = milliseconds(40);
constexpr DiskCall kDiskCalls[] = {DiskCall::kWrite, DiskCall::kSync, DiskCall::kGet};
constexpr uint64_t kDiskCallsMax = 30;
constexpr uint64_t kNeverReached = uint64_t{1} << 60;
constexpr DiskSpace kNearlyFull{.free_bytes = 1 << 20, .size_bytes = uint64_t{1} << 40};

}  // namespace

Nemesis::Nemesis(World& world, SimulatedNetwork& network, Setting setting, History& history)
    : world_(world),
      network_(network),
      setting_(std::move(setting)),
      history_(history),
      operator_(world, operator_setting()) {}

void Nemesis::keep_nodes_up() {
  for (SimulatedNode* node : setting_.nodes) keep_up(*node);
}

void Nemesis::let_loose() {
  schedule(&Faults::partition, [this] { partition(); });
  schedule(&Faults::cut, [this] { cut_pair(); });
  schedule(&Faults::latency, [this] { draw_apart(); });
  schedule(&Faults::swizzle, [this] { swizzle(); });
  strike_node(&Faults::freeze, &Nemesis::freeze);
  strike_node(&Faults::move, &Nemesis::move);
  strike_node(&Faults::kill, &Nemesis::kill);
  strike_node(&Faults::power_cut, &Nemesis::aim_power_cut);
  strike_node(&Faults::stop, &Nemesis::stop);
  strike_node(&Faults::disk_error, &Nemesis::fail_disk);
  strike_node(&Faults::low_space, &Nemesis::fill_disk);
  strike_node(&Faults::clock_jump, &Nemesis::jump_clock);
  strike_node(&Faults::wrong_day, &Nemesis::miss_the_day);
}

void Nemesis::strike_members() {
  members_change_ = true;
  strike_node(&Faults::absence, &Nemesis::keep_away);
  strike_node(&Faults::sleep, &Nemesis::sleep);
  strike_node(&Faults::wipe, &Nemesis::wipe);
  strike_node(&Faults::restore, &Nemesis::copy_disk);
  schedule(&Faults::damage, [this] { damage(); });
  schedule(&Faults::gone, [this] { leave_for_good(); });
  schedule(&Faults::members, [this] { operator_.act(); });
  schedule(&Faults::aimed, [this] { aim(); });
}

void Nemesis::make_peace() {
  peace_ = true;
  setting_.strikes.end();
  operator_.rest();
  for (SimulatedNode* node : setting_.nodes) {
    node->set_space({});
    node->clock().set_wrong_by({});
    // One fault is planned for each kind of call: this one takes its place and never comes.
    for (const DiskCall call : kDiskCalls) node->fail_disk(call, kNeverReached, DiskError::kInputOutput);
  }
  network_.heal_all();
}

Machines Nemesis::chosen_core() const {
  const Ring* newest = newest_ring_of(setting_.nodes);
  if (newest == nullptr) return {};
  Machines candidates;
  for (SimulatedNode* node : setting_.nodes) {
    if (!is_gone(*node) && newest->description().find_member(node->node()) != nullptr)
      candidates.push_back(node);
  }
  return simulation::chosen_core(
      *newest, candidates, [this](const SimulatedNode& node) { return !votes_taken_.contains(&node); },
      world_.random);
}

void Nemesis::make_peace_in(const Machines& core) {
  make_peace();
  for (SimulatedNode* node : setting_.nodes) {
    if (std::find(core.begin(), core.end(), node) == core.end()) break_for_good(*node, core);
  }
}

// A disk may be full of one from which a change under way wants nothing: that would wait until its operator
// makes room, or takes the change back.
void Nemesis::break_for_good(SimulatedNode& node, const Machines& core) {
  const Ring* ring = newest_ring_of(setting_.nodes);
  const Member* member = ring == nullptr ? nullptr : ring->description().find_member(node.node());
  const bool may_fill = member != nullptr && member->status == MemberStatus::kNormal &&
                        !ring->description().change && !ring->description().plan;
  const uint64_t roll = world_.random.below(may_fill ? 3 : 2);
  if (member == nullptr || roll == 0) {
    world_.trace.add(world_.events.now(), node.name(), "is dead for good");
    dead_.insert(&node);
    if (node.running()) node.kill();
  } else if (roll == 1) {
    cut_off(node, core);
  } else {
    world_.trace.add(world_.events.now(), node.name(), "has a full disk for good");
    node.set_space(kNearlyFull);
    world_.sightings.saw(sighting::kFullForGood);
  }
}

void Nemesis::schedule(FaultInterval fault, const std::function<void()>& strike) {
  setting_.strikes.add(std::string(name_of(fault)), world_.faults.*fault, strike);
}

void Nemesis::strike_node(FaultInterval fault, void (Nemesis::*strike)(SimulatedNode&)) {
  for (SimulatedNode* node : setting_.nodes) {
    setting_.strikes.add(cat(name_of(fault), ":", node->name()), world_.faults.*fault,
                         [this, node, strike] { (this->*strike)(*node); });
  }
}

// Short ones as often as long ones: the logarithm is uniform.
Duration Nemesis::between(Duration shortest, Duration longest) const {
  const double ratio = static_cast<double>(longest.count()) / static_cast<double>(shortest.count());
  return Duration(
      static_cast<int64_t>(static_cast<double>(shortest.count()) * std::pow(ratio, world_.random.unit())));
}

void Nemesis::saw_under_load(std::string_view what) {
  if (setting_.requests_under_way()) world_.sightings.saw(what);
}

// ---- nodes

void Nemesis::kill(SimulatedNode& node) {
  if (node.running()) node.kill();
}

void Nemesis::move(SimulatedNode& node) {
  if (node.running()) node.kill();
  node.move();
  world_.sightings.saw(sighting::kMoved);
}

void Nemesis::freeze(SimulatedNode& node) {
  if (!node.serving()) return;
  node.freeze(between(kFreezeMin, kFreezeMax));
  saw_under_load(sighting::kFrozenUnderLoad);
}

// Half of them wait for a sync that takes long: what was read meanwhile must not be lost.
void Nemesis::aim_power_cut(SimulatedNode& node) {
  if (world_.random.one_in(2)) return cut_power(node);
  const auto look = [this, &node](const auto& again) -> void {
    world_.events.after(world_.up_to(kAimPauseMax), [this, &node, again] {
      if (peace_) return;
      if (node.syncing() && world_.random.one_in(kAimOneIn)) return cut_power(node);
      again(again);
    });
  };
  look(look);
}

void Nemesis::cut_power(SimulatedNode& node) {
  if (!node.running()) return;
  if (node.syncing()) world_.sightings.saw(sighting::kPowerCutDuringSync);
  node.cut_power();
  history_.cut_power(node.name());
}

void Nemesis::stop(SimulatedNode& node) {
  if (node.serving() && !node.frozen()) node.stop();
}

void Nemesis::fail_disk(SimulatedNode& node) {
  const DiskCall call = kDiskCalls[world_.random.below(std::size(kDiskCalls))];
  const DiskError error = world_.random.one_in(2) ? DiskError::kInputOutput : DiskError::kNoSpace;
  node.fail_disk(call, 1 + world_.random.below(kDiskCallsMax), error);
}

void Nemesis::fill_disk(SimulatedNode& node) {
  node.set_space(kNearlyFull);
  world_.events.after(world_.up_to(kLowSpaceMax), [&node] { node.set_space({}); });
}

void Nemesis::jump_clock(SimulatedNode& node) {
  set_clock_wrong(node, world_.up_to(2 * kClockJumpMax) - kClockJumpMax);
}

void Nemesis::miss_the_day(SimulatedNode& node) {
  const auto days = static_cast<int64_t>(world_.random.below(2 * kDaysMax)) - kDaysMax;
  set_clock_wrong(node, kDay * days + kDay);
  world_.events.after(world_.up_to(kWrongDayMax), [this, &node] {
    if (!peace_) set_clock_wrong(node, Duration::zero());
  });
}

// The clocks of most nodes are never far off at one time, or nobody could know what time it is.
void Nemesis::set_clock_wrong(SimulatedNode& node, Duration offset) {
  const auto is_far = [](Duration by) { return by > kClockJumpSmallMax || by < -kClockJumpSmallMax; };
  size_t far = is_far(offset) ? 1 : 0;
  for (SimulatedNode* other : setting_.nodes) {
    far += other != &node && is_far(other->clock().wrong_by()) ? 1 : 0;
  }
  if (is_far(offset) && 2 * far >= setting_.nodes.size()) offset %= kClockJumpSmallMax;
  if (offset > kDay || offset < -kDay) world_.sightings.saw(sighting::kWrongDay);
  node.clock().set_wrong_by(offset);
}

void Nemesis::keep_away(SimulatedNode& node) {
  if (node.running()) node.kill();
  away_until_[&node] = world_.events.now() + between(kAwayMin, kAwayMax);
  saw_under_load(sighting::kAbsence);
}

// Days pass, for everybody, between the moment at which it was sent something and the one at which it looks.
void Nemesis::sleep(SimulatedNode& node) {
  if (!node.serving() || node.frozen()) return;
  node.freeze(between(kSleepMin, kSleepMax));
  world_.calendar.leap(world_.events.now(), kDay * static_cast<int64_t>(1 + world_.random.below(kDaysMax)));
  saw_under_load(sighting::kDaysPassed);
}

}  // namespace ringkv::simulation
