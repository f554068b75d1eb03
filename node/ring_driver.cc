#include "node/ring_driver.h"

#include <algorithm>

#include "base/plants.h"
#include "base/text.h"
#include "node/ring_changes.h"

namespace ringkv {

void RingDriver::set_ring(const RingView& view, Time now) {
  since_ = now;
  gaining_.clear();
  unreachable_since_.clear();
  moving_lists_.clear();
  if (!view.ring().description().change) return;
  for (Partition partition = 0; partition < view.ring().partitions(); ++partition) {
    const WriteLists lists = view.write_lists(partition);
    if (lists.next.empty()) continue;
    moving_lists_.insert(lists.present);
    const bool shrinks = lists.next.size() < lists.present.size();
    for (const NodeId node : lists.next) {
      if (shrinks || std::find(lists.present.begin(), lists.present.end(), node) == lists.present.end())
        gaining_.insert(node);
    }
  }
}

// Who won't be a member by the next ring doesn't propose it (ring_changer.h).
bool RingDriver::is_own_turn(const RingView& view, Time now) const {
  const RingDescription& ring = view.ring().description();
  const auto stays = [&](const Member& member) {
    return !ring.change || std::any_of(ring.change->members.begin(), ring.change->members.end(),
                                       [&](const Member& next) { return next.node == member.node; });
  };
  std::vector<NodeId> voters;
  for (const Member& member : ring.members) {
    if (member.voter && stays(member) && view.is_reachable(member.node)) voters.push_back(member.node);
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
           return static_cast<uint32_t>(switched) >= view.holders_for_confirmation(owners);
         });
}

bool RingDriver::is_given_up(const RingView& view, NodeId node, Time now) {
  if (!view.is_reachable(node))
    return now >= unreachable_since_.try_emplace(node, now).first->second + kGivenUpAfter;
  unreachable_since_.erase(node);
  return false;
}

std::optional<NodeId> RingDriver::given_up(const RingView& view, Time now) {
  const auto lost = std::find_if(gaining_.begin(), gaining_.end(),
                                 [&](NodeId node) { return is_given_up(view, node, now); });
  return lost == gaining_.end() ? std::nullopt : std::optional(*lost);
}

// Where owners are lost, the only copy may lie with somebody who owns it no more: whoever is to own it takes
// that before anybody asks it.
bool RingDriver::has_untaken(const RingView& view, const StateOf& state_of) {
  const std::vector<Member>& members = view.ring().description().members;
  if (std::none_of(members.begin(), members.end(), [](const Member& member) { return member.lost; }))
    return false;
  return std::any_of(members.begin(), members.end(), [&](const Member& member) {
    const PeerState* state = state_of(member.node);
    return view.is_reachable(member.node) && (!is_of_now(view, member, state) || state->former_untaken > 0);
  });
}

std::optional<RingDriver::Step> RingDriver::next_of_begun(const RingView& view, const StateOf& state_of,
                                                          Time now) {
  const uint64_t epoch = view.ring().epoch();
  if (const std::optional<NodeId> lost = given_up(view, now)) {
    return Step{cancelled(epoch),
                cat("the change of the ring is cancelled: ", view.name_of(*lost),
                    ", which was to take over partitions, has been unreachable for ",
                    std::chrono::duration_cast<std::chrono::minutes>(kGivenUpAfter).count(), " minutes")};
  }
  if (!all_ready(view, state_of) || has_untaken(view, state_of)) return std::nullopt;
  return Step{switched(epoch), "gets are switched to the next owners"};
}

bool RingDriver::is_of_now(const RingView& view, const Member& member, const PeerState* state) {
  return state != nullptr && view.is_reachable(member.node) && state->epoch >= view.ring().epoch();
}

bool RingDriver::has_left(const RingView& view, const Member& member, const PeerState* state) {
  if (member.status != MemberStatus::kLeaving || !is_of_now(view, member, state)) return false;
  const bool has_hints = state->hints > 0 && !planted(Plant::kLeaveWithHints);
  const bool has_untaken = state->former_untaken > 0 && !planted(Plant::kLeaveUntaken);
  return !has_hints && !has_untaken;
}

// A draft is meant for the epoch that it was made in.
bool RingDriver::may_vote(const RingView& view, const Member& member, const PeerState* state) {
  const RingDescription& ring = view.ring().description();
  return !ring.plan && !member.voter && !member.lost && member.status == MemberStatus::kNormal &&
         is_of_now(view, member, state) && state->incomplete_partitions == 0;
}

// Voters that can be reached now: what the others said last may be long ago.
std::vector<NodeId> RingDriver::given_up_by(const RingView& view, const Member& member,
                                            const StateOf& state_of) {
  std::vector<NodeId> voters;
  for (const Member& voter : view.ring().description().members) {
    const PeerState* state = state_of(voter.node);
    if (!voter.voter || state == nullptr || !view.is_reachable(voter.node)) continue;
    if (std::find(state->given_up.begin(), state->given_up.end(), member.node) != state->given_up.end())
      voters.push_back(voter.node);
  }
  return voters;
}

