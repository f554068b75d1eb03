#include <fstream>
#include <iostream>
#include <utility>

#include "ringkv/simulation.h"
#include "tools/simulation/seed_flags.h"
#include "tools/simulation/seeds.h"

namespace ringkv::simulation {

int run_seeds(int argc, const char* const* argv, MakeWorkload make) {
  SeedFlags flags;
  if (const auto exit_code = read_flags(argc, argv, flags)) return *exit_code;
  std::ofstream trace;
  if (!flags.trace.empty()) {
    trace.open(flags.trace, std::ios::trunc);
    if (!trace) {
      std::cerr << flags.program << ": --trace: can't write " << flags.trace << '\n';
      return 2;
    }
  }
  const auto simulate_with = [&make](const SimulationSettings& settings) {
    SimulationSettings with = settings;
    with.make_workload = make;
    return simulate(with);
  };
  Seeds seeds(flags, simulate_with, {std::cout, std::cerr, trace.is_open() ? &trace : nullptr});
  return seeds.run() ? 0 : 1;
}

}  // namespace ringkv::simulation
