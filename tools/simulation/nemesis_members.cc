// What strikes disks and those who have a seat in the ring: each takes a vote for a while, or for good, and
// the others must stay a majority.
#include <algorithm>
#include <iterator>
#include <utility>

#include "tools/simulation/nemesis.h"
#include "tools/simulation/ring_roles.h"

namespace ringkv::simulation {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kDownLong = seconds(12);
constexpr Duration kDownUsual = seconds(3);
constexpr Duration kDownShort = milliseconds(20);
constexpr Duration kCopyAgeMin = seconds(2);
constexpr Duration kCopyAgeMax = seconds(60);
constexpr Duration kLookForLivesPause = seconds(2);
constexpr Duration kLookPause = milliseconds(100);
constexpr Family kDamagedFamilies[] = {Family::kData, Family::kData, Family::kDigests, Family::kHints};
constexpr size_t kMembersMin = 3;
constexpr Duration kAimRolePauseMax = milliseconds(20);
constexpr Duration kAimPatience = seconds(20);
constexpr Duration kOutsideMax = seconds(30);

}  // namespace

// Whose disk is replaced or put back, or who is gone, votes no more for a while, or ever; the others must
// still be a majority without one that has died just now.
bool Nemesis::may_take_vote(const SimulatedNode& node, size_t seats_less) const {
  const RingDescription* ring = newest_ring();
  if (ring == nullptr || is_gone(node) || ring->find_member(node.node()) == nullptr) return false;
  // A leaver's vote counts until it is removed, and not after that; one that has lost its seat is counted as
  // mute as well: it may be about to lose it.
  for (const bool leavers_too : {true, false}) {
    size_t seats = 0, mute = 1;
    for (const Member& member : ring->members) {
      if (member.status == MemberStatus::kLeaving && !leavers_too) continue;
      seats += member.voter ? 1 : 0;
      for (const SimulatedNode* taken : votes_taken_) {
        if (taken != &node && taken->name() == member.name) ++mute;
      }
    }
    if (seats <= seats_less || 2 * mute >= seats - seats_less) return false;
  }
  return true;
}

const RingDescription* Nemesis::newest_ring() const {
  const Ring* newest = newest_ring_of(setting_.nodes);
  return newest == nullptr ? nullptr : &newest->description();
}

bool Nemesis::is_gone_member(const SimulatedNode& node) const {
  const RingDescription* ring = newest_ring();
  return is_gone(node) && (ring == nullptr || ring->find_member(node.node()) != nullptr);
}

void Nemesis::wipe(SimulatedNode& node) {
  if (!may_take_vote(node)) return;
  votes_taken_.insert(&node);
  if (node.running()) node.kill();
  node.wipe();
  history_.lose_disk(node.name());
  setting_.on_other_disk(node);
  saw_under_load(sighting::kWiped);
}

void Nemesis::copy_disk(SimulatedNode& node) {
  if (!node.serving() || !may_take_vote(node) || copied_.contains(&node)) return;
  votes_taken_.insert(&node);
  copied_.insert(&node);
  const Step kept = history_.mark();
  const auto look = [this, &node, copy = node.copy_disk(), kept](const auto& again, Duration pause) -> void {
    world_.events.after(pause, [=, this, &node] {
      if (peace_ || is_gone(node)) return;
      if (!node.has_copied(copy)) {  // it was wiped meanwhile
        copied_.erase(&node);
        return;
      }
      if (!node.may_go_back_to(copy)) {
        // In its next life the others will know that the copy lacks one.
        if (node.serving() && !node.frozen()) node.kill();
        return again(again, kLookForLivesPause);
      }
      put_back(node, copy, kept);
    });
  };
  look(look, between(kCopyAgeMin, kCopyAgeMax));
}

void Nemesis::put_back(SimulatedNode& node, const SimulatedNode::DiskCopy& copy, Step kept) {
  if (node.running()) node.kill();
  node.put_back(copy);
  copied_.erase(&node);
  history_.lose_disk(node.name(), kept);
  setting_.on_other_disk(node);
  saw_under_load(sighting::kPutBack);
}

// Always of the same node: all that the others hold must do.
void Nemesis::damage(void (SimulatedNode::*how)(Family)) {
  if (damaged_ == nullptr) damaged_ = setting_.nodes[world_.random.below(setting_.nodes.size())];
  if (setting_.nodes.size() == 1 || is_gone(*damaged_)) return;
  (damaged_->*how)(kDamagedFamilies[world_.random.below(std::size(kDamagedFamilies))]);
  history_.lose_disk(damaged_->name());
}

// Only from a ring that can do without one more, and has no leaver, which may wait for it.
void Nemesis::leave_for_good() {
  SimulatedNode& node = *setting_.nodes[world_.random.below(setting_.nodes.size())];
  const RingDescription* ring = newest_ring();
  if (gone_ != nullptr || ring == nullptr || ring->find_member(node.node()) == nullptr) return;
  const auto leaves = [](const Member& member) { return member.status == MemberStatus::kLeaving; };
  if (std::any_of(ring->members.begin(), ring->members.end(), leaves) || !may_take_vote(node)) return;
  votes_taken_.insert(&node);
  gone_ = &node;
  if (node.running()) node.kill();
  world_.trace.add(world_.events.now(), node.name(), "is gone for good");
  history_.lose_disk(node.name());
  saw_under_load(sighting::kGone);
}

