// What receipts tell, held against the rings: that a put was acknowledged by so many of the present list and,
// while the ring changes, of the next one too (I11), by nobody who is no member any more (I9), and by enough
// distinct nodes (I1).
#pragma once

#include <optional>

#include "tools/simulation/history.h"

namespace ringkv::simulation {

std::optional<Violation> check_receipts(const History& history, const RingFacts& ring);

}  // namespace ringkv::simulation
