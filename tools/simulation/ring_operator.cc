#include "tools/simulation/ring_operator.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "tools/simulation/ring_roles.h"

namespace ringkv::simulation {
namespace {

using std::chrono::seconds;

constexpr double kWeights[] = {0.25, 0.5, 1, 2, 4};
constexpr const char* kRacks[] = {"a", "b", "c"};
constexpr uint32_t kReplicasMin = 2;
constexpr uint32_t kReplicasMax = 4;
constexpr uint64_t kStepsMax = 3;
constexpr uint64_t kMovesMax = 3;
constexpr uint64_t kCancelOneIn = 3;
constexpr uint64_t kTwiceOneIn = 4;
constexpr Duration kHesitation = seconds(2);
constexpr Duration kTryPause = seconds(3);
constexpr uint32_t kTries = 8;

}  // namespace

SimulatedNode* RingOperator::anybody() const {
  std::vector<SimulatedNode*> able;
  for (SimulatedNode* node : setting_.nodes) {
    if (node->serving() && !node->frozen()) able.push_back(node);
  }
  return able.empty() ? nullptr : able[world_.random.below(able.size())];
}

SimulatedNode* RingOperator::machine(const std::string& name) const {
  const auto found = std::find_if(setting_.nodes.begin(), setting_.nodes.end(),
                                  [&](const SimulatedNode* node) { return node->name() == name; });
  return found == setting_.nodes.end() ? nullptr : *found;
}

const Member& RingOperator::any_member(const RingDescription& ring) const {
  return ring.members[world_.random.below(ring.members.size())];
}

void RingOperator::act() {
  SimulatedNode* at = anybody();
  if (at == nullptr) return;
  const RingDescription ring = at->life()->ring().description();
  if ((ring.change && !ring.change->switched) || ring.plan) {
    if (world_.random.one_in(kCancelOneIn)) return take_back(*at, ring);
    if (ring.plan) return commit_soon(*at);
  }
  // Refused by name where a change is under way.
  change(ring);
}

void RingOperator::take_back(SimulatedNode& at, const RingDescription& ring) {
  at.ask(ClientCancelPlan{ring.epoch}, "cancels the plan");
}

void RingOperator::change(const RingDescription& ring) {
  const bool somebody_waits = !ring.waiting.empty();
  if (somebody_waits && world_.random.one_in(3)) return replace(ring);
  Steps steps;
  if (somebody_waits && world_.random.one_in(2)) {
    for (const Member& waiting : ring.waiting) {
      if (steps.empty() || world_.random.one_in(2)) steps.emplace_back(PlanJoin{waiting.name});
    }
  }
  const uint64_t more =
      world_.random.one_in(4) ? 1 + world_.random.below(kStepsMax) : (steps.empty() ? 1 : 0);
  for (uint64_t i = 0; i < more; ++i) add_step(ring, steps);
  SimulatedNode* at = anybody();
  if (at != nullptr && !steps.empty()) draft(*at, steps);
}

void RingOperator::add_step(const RingDescription& ring, Steps& steps) {
  const Member& member = any_member(ring);
  const uint64_t roll = world_.random.below(10);
  if (roll < 2) {
    steps.emplace_back(PlanWeight{member.name, kWeights[world_.random.below(std::size(kWeights))]});
  } else if (roll < 4) {
    steps.emplace_back(PlanRack{member.name, kRacks[world_.random.below(std::size(kRacks))]});
  } else if (roll < 6) {
    const auto replicas =
        static_cast<uint32_t>(kReplicasMin + world_.random.below(kReplicasMax - kReplicasMin + 1));
    if (replicas != ring.replicas && replicas <= ring.members.size())
      steps.emplace_back(PlanReplicas{replicas});
  } else if (roll < 8) {
    for (uint64_t i = 1 + world_.random.below(kMovesMax); i > 0; --i) {
      steps.emplace_back(
          PlanMove{static_cast<uint32_t>(world_.random.below(ring.partitions())), any_member(ring).name});
    }
  } else {
    const SimulatedNode* leaver = machine(member.name);
    const bool other_leaves = std::any_of(steps.begin(), steps.end(), [](const PlanStep& step) {
      return std::holds_alternative<PlanLeave>(step);
    });
    if (!other_leaves && leaver != nullptr && setting_.may_leave(*leaver))
      steps.emplace_back(PlanLeave{member.name});
  }
}

// One that is gone for good, or dies now; or one that is up, by force.
void RingOperator::replace(const RingDescription& ring) {
  const std::string by = ring.waiting[world_.random.below(ring.waiting.size())].name;
  if (const SimulatedNode* dead = setting_.dead_member())
    return keep_replacing(dead->name(), by, /*force=*/false, kTries);
  SimulatedNode* old = machine(any_member(ring).name);
  if (old == nullptr || old->name() == by || !setting_.may_die(*old)) return;
  const bool is_up = world_.random.one_in(3);
  setting_.let_die(*old);
  if (is_up && !old->running()) old->start();
  keep_replacing(old->name(), by, is_up, kTries);
}

// Until it is known to be down, and what else is under way has ended.
void RingOperator::keep_replacing(const std::string& old_name, const std::string& by, bool force,
                                  uint32_t tries) {
  SimulatedNode* at = anybody();
  if (resting_ || tries == 0) return;
  if (at != nullptr && at->name() != old_name) {
    const RingDescription& ring = at->life()->ring().description();
    if (ring.find_member(old_name) == nullptr || ring.find_member(by) != nullptr) return;
    if (ring.plan) {
      commit_soon(*at);
    } else {
      draft(*at, {PlanReplace{old_name, by, force}});
    }
  }
  world_.events.after(kTryPause, [=, this] { keep_replacing(old_name, by, force, tries - 1); });
}

void RingOperator::draft(SimulatedNode& at, const Steps& steps) {
  at.ask(ClientPlan{steps}, "drafts a plan", [this, &at](const Status& status) {
    if (status.ok()) commit_soon(at);
  });
}

// What stands in the ring then, perhaps another's.
void RingOperator::commit_soon(SimulatedNode& at) {
  const uint64_t epoch = at.life()->ring().epoch();
  world_.events.after(world_.up_to(kHesitation), [this, &at, epoch] {
    if (resting_) return;
    if (at.serving() && !at.frozen()) commit(at, epoch);
    SimulatedNode* other = anybody();
    if (other == nullptr || !world_.random.one_in(kTwiceOneIn)) return;
    world_.sightings.saw(sighting::kTwoCommits);
    commit(*other, epoch);
  });
}

void RingOperator::commit(SimulatedNode& at, uint64_t epoch) {
  at.ask(ClientCommitPlan{epoch, world_.random.next() | 1}, "commits the plan");
}

}  // namespace ringkv::simulation
