// The steps of a plan, in words and in the bytes of a ring description (drawn in plan_step.cc).
#pragma once

#include <optional>
#include <string>

#include "base/bytes.h"
#include "ringkv/plan.h"

namespace ringkv {

// As typed: "replace n3 n6 --force".
std::string to_text(const PlanStep& step);

void write_plan_step(ByteWriter& out, const PlanStep& step);
PlanStep read_plan_step(ByteReader& in);

inline constexpr size_t kPlanStepBytesMin = 2;

}  // namespace ringkv
