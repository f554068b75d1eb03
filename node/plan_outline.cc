#include "node/plan_outline.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <tuple>

#include "base/plan_step.h"
#include "base/text.h"
#include "node/member_tables.h"
#include "replication/preference_list.h"

namespace ringkv {
namespace {

const RingChange* ahead_of(const RingDescription& ring) {
  if (ring.change) return &*ring.change;
  return ring.plan ? &ring.plan->leads_to : nullptr;
}

// The owners of every partition by one table, in order of preference.
class Lists {
 public:
  Lists(const OwnerTable& owners, const std::vector<Member>& members, uint32_t replicas)
      : members_(members),
        positions_(preference_lists(owners, members, replicas)),
        copies_(positions_.size() / owners.size()) {}

  std::vector<const Member*> of(Partition partition) const {
    std::vector<const Member*> list;
    for (size_t i = 0; i < copies_; ++i) list.push_back(&members_[positions_[partition * copies_ + i]]);
    return list;
  }
  size_t copies() const { return copies_; }
  std::set<std::string> racks() const {
    std::set<std::string> racks;
    for (const uint16_t position : positions_) racks.insert(members_[position].rack);
    return racks;
  }

 private:
  const std::vector<Member>& members_;
  const std::vector<uint16_t> positions_;
  const size_t copies_;
};

// In `list` and not in `other`.
std::vector<const Member*> without(const std::vector<const Member*>& list,
                                   const std::vector<const Member*>& other) {
  std::vector<const Member*> rest;
  std::copy_if(list.begin(), list.end(), std::back_inserter(rest), [&](const Member* one) {
    return std::none_of(other.begin(), other.end(),
                        [one](const Member* two) { return one->node == two->node; });
  });
  return rest;
}

// Nobody else may reach it where this node doesn't.
Status check_gone(const PlanReplace& replace, const Member& old, const CommitSight& sight) {
  if (sight.is_reachable(old.node)) {
    return forbidden(cat(old.name, " is up: `kvctl plan leave ", old.name,
                         "` moves its copies away first, or ", "`kvctl plan replace ", old.name, " ",
                         replace.by, " --force` takes its place anyway"));
  }
  if (old.lost || sight.is_down(old.node)) return {};
  return unavailable(cat(old.name, " doesn't answer, but isn't known to be down yet: try again in seconds"));
}

// A change waits for those that gain copies.
Status check_no_gain_of_lost(const RingDescription& ring) {
  const RingChange& ahead = ring.plan->leads_to;
  const Lists present(ring.owners, ring.members, ring.replicas);
  const Lists next(ahead.owners, ahead.members, ahead.replicas);
  for (Partition partition = 0; partition < ring.partitions(); ++partition) {
    for (const Member* gaining : without(next.of(partition), present.of(partition))) {
      if (!gaining->lost) continue;
      return forbidden(cat(gaining->name, " was declared lost, and would get copies: `kvctl plan leave ",
                           gaining->name, "` adds that it leaves too"));
    }
  }
  return {};
}

class Outline {
 public:
  Outline(const RingDescription& ring, const RingChange& ahead, const PlanSight& sight)
      : ring_(ring),
        ahead_(ahead),
        sight_(sight),
        present_(ring.owners, ring.members, ring.replicas),
        next_(ahead.owners, ahead.members, ahead.replicas) {}

  void fill(PlanOutline& outline) {
    for (Partition partition = 0; partition < ring_.partitions(); ++partition) look_at(partition);
    for (auto& [who, partitions] : shares_) {
      const auto& [from, to, counted_at] = who;
      outline.shares.push_back({from, to, counted_at, std::move(partitions)});
    }
    PlanReport& report = outline.report;
    report.below_n = below_n_;
    report.rack_violations = rack_violations_;
    report.warnings = warnings();
    report.not_ready = not_ready();
  }

