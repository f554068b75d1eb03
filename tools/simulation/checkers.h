// The invariants of ARCHITECTURE.md, held against what clients saw (I1 to I6, answers in time) and against
// what a node keeps (its leaves against its data). Each judges alone; the first broken promise is named.
#pragma once

#include <optional>

#include "base/ring_description.h"
#include "storage/memory_engine.h"
#include "storage/record_store.h"
#include "tools/simulation/history.h"

namespace ringkv::simulation {

// Every request was answered once its deadline had passed, and with nothing that this workload can't cause.
std::optional<Violation> check_answers(const History& history, const RingFacts& ring);

// That, and I1 to I6 over each key.
std::optional<Violation> check_history(const History& history, const RingFacts& ring);

// Recomputes every leaf from the data. Only while nothing is being written.
std::optional<Violation> check_leaves(const LeafTable& leaves, const RingDescription& ring,
                                      const MemoryDisk& disk);

}  // namespace ringkv::simulation
