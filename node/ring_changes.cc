#include "node/ring_changes.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <utility>

#include "base/plants.h"
#include "base/text.h"
#include "node/member_tables.h"
#include "node/plan_target.h"

namespace ringkv {
namespace {

bool is_same_directory(const Member* known, const Member& joiner) {
  return known != nullptr && known->node == joiner.node && known->disk == joiner.disk;
}

// One change at a time, and one that a leaver has left behind comes to its end first.
Status check_may_begin(const RingDescription& ring) {
  if (!ring.open) return forbidden("the ring has no data yet: members just join it");
  if (Status status = check_no_change(ring); !status.ok()) return status;
  if (Status status = check_no_leaver(ring); !status.ok()) return status;
  return check_no_plan(ring);
}

// Whoever joins is a member from now on, without partitions and without a vote until the end.
void add_joiner(RingDescription& ring, Member joiner) {
  const std::vector<Member> before = ring.members;
  joiner.status = MemberStatus::kJoining;
  joiner.voter = false;
  insert_in_order(ring.members, joiner);
  ring.owners = renumbered(ring.owners, before, ring.members);
}

// Votes stay where they are: they come and go one an epoch (voting(), removed()), so that the majorities of
// neighbouring epochs meet, which a voter that has forgotten what it promised relies on
// (gossip/older_copy.h).
void keep_votes(const std::vector<Member>& before, std::vector<Member>& after) {
  for (Member& member : after) {
    const Member* same = find_in(before, member.name);
    member.voter = same != nullptr && same->voter;
  }
}

RingDescription with_change_ended(RingDescription ring) {
  RingChange change = std::move(*ring.change);
  keep_votes(ring.members, change.members);
  ring.members = std::move(change.members);
  ring.owners = std::move(change.owners);
  ring.replicas = change.replicas;
  ring.change.reset();
  return ring;
}

RingDescription with_change_cancelled(RingDescription ring) {
  const std::vector<Member> before = ring.members;
  std::erase_if(ring.members, [](const Member& member) { return member.status == MemberStatus::kJoining; });
  ring.owners = renumbered(ring.owners, before, ring.members);
  // Beside one that was leaving before, and owns nothing any more, only a replacement can have begun.
  const bool replaces = std::any_of(ring.members.begin(), ring.members.end(), [&](const Member& member) {
    return find_in(std::as_const(ring.change->members), member.name) == nullptr;
  });
  std::vector<bool> owns(ring.members.size());
  for (const uint16_t owner : ring.owners) owns[owner] = true;
  for (size_t i = 0; i < ring.members.size(); ++i) {
    if (owns[i] || !replaces) ring.members[i].status = MemberStatus::kNormal;
  }
  ring.change.reset();
  return ring;
}

Result<RingDescription> with_begun_steps(const RingDescription& ring, std::span<const PlanStep> steps) {
  if (Status status = check_may_begin(ring); !status.ok()) return status;
  Result<RingChange> change = plan_target(ring, steps);
  if (!change.ok()) return change.status();
  return with_begun(ring, *std::move(change));
}

Result<RingDescription> with_begun_step(const RingDescription& ring, const PlanStep& step) {
  return with_begun_steps(ring, std::array{step});
}

// As one that waits, whether it has waited or not.
Result<RingDescription> with_waiting(RingDescription ring, Member joiner) {
  if (Status status = check_may_begin(ring); !status.ok()) return status;
  if (Status status = check_joiner(ring, joiner); !status.ok()) return status;
  joiner.voter = true;
  joiner.status = MemberStatus::kNormal;
  std::erase_if(ring.waiting, [&](const Member& one) { return one.name == joiner.name; });
  insert_in_order(ring.waiting, joiner);
  return ring;
}

Result<RingDescription> with_begun_join(const RingDescription& ring, const Member& joiner) {
  if (is_same_directory(ring.find_member(joiner.name), joiner)) return ring;
  const Result<RingDescription> waiting = with_waiting(ring, joiner);
  if (!waiting.ok()) return waiting.status();
  Result<RingDescription> next = with_begun_step(*waiting, PlanJoin{joiner.name});
  if (next.ok()) next->auto_removed = 0;
  return next;
}

Result<RingDescription> with_begun_replace(const RingDescription& ring, const std::string& old_name,
                                           const Member& joiner) {
  if (is_same_directory(ring.find_member(joiner.name), joiner)) return ring;
  const Result<RingDescription> waiting = with_waiting(ring, joiner);
  if (!waiting.ok()) return waiting.status();
  return with_begun_step(*waiting, PlanReplace{old_name, joiner.name, true});
}

Result<RingDescription> with_begun_leave(const RingDescription& ring, const std::string& name) {
  const Member* member = ring.find_member(name);
  if (member != nullptr && member->status == MemberStatus::kLeaving) return ring;
  return with_begun_step(ring, PlanLeave{name});
}

Result<RingDescription> with_begun_auto_removal(const RingDescription& ring,
                                                const std::vector<std::string>& names) {
  if (Status status = check_auto_removal(ring, names); !status.ok()) return status;
  std::vector<PlanStep> steps;
  for (const std::string& name : names) steps.emplace_back(PlanLeave{name, true});
  return with_begun_steps(ring, steps);
}

Result<RingDescription> with_begun_weight(const RingDescription& ring, const std::string& name,
                                          double weight) {
  const Member* member = find_in(ring.change ? ring.change->members : ring.members, name);
  if (member != nullptr && member->weight == weight) return ring;
  return with_begun_step(ring, PlanWeight{name, weight});
}

Result<RingDescription> with_removed(RingDescription ring, std::string_view name) {
  if (Status status = check_no_change(ring); !status.ok()) return status;
  const Member* member = ring.find_member(name);
  if (member == nullptr) return ring;
  if (member->status != MemberStatus::kLeaving)
    return forbidden(cat(name, " owns partitions: `kvctl plan leave ", name, "` moves them first"));
  const std::vector<Member> before = ring.members;
  std::erase_if(ring.members, [&](const Member& one) { return one.name == name; });
  ring.owners = renumbered(ring.owners, before, ring.members);
  return ring;
}

Result<RingDescription> with_vote(RingDescription ring, std::string_view name) {
  Member* member = find_in(ring.members, name);
  if (member == nullptr || member->voter || member->status != MemberStatus::kNormal) return ring;
  if (Status status = check_no_change(ring); !status.ok()) return status;
  member->voter = true;
  return ring;
}

}  // namespace

Status check_no_change(const RingDescription& ring) {
  if (!ring.change) return {};
  return unavailable(cat("another change of the ring is under way (epoch ", ring.epoch,
                         "): `kvctl plan show` says how far it has come"));
}

Status check_no_leaver(const RingDescription& ring) {
  for (const Member& member : ring.members) {
    if (member.status == MemberStatus::kLeaving)
      return unavailable(cat(member.name, " is still leaving, and `kvctl plan show` says what it waits for: ",
                             "until it is gone only members that are down can be replaced"));
  }
  return {};
}

Status check_no_plan(const RingDescription& ring) {
  if (!ring.plan) return {};
  return unavailable(cat("a plan is drafted (epoch ", ring.epoch,
                         "): `kvctl plan show` shows it, `plan commit` begins it, `plan cancel` drops it"));
}

Status check_may_join(const RingDescription& ring, const Member& joiner) {
  if (is_same_directory(ring.find_member(joiner.name), joiner)) return {};
  if (Status status = check_joiner(ring, joiner); !status.ok()) return status;
  if (ring.open) return check_may_begin(ring);
  if (Status status = check_no_change(ring); !status.ok()) return status;
  return check_no_plan(ring);
}

RingDescription with_begun(RingDescription ring, RingChange change) {
  ring.plan.reset();
  for (const Member& after : change.members) {
    if (ring.find_member(after.name) != nullptr) continue;
    std::erase_if(ring.waiting, [&](const Member& one) { return one.name == after.name; });
    add_joiner(ring, after);
  }
  for (Member& member : ring.members) {
    const Member* after = find_in(std::as_const(change.members), member.name);
    if (after == nullptr || after->status == MemberStatus::kLeaving) member.status = MemberStatus::kLeaving;
  }
  ring.change = std::move(change);
  return ring.open ? ring : with_change_ended(std::move(ring));
}

RingEdit begun_leave(std::string_view name) {
  return [name = std::string(name)](const RingDescription& ring) { return with_begun_leave(ring, name); };
}

RingEdit begun_join(const Member& joiner) {
  return [joiner](const RingDescription& ring) { return with_begun_join(ring, joiner); };
}

RingEdit begun_replace(std::string_view old_name, const Member& joiner) {
  return [old_name = std::string(old_name), joiner](const RingDescription& ring) {
    return with_begun_replace(ring, old_name, joiner);
  };
}

Status check_auto_removal(const RingDescription& ring, const std::vector<std::string>& names) {
  if (Status status = check_may_begin(ring); !status.ok()) return status;
  size_t voters = 0;
  size_t found = 0;
  for (const Member& member : ring.members) {
    if (member.lost) return forbidden(cat(member.name, " was declared lost: an operator plans what follows"));
    const bool goes = std::find(names.begin(), names.end(), member.name) != names.end();
    found += goes && member.status == MemberStatus::kNormal ? 1 : 0;
    voters += member.voter && !goes ? 1 : 0;
  }
  if (names.empty() || found != names.size())
    return forbidden("not all of them are members that could leave");
  if (voters == 0) return forbidden("no voter would be left");
  const size_t left = ring.members.size() - found;
  if (left < ring.replicas) {
    return forbidden(cat("nobody leaves unasked: ", left, " members would be left for ", ring.replicas,
                         " copies of a key"));
  }
  const size_t there_were = ring.members.size() + ring.auto_removed;
  if (2 * (ring.auto_removed + found) >= there_were) {
    return forbidden(cat("nobody leaves unasked: with ", found, " more, ", ring.auto_removed + found, " of ",
                         there_were, " would be gone, no minority: an operator must decide"));
  }
  return {};
}

RingEdit begun_auto_removal(uint64_t epoch, std::vector<std::string> names) {
  return [epoch, names = std::move(names)](const RingDescription& ring) -> Result<RingDescription> {
    if (ring.epoch != epoch) return ring;
    return with_begun_auto_removal(ring, names);
  };
}

RingEdit begun_weight(std::string_view name, double weight) {
  return [name = std::string(name), weight](const RingDescription& ring) {
    return with_begun_weight(ring, name, weight);
  };
}

RingEdit switched(uint64_t epoch) {
  return [epoch](const RingDescription& ring) -> Result<RingDescription> {
    RingDescription next = ring;
    if (ring.epoch == epoch && next.change) next.change->switched = true;
    if (planted(Plant::kTwoEpochCutover) && ring.epoch == epoch && next.change)
      return with_change_ended(std::move(next));
    return next;
  };
}

RingEdit finished(uint64_t epoch) {
  return [epoch](const RingDescription& ring) -> Result<RingDescription> {
    if (ring.epoch != epoch || !ring.change || !ring.change->switched) return ring;
    return with_change_ended(ring);
  };
}

RingEdit cancelled(uint64_t epoch) {
  return [epoch](const RingDescription& ring) -> Result<RingDescription> {
    if (ring.epoch != epoch || !ring.change) return ring;
    if (ring.change->switched) return forbidden("the ring has been switched: the way back is another change");
    return with_change_cancelled(ring);
  };
}

RingEdit voting(std::string_view name) {
  return [name = std::string(name)](const RingDescription& ring) { return with_vote(ring, name); };
}

RingEdit removed(std::string_view name) {
  return [name = std::string(name)](const RingDescription& ring) { return with_removed(ring, name); };
}

RingEdit removed_unheard(std::string_view name) {
  return [name = std::string(name)](const RingDescription& ring) {
    const bool goes = ring.find_member(name) != nullptr;
    Result<RingDescription> next = with_removed(ring, name);
    if (next.ok() && goes) ++next->auto_removed;
    return next;
  };
}

}  // namespace ringkv
