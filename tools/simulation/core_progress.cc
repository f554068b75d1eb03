#include "tools/simulation/core_progress.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "node/ring_driver.h"
#include "tools/simulation/checkers.h"
#include "tools/simulation/copies_checker.h"

namespace ringkv::simulation {
namespace {

using std::chrono::seconds;

// Longer than any deadline.
constexpr Duration kSettleMin = seconds(6);
// Two that are given up one after the other, and as long for all else.
constexpr Duration kSettlesWithin = 2 * RingDriver::kGivenUpAfter + std::chrono::minutes(5);
constexpr Duration kLookAtCore = seconds(1);
constexpr Duration kLastReads = seconds(6);
// Of a connection that nothing comes through any more, by its ends.
constexpr Duration kSilenceFound = seconds(20);

// The node that it is for; and where that isn't an owner any more, all owners: one outside, if there is
// one.
NodeId whom_awaits(const KeptHint& hint, const Ring& ring, const Machines& core) {
  const Partition partition = partition_of(hint.token, ring.partitions());
  if (ring.is_owner(hint.intended, partition)) return hint.intended;
  NodeId awaited = hint.intended;
  for (const auto& list : {ring.preference_list(partition), ring.next_preference_list(partition)}) {
    for (const uint16_t position : list) {
      const NodeId owner = ring.member(position).node;
      const bool is_of_core = std::any_of(
          core.begin(), core.end(), [owner](const SimulatedNode* node) { return node->node() == owner; });
      if (!is_of_core) return owner;
      awaited = owner;
    }
  }
  return awaited;
}

}  // namespace

void CoreProgress::demand() {
  const Machines core = ring_.nemesis().chosen_core();
  ring_.end_random_faults();
  if (core.empty()) {
    ring_.sightings().saw(sighting::kNoCore);
    ring_.nemesis().make_peace();
    ring_.pass(kSettleMin);
  } else {
    if (ring_.newest_ring()->description().change) ring_.sightings().saw(sighting::kCoreInChange);
    ring_.nemesis().make_peace_in(core);
    demand_of(core);
  }
  if (!ring_.violation()) ring_.note(check_history(ring_.history(), ring_.facts()));
}

void CoreProgress::demand_of(const Machines& core) {
  settle_in(core);
  std::vector<uint32_t> asked;
  for (uint32_t node = 0; node < ring_.nodes().size(); ++node) {
    const bool is_of_core = std::find(core.begin(), core.end(), ring_.nodes()[node].get()) != core.end();
    if (is_of_core && ring_.is_there(*ring_.nodes()[node])) asked.push_back(node);
  }
  // A connection that was silenced is known to be dead only once it has been used.
  if (!ring_.violation()) ring_.workload().write_everything(asked);
  if (!ring_.violation()) ring_.workload().read_through(asked);
  ring_.pass(kSilenceFound);
  const size_t first = ring_.history().operations().size();
  if (!ring_.violation()) ring_.workload().write_everything(asked);
  ring_.pass(kLastReads);
  if (!ring_.violation()) ring_.workload().read_through(asked);
  ring_.pass(kLastReads);
  const std::vector<CoreMember> members = members_of(core);
  if (!ring_.violation()) ring_.note(what_core_lacks(members));
  if (ring_.violation()) return;
  ring_.note(check_core(ring_.history(), first, members));
  for (const auto& [bucket, key] : ring_.workload().keys()) {
    const bool served = is_served_by(members, bucket, key);
    ring_.sightings().saw(served ? sighting::kCoreServesKey : sighting::kCoreLacksKey);
  }
}

// A change that waits for somebody outside is taken back after ten minutes, and a leaver given up then.
void CoreProgress::settle_in(const Machines& core) {
  ring_.pass(kSettleMin);
  const Time began = ring_.now();
  std::optional<Violation> lacking = what_core_lacks(members_of(core));
  while (lacking && ring_.now() < began + kSettlesWithin && !ring_.violation()) {
    ring_.drop_draft();
    ring_.pass(kLookAtCore);
    lacking = what_core_lacks(members_of(core));
  }
  if (!ring_.violation()) ring_.note(std::move(lacking));
  if (ring_.now() > began + RingDriver::kGivenUpAfter) ring_.sightings().saw(sighting::kCoreWaitedLong);
}

std::vector<CoreMember> CoreProgress::members_of(const Machines& core) const {
  std::vector<CoreMember> members;
  for (const SimulatedNode* node : core) {
    if (!ring_.is_there(*node)) continue;  // it has left
    CoreMember& member = members.emplace_back();
    member.name = node->name();
    member.node = node->node();
    member.serves = node->serving() && ring_.workload().ready();
    if (!member.serves) continue;
    const Life& life = *node->life();
    member.ring = &life.ring();
    for (const Partition partition : life.wholeness().incomplete_partitions())
      member.incomplete.insert(partition);
    for (const KeptHint& hint : kept_hints(node->disk()))
      ++member.hints[whom_awaits(hint, life.ring(), core)];
    for (const Member& other : life.ring().description().members) {
      if (node->can_reach(other.node)) member.reached.insert(other.node);
    }
    member.state = node->member_state();
  }
  return members;
}

}  // namespace ringkv::simulation
