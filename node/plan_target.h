// What the steps of a plan lead to, all at once: one placement from the present owners to the members that
// there will be, so that several joins move no copy twice. Single partitions are moved after that.
#pragma once

#include <span>

#include "base/ring_description.h"

namespace ringkv {

// Nodes that join are taken from those that wait. Refused by name: whoever isn't there, what can't be, and
// steps after which everything is as it was.
Result<RingChange> plan_target(const RingDescription& ring, std::span<const PlanStep> steps);

// INVALID_ARGUMENT when some bucket waits for more answers than there are copies then.
Status check_bucket_quorums(const RingDescription& ring, uint32_t replicas);

}  // namespace ringkv