 private:
  void look_at(Partition partition) {
    const std::vector<const Member*> present = present_.of(partition);
    const std::vector<const Member*> next = next_.of(partition);
    std::vector<const Member*> live;
    std::copy_if(present.begin(), present.end(), std::back_inserter(live),
                 [this](const Member* owner) { return sight_.is_reachable(owner->node); });
    if (live.size() < ring_.replicas) ++below_n_;
    look_at_racks(partition, next);

    const std::vector<const Member*> gaining = without(next, present);
    const std::vector<const Member*> losing = without(present, next);
    const bool all_lost =
        std::all_of(present.begin(), present.end(), [](const Member* owner) { return owner->lost; });
    if (!gaining.empty() && live.empty()) ++(all_lost ? without_any_copy_ : without_live_copy_);
    for (size_t i = 0; i < gaining.size(); ++i) {
      const Member* from = i < losing.size() ? losing[i] : present.front();
      const bool from_is_live = std::find(live.begin(), live.end(), from) != live.end();
      const std::string counted_at = from_is_live ? from->name : live.empty() ? "" : live.front()->name;
      shares_[{from->name, gaining[i]->name, counted_at}].push_back(partition);
      gaining_.insert(gaining[i]->node);
    }
  }

  void look_at_racks(Partition partition, const std::vector<const Member*>& next) {
    std::set<std::string> racks;
    for (const Member* owner : next) racks.insert(owner->rack);
    const size_t possible = std::min(next_.copies(), racks_ahead_.size());
    if (racks.size() >= possible) return;
    rack_violations_.push_back(cat("partition ", partition, " would have its copies in ", racks.size(),
                                   " racks, where ", possible, " are possible"));
  }

  // Nobody's unit file knows of a plan, and a start with another label is refused (labels.h).
  std::vector<std::string> changed_labels() const {
    std::vector<std::string> all;
    for (const Member& after : ahead_.members) {
      const Member* now = ring_.find_member(after.name);
      if (now == nullptr) continue;
      if (now->rack != after.rack)
        all.push_back(
            cat(after.name, " must be started with --rack ", after.rack, " from then on, or without"));
      if (now->weight != after.weight)
        all.push_back(
            cat(after.name, " must be started with --weight ", after.weight, " from then on, or without"));
    }
    return all;
  }

  std::vector<std::string> warnings() const {
    std::vector<std::string> all = changed_labels();
    for (const std::string& rack : present_.racks()) {
      if (!racks_ahead_.contains(rack))
        all.push_back(cat("rack ", rack, " would have no copies any more: ", racks_ahead_.size(),
                          " racks are left for ", next_.copies(), " copies"));
    }
    if (next_.copies() < ahead_.replicas) {
      all.push_back(cat("N is ", ahead_.replicas, ", but only ", next_.copies(),
                        " members would have partitions: so many copies of each key"));
    }
    if (std::count_if(ahead_.members.begin(), ahead_.members.end(),
                      [](const Member& member) { return member.voter; }) == 2)
      all.emplace_back("with two voters both must answer whenever the ring is to change");
    if (without_live_copy_ > 0) {
      all.push_back(cat(without_live_copy_,
                        " partitions that move have no live copy now: their data can't be ",
                        "counted, nor moved until an owner is back"));
    }
    if (without_any_copy_ > 0) {
      all.push_back(cat(without_any_copy_, " partitions that move have no copy any more, since all their ",
                        "owners were declared lost: they begin empty"));
    }
    return all;
  }

  std::vector<std::string> not_ready() const {
    std::vector<std::string> names;
    if (!ring_.change) return names;
    for (const Member& member : ring_.members) {
      const PeerState* state = sight_.state_of(member.node);
      const bool ready = ring_.change->switched ? state != nullptr && state->epoch >= ring_.epoch
                                                : !gaining_.contains(member.node) ||
                                                      (state != nullptr && state->ready_epoch == ring_.epoch);
      if (!ready) names.push_back(member.name);
    }
    return names;
  }

