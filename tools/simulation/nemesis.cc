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
constexpr Duration kFreezeMax = seconds(60);
constexpr Duration kSlowDiskMin = seconds(1);
constexpr Duration kSlowDiskMax = seconds(60);
constexpr Duration kLowSpaceMax = seconds(5);
constexpr Duration kAwayMin = seconds(20);
constexpr Duration kAwayMax = seconds(60);
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
  strike_node(&Faults::swap, &Nemesis::swap);
  strike_node(&Faults::kill, &Nemesis::kill);
  strike_node(&Faults::power_cut, &Nemesis::aim_power_cut);
  strike_node(&Faults::stop, &Nemesis::stop);
  strike_node(&Faults::disk_error, &Nemesis::fail_disk);
  strike_node(&Faults::low_space, &Nemesis::fill_disk);
  strike_node(&Faults::slow_disk, &Nemesis::slow_disk);
  strike_node(&Faults::clock_jump, &Nemesis::jump_clock);
  strike_node(&Faults::clock_drift, &Nemesis::let_clock_drift);
  strike_node(&Faults::clock_still, &Nemesis::stop_clock);
  strike_node(&Faults::wrong_day, &Nemesis::miss_the_day);
  strike_node(&Faults::lost_date, &Nemesis::lose_the_date);
}

void Nemesis::strike_members() {
  members_change_ = true;
  strike_node(&Faults::absence, &Nemesis::keep_away);
  strike_node(&Faults::sleep, &Nemesis::sleep);
  strike_node(&Faults::wipe, &Nemesis::wipe);
  strike_node(&Faults::restore, &Nemesis::copy_disk);
  schedule(&Faults::damage, [this] { damage(&SimulatedNode::damage); });
  schedule(&Faults::flip, [this] { damage(&SimulatedNode::flip_bit); });
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
    node->slow_disk({});
    node->clock().set_wrong_by({});
    // One fault is planned for each kind of call: this one takes its place and never comes.
    for (const DiskCall call : kDiskCalls) node->fail_disk(call, kNeverReached, DiskError::kInputOutput);
  }
  network_.heal_all();
  give_doors_back();
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

void Nemesis::swap(SimulatedNode& node) {
  SimulatedNode& other = *setting_.nodes[world_.random.below(setting_.nodes.size())];
  if (&node == &other) return;
  for (SimulatedNode* one : {&node, &other}) kill(*one);
  node.swap_doors(other);
  world_.sightings.saw(sighting::kSwapped);
}

// Or a client that asks one node alone would ask another for ever.
void Nemesis::give_doors_back() {
  const auto is_home = [](const SimulatedNode& node) { return node.doors_of() == node.name(); };
  for (SimulatedNode* node : setting_.nodes) {
    if (!is_home(*node)) kill(*node);
  }
  for (SimulatedNode* node : setting_.nodes) {
    const auto holder = std::find_if(setting_.nodes.begin(), setting_.nodes.end(),
                                     [&](const auto& other) { return other->doors_of() == node->name(); });
    if (!is_home(*node)) node->swap_doors(**holder);
  }
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

void Nemesis::slow_disk(SimulatedNode& node) {
  node.slow_disk(between(kSlowDiskMin, kSlowDiskMax));
  if (node.serving()) saw_under_load(sighting::kSlowDisk);
}

void Nemesis::keep_away(SimulatedNode& node) {
  if (node.running()) node.kill();
  away_until_[&node] = world_.events.now() + between(kAwayMin, kAwayMax);
  saw_under_load(sighting::kAbsence);
}

}  // namespace ringkv::simulation
