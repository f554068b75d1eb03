#include "node/ring_driver.h"

#include <algorithm>

#include "base/text.h"
#include "node/ring_changes.h"

namespace ringkv {

void RingDriver::set_ring(const RingView& view, Time now) {
  since_ = now;
  gaining_.clear();
  moving_lists_.clear();
  if (!view.ring().description().change) return;
  for (Partition partition = 0; partition < view.ring().partitions(); ++partition) {
    const WriteLists lists = view.write_lists(partition);
    if (lists.next.empty()) continue;
    moving_lists_.insert(lists.present);
    for (const NodeId node : lists.next) {
      if (std::find(lists.present.begin(), lists.present.end(), node) == lists.present.end())
        gaining_.insert(node);
    }
  }
}

bool RingDriver::is_own_turn(const RingView& view, Time now) const {
  std::vector<NodeId> voters;
  for (const Member& member : view.ring().description().members) {
    if (member.voter && view.is_reachable(member.node)) voters.push_back(member.node);
  }
  if (voters.empty()) return false;
  const auto turn = static_cast<uint64_t>((now - since_) / kTurn);
  return voters[turn % voters.size()] == view.self();
}

bool RingDriver::all_ready(const RingView& view, const StateOf& state_of) const {
  return std::all_of(gaining_.begin(), gaining_.end(), [&](NodeId node) {
    const PeerState* state = state_of(node);
    return state != nullptr && state->ready_epoch == view.ring().epoch();
  });
}

bool RingDriver::all_have_switched(const RingView& view, const StateOf& state_of) const {
  const auto has_switched = [&](NodeId node) {
    const PeerState* state = state_of(node);
    return state != nullptr && state->epoch >= view.ring().epoch();
  };
  const std::vector<Member>& members = view.ring().description().members;
  const bool all_up = std::all_of(members.begin(), members.end(), [&](const Member& member) {
    return !view.is_reachable(member.node) || has_switched(member.node);
  });
  return all_up && std::all_of(moving_lists_.begin(), moving_lists_.end(), [&](const auto& owners) {
           const auto switched = std::count_if(owners.begin(), owners.end(), has_switched);
           return static_cast<uint32_t>(switched) >=
                  view.holders_for_confirmation(static_cast<uint32_t>(owners.size()));
         });
}

std::optional<RingDriver::Step> RingDriver::next(const RingView& view, const StateOf& state_of,
                                                 Time now) const {
  const RingDescription& ring = view.ring().description();
  if (!is_own_turn(view, now)) return std::nullopt;
  if (ring.change && !ring.change->switched) {
    if (!all_ready(view, state_of)) return std::nullopt;
    return Step{switched(ring.epoch), "gets are switched to the next owners"};
  }
  if (ring.change) {
    if (!all_have_switched(view, state_of)) return std::nullopt;
    return Step{finished(ring.epoch), "the change of the ring is finished"};
  }
  for (const Member& member : ring.members) {
    const PeerState* state = state_of(member.node);
    if (member.status != MemberStatus::kLeaving || state == nullptr || state->hints > 0) continue;
    if (state->epoch < ring.epoch || !view.is_reachable(member.node)) continue;
    return Step{removed(member.name), cat(member.name, " has left")};
  }
  return std::nullopt;
}

}  // namespace ringkv
