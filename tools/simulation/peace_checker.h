// What holds once faults have stopped (L1, L3, L6 of ARCHITECTURE.md), held against what clients are answered
// then.
#pragma once

#include <optional>

#include "tools/simulation/history.h"

namespace ringkv::simulation {

// The last operations of a history, made in peace: first those that repair, then those that compare.
struct LastOperations {
  OperationIndex reads = 0;
  OperationIndex looks = 0;  // from here on
};

// L1: all nodes see all nodes up, in one epoch. L3: all answers to one question are equal, and so are all
// copies. L6: all succeed.
std::optional<Violation> check_peace(const History& history, const LastOperations& last,
                                     const RingFacts& ring);

}  // namespace ringkv::simulation
