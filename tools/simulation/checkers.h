// The invariants of ARCHITECTURE.md, held against what clients saw (I1 to I6, answers in time) and against
// what a node keeps (its leaves against its data). Each judges alone; the first broken promise is named.
//
// For rings of one node: a write that was acknowledged is in every later answer, or something that could
// replace it is.
#pragma once

#include <optional>
#include <string>

#include "base/ring_description.h"
#include "storage/memory_engine.h"
#include "storage/record_store.h"
#include "tools/simulation/key_history.h"

namespace ringkv::simulation {

// I1 to I6 over one key.
std::optional<Violation> check_key_history(const KeyHistory& history);

// Every request was answered once its deadline had passed, and with nothing that this workload can't cause.
std::optional<Violation> check_answers(const History& history);

// All of the above over a whole history.
std::optional<Violation> check_history(const History& history, const std::string& lww_bucket);

// Recomputes every leaf from the data. Only while nothing is being written.
std::optional<Violation> check_leaves(const LeafTable& leaves, const RingDescription& ring,
                                      const MemoryDisk& disk);

}  // namespace ringkv::simulation