// ---- changes of the ring

RingOperator::Setting Nemesis::operator_setting() {
  return {.nodes = setting_.nodes,
          .may_leave = [this](const SimulatedNode& node) { return may_leave(node); },
          .may_die = [this](const SimulatedNode& node) { return !is_gone(node) && may_take_vote(node, 1); },
          .let_die = [this](SimulatedNode& node) { let_die(node); },
          .dead_member = [this]() -> const SimulatedNode* {
            return gone_ != nullptr && is_gone_member(*gone_) ? gone_ : nullptr;
          }};
}

// Whoever goes hands over to all owners: so none of them may be gone for good.
bool Nemesis::may_leave(const SimulatedNode& node) const {
  const RingDescription* ring = newest_ring();
  return ring != nullptr && ring->members.size() > kMembersMin && may_take_vote(node, 1) &&
         (gone_ == nullptr || !is_gone_member(*gone_));
}

// Its vote goes to whoever takes its place.
void Nemesis::let_die(SimulatedNode& node) {
  votes_taken_.insert(&node);
  keep_away(node);
}

// Waits until somebody has a certain part in a change, and hits him just then.
void Nemesis::aim() {
  const RingRole role = kRingRoles[world_.random.below(std::size(kRingRoles))];
  const auto look = [this, role, until = world_.events.now() + kAimPatience](const auto& again) -> void {
    world_.events.after(world_.up_to(kAimRolePauseMax), [=, this] {
      if (peace_ || world_.events.now() > until) return;
      const std::vector<SimulatedNode*> found = nodes_in_role(role, setting_.nodes);
      if (found.empty() || world_.random.one_in(kAimOneIn)) return again(again);
      world_.sightings.saw(sighting_of(role));
      SimulatedNode& victim = *found[world_.random.below(found.size())];
      hit(victim);
      if ((role == RingRole::kGainer || role == RingRole::kSource) && !victim.running()) watch_transfer();
    });
  };
  look(look);
}

void Nemesis::hit(SimulatedNode& node) {
  world_.trace.add(world_.events.now(), node.name(), "is hit for its part in a change of the ring");
  switch (world_.random.below(4)) {
    case 0:
      return kill(node);
    case 1:
      return cut_power(node);
    case 2:
      return freeze(node);
    default:
      return isolate(node);
  }
}

// One of its sides has died before it was done: the change is switched only once all new owners are ready.
void Nemesis::watch_transfer() {
  const RingDescription* ring = newest_ring();
  if (ring == nullptr) return;
  const auto look = [this, begun = ring->epoch](const auto& again) -> void {
    world_.events.after(kLookPause, [=, this] {
      const RingDescription* ring = newest_ring();
      if (peace_) return;
      if (ring == nullptr || ring->epoch <= begun) return again(again);
      if (ring->change && ring->change->switched) world_.sightings.saw(sighting::kTransferResumed);
    });
  };
  look(look);
}

// It may have been away when it was removed.
bool Nemesis::is_outside(const SimulatedNode& node) const {
  const RingDescription* ring = newest_ring();
  return node.has_left() ||
         (node.was_refused() && ring != nullptr && ring->find_member(node.node()) == nullptr);
}

// Of an empty directory, as a new node of the old name, which asks to be taken in or waits for a plan. Not
// any more in peace.
void Nemesis::come_back(SimulatedNode& node) {
  if (peace_ || !members_change_) return;
  const auto [at, is_new] = joins_at_.try_emplace(&node, world_.events.now() + world_.up_to(kOutsideMax));
  if (world_.events.now() < at->second) return;
  joins_at_.erase(at);
  votes_taken_.erase(&node);
  if (node.has_left()) world_.sightings.saw(sighting::kLeft);
  if (!node.has_left() && node.node() != NodeId()) world_.sightings.saw(sighting::kOldDiskRefused);
  node.begin_anew(world_.random.one_in(2));
  setting_.on_other_disk(node);
  node.start();
}

// Whoever runs the nodes starts one again that is down, at once, some time later, or late enough that others
// call it down.
void Nemesis::keep_up(SimulatedNode& node) {
  if (is_gone(node)) return;
  Duration pause = kLookPause;
  const bool away = !peace_ && world_.events.now() < away_until_[&node];
  if (!node.running() && is_outside(node)) {
    come_back(node);
  } else if (!node.running() && !away) {
    node.start();
  } else if (!peace_ && !away) {
    const uint64_t roll = world_.random.below(8);
    pause = world_.up_to(roll < 4 ? kDownShort : (roll < 7 ? kDownUsual : kDownLong));
  }
  world_.events.after(pause, [this, &node] { keep_up(node); });
}

}  // namespace ringkv::simulation
