#include "node/ring_plans.h"

#include <algorithm>
#include <utility>

#include "base/plan_step.h"
#include "base/text.h"
#include "node/member_tables.h"
#include "node/plan_target.h"
#include "node/ring_changes.h"

namespace ringkv {
namespace {

Result<RingDescription> with_waiting(RingDescription ring, Member joiner) {
  joiner.status = MemberStatus::kNormal;
  joiner.voter = true;
  const Member* member = ring.find_member(joiner.name);
  if (member != nullptr && member->node == joiner.node && member->disk == joiner.disk) return ring;
  if (Status status = check_joiner(ring, joiner); !status.ok()) return status;
  if (const Member* known = ring.find_waiting(joiner.name); known != nullptr && *known == joiner) return ring;
  // What is drafted holds it as it was.
  if (ring.plan && find_in(ring.plan->leads_to.members, joiner.name) != nullptr) return ring;
  if (Status status = check_no_change(ring); !status.ok()) return status;
  std::erase_if(ring.waiting, [&](const Member& one) { return one.node == joiner.node; });
  if (ring.waiting.size() >= kMembersMax)
    return forbidden(cat(kMembersMax, " nodes wait to join, the most that may"));
  insert_in_order(ring.waiting, joiner);
  return ring;
}

bool is_about_the_same(const PlanStep& one, const PlanStep& other) {
  if (one.index() != other.index()) return false;
  if (const auto* move = std::get_if<PlanMove>(&one))
    return move->partition == std::get<PlanMove>(other).partition;
  return std::visit(
      [&](const auto& step) {
        if constexpr (requires { step.name; })
          return step.name == std::get<std::decay_t<decltype(step)>>(other).name;
        return true;
      },
      one);
}

bool is_replace(const PlanStep& step) { return std::holds_alternative<PlanReplace>(step); }

// What a leaver may wait for is an owner that is gone for good.
bool replaces_only(const std::vector<PlanStep>& steps) {
  return std::all_of(steps.begin(), steps.end(), &is_replace);
}

Result<RingDescription> with_planned(RingDescription ring, const std::vector<PlanStep>& steps) {
  if (Status status = check_no_change(ring); !status.ok()) return status;
  if (!replaces_only(steps)) {
    if (Status status = check_no_leaver(ring); !status.ok()) return status;
  }
  RingPlan plan = ring.plan.value_or(RingPlan());
  for (const PlanStep& step : steps) {
    const auto same = std::find_if(plan.steps.begin(), plan.steps.end(),
                                   [&](const PlanStep& one) { return is_about_the_same(one, step); });
    if (same != plan.steps.end()) {
      *same = step;
    } else {
      plan.steps.push_back(step);
    }
  }
  if (plan.steps.empty()) return invalid_argument("a plan needs a step");
  if (std::count_if(plan.steps.begin(), plan.steps.end(), &is_replace) > 1)
    return invalid_argument(
        "one member is replaced by a plan, since its vote goes with it: one after the other");
  if (plan.steps.size() > kPlanStepsMax)
    return invalid_argument(cat(kPlanStepsMax, " steps are the most that one plan may have"));
  Result<RingChange> target = plan_target(ring, plan.steps);
  if (!target.ok()) return target.status();
  plan.leads_to = *std::move(target);
  ring.plan = std::move(plan);
  return ring;
}

Status changed_since(const RingDescription& ring, uint64_t epoch) {
  return {StatusCode::kStaleEpoch, cat("the ring has changed since epoch ", epoch, ", it is at epoch ",
                                       ring.epoch, " now: `kvctl plan show` again")};
}

Result<RingDescription> with_committed(const RingDescription& ring, uint64_t epoch, uint64_t commit_id) {
  if (ring.change && ring.change->commit_id == commit_id) return ring;
  if (ring.epoch != epoch) return changed_since(ring, epoch);
  if (Status status = check_no_change(ring); !status.ok()) return status;
  if (!ring.plan) return unavailable("nothing is planned; see `kvctl plan --help`");
  RingChange change = ring.plan->leads_to;
  if (Status status = check_bucket_quorums(ring, change.replicas); !status.ok()) return status;
  change.commit_id = commit_id;
  RingDescription next = with_begun(ring, std::move(change));
  next.auto_removed = 0;
  return next;
}

Result<RingDescription> with_withdrawn(RingDescription ring, uint64_t epoch) {
  if (ring.epoch != epoch) {
    if (ring.plan || ring.change) return changed_since(ring, epoch);
    return ring;
  }
  if (ring.change) return cancelled(epoch)(ring);
  if (ring.plan) {
    ring.plan.reset();
  } else {
    ring.waiting.clear();
  }
  return ring;
}

}  // namespace

RingEdit waits(const Member& joiner) {
  return [joiner](const RingDescription& ring) { return with_waiting(ring, joiner); };
}

RingEdit planned(std::vector<PlanStep> steps) {
  return [steps = std::move(steps)](const RingDescription& ring) { return with_planned(ring, steps); };
}

RingEdit committed(uint64_t epoch, uint64_t commit_id) {
  return [epoch, commit_id](const RingDescription& ring) { return with_committed(ring, epoch, commit_id); };
}

RingEdit withdrawn(uint64_t epoch) {
  return [epoch](const RingDescription& ring) { return with_withdrawn(ring, epoch); };
}

}  // namespace ringkv