bool RingDriver::is_given_up_by_majority(const RingView& view, const Member& member,
                                         const StateOf& state_of) {
  const std::vector<Member>& members = view.ring().description().members;
  const auto voters = static_cast<size_t>(
      std::count_if(members.begin(), members.end(), [](const Member& one) { return one.voter; }));
  const std::vector<NodeId> agreed = given_up_by(view, member, state_of);
  return !view.is_reachable(member.node) && 2 * agreed.size() > voters &&
         std::find(agreed.begin(), agreed.end(), view.self()) != agreed.end();
}

// Or the change would wait for them.
bool RingDriver::are_enough_reachable(const RingView& view) {
  for (Partition partition = 0; partition < view.ring().partitions(); ++partition) {
    const std::vector<NodeId> owners = view.owners_of(partition);
    const auto reachable =
        std::count_if(owners.begin(), owners.end(), [&](NodeId owner) { return view.is_reachable(owner); });
    if (static_cast<uint32_t>(reachable) < view.holders_to_hear(owners)) return false;
  }
  return true;
}

// All at once: to the placer one that is absent and stays would be as good a place as any.
std::optional<RingDriver::Step> RingDriver::next_of_absent(const RingView& view, const StateOf& state_of) {
  const RingDescription& ring = view.ring().description();
  std::vector<std::string> names;
  std::vector<NodeId> gone;
  std::string agreed;
  for (const Member& member : ring.members) {
    if (view.is_reachable(member.node)) continue;
    if (!is_given_up_by_majority(view, member, state_of)) return std::nullopt;
    names.push_back(member.name);
    gone.push_back(member.node);
    agreed = view.names_of(given_up_by(view, member, state_of));
  }
  if (names.empty()) return std::nullopt;
  const bool one = names.size() == 1;
  Status may_go = check_auto_removal(ring, names);
  if (may_go.ok() && !are_enough_reachable(view))
    may_go = unavailable("some keys would have too few owners left that can be reached");
  if (!may_go.ok()) {
    why_absent_stay_ =
        cat(view.names_of(gone), one ? " stays" : " stay", " a member, though a majority hasn't reached ",
            one ? "it" : "them", " for their --auto-remove-after: ", may_go.message());
    return std::nullopt;
  }
  return Step{begun_auto_removal(ring.epoch, std::move(names)),
              cat(view.names_of(gone), one ? " leaves" : " leave",
                  ", since a majority of the voters has not reached ", one ? "it" : "them",
                  " for their --auto-remove-after: ", agreed),
              /*is_loss=*/true};
}

std::optional<RingDriver::Step> RingDriver::next(const RingView& view, const StateOf& state_of, Time now) {
  const RingDescription& ring = view.ring().description();
  why_absent_stay_.clear();
  const bool own_turn = is_own_turn(view, now);
  if (ring.change && !ring.change->switched) {
    std::optional<Step> step = next_of_begun(view, state_of, now);
    return own_turn ? std::move(step) : std::nullopt;
  }
  if (ring.change) {
    if (!own_turn || !all_have_switched(view, state_of)) return std::nullopt;
    return Step{finished(ring.epoch), "the change of the ring is finished"};
  }
  std::optional<Step> step = next_of_members(view, state_of, now);
  if (!step) step = next_of_absent(view, state_of);
  return own_turn ? std::move(step) : std::nullopt;
}

// Votes are given before they go: or the last voters might go first.
std::optional<RingDriver::Step> RingDriver::next_of_members(const RingView& view, const StateOf& state_of,
                                                            Time now) {
  const std::vector<Member>& members = view.ring().description().members;
  for (const Member& member : members) {
    if (may_vote(view, member, state_of(member.node)))
      return Step{voting(member.name), cat(member.name, " votes from now on")};
  }
  const bool others_vote = std::any_of(members.begin(), members.end(), [](const Member& member) {
    return member.voter && member.status != MemberStatus::kLeaving;
  });
  std::optional<Step> step;
  for (const Member& member : members) {
    // Who learns of its own removal first ends, and may be the only one to know.
    if (member.status != MemberStatus::kLeaving || member.node == view.self() || !others_vote) continue;
    if (member.lost && !step) step = Step{removed(member.name), cat(member.name, " was declared lost")};
    if ((is_given_up(view, member.node, now) || is_given_up_by_majority(view, member, state_of)) && !step) {
      step = Step{removed_unheard(member.name),
                  cat(member.name, " was leaving, and has been unreachable for too long"),
                  /*is_loss=*/true};
    }
    if (has_left(view, member, state_of(member.node)) && !step)
      step = Step{removed(member.name), cat(member.name, " has left")};
  }
  return step;
}

}  // namespace ringkv
