#include "node/wire_codec_plans.h"

#include "base/ring_description.h"
#include "base/text.h"
#include "node/wire.pb.h"

namespace ringkv {
namespace {

struct Filler {
  wire::PlanStep& message;

  void operator()(const PlanJoin& step) const { message.set_name(step.name); }
  void operator()(const PlanLeave& step) const {
    message.set_name(step.name);
    message.set_force(step.force);
  }
  void operator()(const PlanReplace& step) const {
    message.set_name(step.name);
    message.set_other(step.by);
    message.set_force(step.force);
  }
  void operator()(const PlanWeight& step) const {
    message.set_name(step.name);
    message.set_weight(step.weight);
  }
  void operator()(const PlanRack& step) const {
    message.set_name(step.name);
    message.set_other(step.rack);
  }
  void operator()(const PlanReplicas& step) const { message.set_number(step.replicas); }
  void operator()(const PlanMove& step) const {
    message.set_number(step.partition);
    message.set_name(step.name);
  }
};

Result<PlanStep> step_from(const wire::PlanStep& message) {
  switch (message.kind()) {
    case 0:
      return PlanStep(PlanJoin{message.name()});
    case 1:
      return PlanStep(PlanLeave{message.name(), message.force()});
    case 2:
      return PlanStep(PlanReplace{message.name(), message.other(), message.force()});
    case 3:
      return PlanStep(PlanWeight{message.name(), message.weight()});
    case 4:
      return PlanStep(PlanRack{message.name(), message.other()});
    case 5:
      return PlanStep(PlanReplicas{message.number()});
    case 6:
      return PlanStep(PlanMove{message.number(), message.name()});
    default:
      return invalid_argument(cat("a step of a plan of kind ", message.kind()));
  }
}

}  // namespace

void fill_plan(const std::vector<PlanStep>& steps, wire::Plan& message) {
  for (const PlanStep& step : steps) {
    wire::PlanStep& item = *message.add_steps();
    item.set_kind(static_cast<uint32_t>(step.index()));
    std::visit(Filler{item}, step);
  }
}

Result<std::vector<PlanStep>> plan_from(const wire::Plan& message) {
  if (static_cast<uint32_t>(message.steps_size()) > kPlanStepsMax)
    return invalid_argument(cat("a plan of ", message.steps_size(), " steps"));
  std::vector<PlanStep> steps;
  for (const wire::PlanStep& item : message.steps()) {
    Result<PlanStep> step = step_from(item);
    if (!step.ok()) return step.status();
    steps.push_back(*std::move(step));
  }
  return steps;
}

}  // namespace ringkv
