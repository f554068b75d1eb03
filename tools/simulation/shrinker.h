// From a run that broke a promise to a smaller one that breaks the same: fewer kinds of faults, the fewest
// strikes, the fewest operations.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "tools/simulation/fewest.h"
#include "tools/simulation/simulation.h"

namespace ringkv::simulation {

class Shrinker {
 public:
  using Simulate = std::function<SimulationResult(const SimulationSettings&)>;

  struct Shrunk {
    std::string faults;           // words of --faults
    SimulationSettings settings;  // with what is left of strikes and operations
    SimulationResult result;
    uint64_t runs = 0;
  };

  // Looks no longer than that, but for the run that is under way.
  Shrinker(Simulate simulate, std::chrono::seconds patience)
      : simulate_(std::move(simulate)), give_up_at_(std::chrono::steady_clock::now() + patience) {}

  // `failed`: what a run of these settings came to, whose faults those words are.
  Shrunk shrink(const SimulationSettings& settings, const std::string& faults,
                const SimulationResult& failed);

 private:
  // Keeps the settings if their run breaks the same promise.
  bool still_fails(SimulationSettings settings, const std::string& faults);
  void shrink_kinds();
  void shrink_strikes();
  void shrink_operations();

  const Simulate simulate_;
  const std::chrono::steady_clock::time_point give_up_at_;
  Shrunk best_;
};

}  // namespace ringkv::simulation
