#include "tools/simulation/core.h"

#include <algorithm>
#include <span>

#include "tools/simulation/history.h"

namespace ringkv::simulation {
namespace {

bool contains(const Machines& machines, NodeId node) {
  return std::any_of(machines.begin(), machines.end(),
                     [node](const SimulatedNode* machine) { return machine->node() == node; });
}

bool has_quorum(const Ring& ring, std::span<const uint16_t> list, const Machines& machines) {
  const auto found = std::count_if(list.begin(), list.end(), [&](uint16_t position) {
    return contains(machines, ring.member(position).node);
  });
  return static_cast<uint32_t>(found) >= quorum_of(static_cast<uint32_t>(list.size()));
}

// Where somebody has none yet, one seat more may be on its way.
bool has_majority(const Ring& ring, const Machines& machines,
                  const std::function<bool(const SimulatedNode&)>& may_vote) {
  const std::vector<Member>& members = ring.description().members;
  const auto votes = [](const Member& member) { return member.voter; };
  const auto voters = static_cast<size_t>(std::count_if(members.begin(), members.end(), votes));
  const size_t seats = std::min(voters + 1, members.size());
  size_t able = 0;
  for (const SimulatedNode* machine : machines) {
    const Member* member = ring.description().find_member(machine->node());
    able += member != nullptr && member->voter && may_vote(*machine) ? 1 : 0;
  }
  return 2 * able > seats;
}

bool suffices(const Ring& ring, const Machines& machines,
              const std::function<bool(const SimulatedNode&)>& may_vote) {
  if (!has_majority(ring, machines, may_vote)) return false;
  const bool switched = ring.description().change && ring.description().change->switched;
  for (Partition partition = 0; partition < ring.partitions(); ++partition) {
    if (!has_quorum(ring, ring.preference_list(partition), machines)) return false;
    if (switched && !has_quorum(ring, ring.next_preference_list(partition), machines)) return false;
  }
  return true;
}

}  // namespace

Machines chosen_core(const Ring& ring, const Machines& candidates,
                     const std::function<bool(const SimulatedNode&)>& may_vote, Random& random) {
  Machines core = candidates;
  if (!suffices(ring, core, may_vote)) return {};
  Machines in_turn = candidates;
  for (size_t i = in_turn.size(); i > 1; --i) std::swap(in_turn[i - 1], in_turn[random.below(i)]);
  for (SimulatedNode* machine : in_turn) {
    if (random.one_in(8)) break;
    Machines fewer = core;
    std::erase(fewer, machine);
    if (suffices(ring, fewer, may_vote)) core = fewer;
  }
  return core;
}

}  // namespace ringkv::simulation
