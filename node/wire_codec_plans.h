// Steps of a plan to messages and back. For node/wire_codec.cc.
#pragma once

#include <vector>

#include "ringkv/plan.h"
#include "ringkv/status.h"

namespace ringkv {

namespace wire {
class Plan;
}

void fill_plan(const std::vector<PlanStep>& steps, wire::Plan& message);
Result<std::vector<PlanStep>> plan_from(const wire::Plan& message);

}  // namespace ringkv
