// Edits by which an operator changes the ring: nodes wait, steps are drafted, and the draft of one epoch is
// begun or thrown away. Pure, as all edits (ring_edits.h).
#pragma once

#include <vector>

#include "node/ring_edits.h"

namespace ringkv {

// A node asks to join and waits until a plan takes it in.
RingEdit waits(const Member& joiner);

// These steps too, in one draft with those that are there; a later step about the same thing takes an
// earlier one's place. INVALID_ARGUMENT says which step can't be.
RingEdit planned(std::vector<PlanStep> steps);

// Begins exactly the draft that stands in this epoch: STALE_EPOCH on any later ring, naming both epochs.
// `commit_id` is drawn for each commit.
RingEdit committed(uint64_t epoch, uint64_t commit_id);

// Throws the draft of this epoch away: its joiners wait on. A change that is begun is taken back while it
// hasn't been switched. Where there is neither, those that wait are forgotten: who still asks is soon back.
RingEdit withdrawn(uint64_t epoch);

}  // namespace ringkv
