// One run: a ring of nodes, clients and faults from one seed, and whether all promises were kept.
#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <vector>

#include "ringkv/simulation.h"
#include "tools/simulation/faults.h"
#include "tools/simulation/history.h"
#include "tools/simulation/number_ranges.h"
#include "tools/simulation/sightings.h"
#include "tools/simulation/strikes.h"

namespace ringkv::simulation {

// What happens once faults have stopped. Safety: all is healed, and everything must converge. Liveness: a
// part that suffices is, the rest stays broken for good, and what the rules demand must go on.
enum class Mode : uint8_t { kSafety, kLiveness };

struct SimulationSettings {
  uint64_t seed = 1;
  Mode mode = Mode::kSafety;
  uint32_t nodes = 5;  // of one ring, in three racks
  Duration duration = std::chrono::minutes(10);
  double operations_per_second = 12;
  Faults faults;                  // that may happen; the seed draws from them
  std::ostream* trace = nullptr;  // nothing: no text
  // Of the strikes and the operations that the seed draws only these; nothing: all.
  std::optional<Names> only_faults;
  std::optional<Numbers> only_operations;
  MakeWorkload make_workload;  // beside the simulator's own; nothing: none
};

struct SimulationResult {
  uint64_t hash = 0;
  std::optional<Violation> violation;

  // How much was tried; a run in which nothing happens proves nothing.
  Duration simulated{};  // founding and the end included
  uint64_t operations = 0;
  uint64_t ok = 0;
  uint64_t unknown = 0;
  uint64_t lives = 0;
  uint64_t rings = 0;  // epochs that were seen
  uint64_t power_cuts = 0;
  uint64_t events = 0;
  SightingCounts sightings;

  // What it consisted of. Operations have their text where they were chosen.
  std::vector<Happening> strikes;
  std::vector<Happening> operations_asked;
};

SimulationResult simulate(const SimulationSettings& settings);

}  // namespace ringkv::simulation
