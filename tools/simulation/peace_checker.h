// What holds once faults have stopped (L1, L3, L6 of ARCHITECTURE.md), held against what clients are answered
// then.
#pragma once

#include <optional>

#include "tools/simulation/history.h"

namespace ringkv::simulation {

// From operation `last` on they were made in peace. L1: all nodes see all nodes up but for those that are
// gone, in one epoch. L3: all answers to one question are equal, and so are all copies. L6: all succeed.
std::optional<Violation> check_peace(const History& history, OperationIndex last, const RingFacts& ring);

}  // namespace ringkv::simulation