  const RingDescription& ring_;
  const RingChange& ahead_;
  const PlanSight& sight_;
  const Lists present_;
  const Lists next_;
  const std::set<std::string> racks_ahead_ = next_.racks();
  std::map<std::tuple<std::string, std::string, std::string>, std::vector<Partition>> shares_;
  std::set<NodeId> gaining_;
  uint32_t below_n_ = 0;
  uint32_t without_live_copy_ = 0;
  uint32_t without_any_copy_ = 0;
  std::vector<std::string> rack_violations_;
};

// What a change that is begun comes to; the steps that it was drafted from are no longer there.
std::vector<std::string> differences(const RingDescription& ring, const RingChange& change) {
  std::vector<std::string> words;
  for (const Member& member : ring.members) {
    const Member* after = find_in(change.members, member.name);
    if (after == nullptr) {
      words.push_back(cat(member.name, " is replaced"));
    } else if (member.status != MemberStatus::kNormal) {
      words.push_back(cat(member.name, member.status == MemberStatus::kJoining ? " joins" : " leaves"));
    }
    if (after != nullptr && after->weight != member.weight)
      words.push_back(cat("the weight of ", member.name, " becomes ", after->weight));
    if (after != nullptr && after->rack != member.rack)
      words.push_back(cat("the rack of ", member.name, " becomes ", after->rack));
  }
  if (change.replicas != ring.replicas)
    words.push_back(cat("each key has ", change.replicas, " copies in place of ", ring.replicas));
  if (words.empty()) words.emplace_back("single partitions move");
  return words;
}

// Who has given its partitions away already.
void add_leavers(const RingDescription& ring, const PlanSight& sight, PlanReport& report) {
  for (const Member& member : ring.members) {
    if (member.status != MemberStatus::kLeaving) continue;
    const PeerState* state = sight.state_of(member.node);
    const bool is_up = sight.is_reachable(member.node);
    if (member.lost) {
      report.warnings.push_back(cat(member.name, " was declared lost, owns nothing any more and goes next"));
      continue;
    }
    report.warnings.push_back(cat(
        member.name, " is leaving and owns nothing any more; ",
        is_up ? "it ends" : "it can't be reached, and is removed after ten minutes of that, or ends",
        " when it has delivered ", state == nullptr ? 0 : state->hints, " hints and the owners have pulled ",
        state == nullptr ? 0 : state->former_untaken, " partitions from it"));
  }
}

}  // namespace

std::string plan_stage(const RingDescription& ring) {
  if (ring.change) return ring.change->switched ? "switched" : "begun";
  return ring.plan ? "planned" : "none";
}

std::vector<std::string> plan_steps(const RingDescription& ring) {
  if (ring.change) return differences(ring, *ring.change);
  std::vector<std::string> words;
  if (!ring.plan) return words;
  for (const PlanStep& step : ring.plan->steps) words.push_back(to_text(step));
  return words;
}

PlanOutline plan_outline(const RingDescription& ring, const PlanSight& sight) {
  PlanOutline outline;
  outline.report.from_epoch = ring.epoch;
  outline.report.stage = plan_stage(ring);
  outline.report.steps = plan_steps(ring);
  for (const Member& one : ring.waiting) outline.report.waiting.push_back(one.name);
  if (const RingChange* ahead = ahead_of(ring)) Outline(ring, *ahead, sight).fill(outline);
  if (!ring.change) add_leavers(ring, sight, outline.report);
  return outline;
}

Status check_commit(const RingDescription& ring, const CommitSight& sight) {
  if (!ring.plan) return {};
  if (Status status = check_no_gain_of_lost(ring); !status.ok()) return status;
  for (const PlanStep& step : ring.plan->steps) {
    const auto* leave = std::get_if<PlanLeave>(&step);
    const Member* leaver = leave == nullptr ? nullptr : ring.find_member(leave->name);
    if (leaver != nullptr && !leave->force && !leaver->lost && !sight.is_reachable(leaver->node)) {
      return forbidden(cat(leaver->name,
                           " is down, and can't hand over what only it has: `kvctl plan replace ",
                           leaver->name, " NEW` gives its place to another node, `kvctl plan leave ",
                           leaver->name, " --force` counts its disk as lost"));
    }
    const auto* replace = std::get_if<PlanReplace>(&step);
    const Member* old = replace == nullptr ? nullptr : ring.find_member(replace->name);
    if (old == nullptr || replace->force) continue;
    if (Status status = check_gone(*replace, *old, sight); !status.ok()) return status;
  }
  size_t voters = 0;
  std::vector<Member> missing;
  // Votes come and go later, one an epoch.
  for (const Member& after : ring.plan->leads_to.members) {
    const Member* now = ring.find_member(after.name);
    if (now == nullptr || !now->voter || after.status == MemberStatus::kLeaving) continue;
    ++voters;
    if (!sight.is_reachable(after.node)) missing.push_back(after);
  }
  if (missing.empty() || 2 * missing.size() < voters) return {};
  return unavailable(cat("a majority of the ", voters,
                         " voters that stay must be up, and these aren't: ", names_of(missing)));
}

}  // namespace ringkv
