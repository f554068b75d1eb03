// Many runs, each of the next seed, on a few threads; what they found is told in order of seed. A run of each
// hundredth seed is made twice: the two must be the same to the last event.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <ostream>
#include <vector>

#include "tools/simulation/seed_flags.h"

namespace ringkv::simulation {

class Seeds {
 public:
  using Simulate = std::function<SimulationResult(const SimulationSettings&)>;
  struct Output {
    std::ostream& hashes;           // a line for each run that kept every promise
    std::ostream& remarks;          // broken promises, and what all runs met
    std::ostream* trace = nullptr;  // of the only run
  };

  // Flags and streams are borrowed; `simulate` is called on several threads.
  Seeds(const SeedFlags& flags, Simulate simulate, Output output);

  // False: a promise was broken, or so many runs never met something that they should.
  bool run();

 private:
  void work();
  SimulationResult run_one(uint64_t seed) const;
  SimulationResult wait_for(uint64_t i);
  void add(const SimulationResult& result);
  bool report(uint64_t seed, const SimulationResult& result) const;
  void shrink(uint64_t seed, const SimulationResult& failed) const;
  void report_sum(double cpu_seconds) const;
  bool met_everything() const;
  bool is_of_mode(std::string_view what) const;

  const SeedFlags& flags_;
  const SimulationSettings settings_;
  const Simulate simulate_;
  const Output output_;
  SimulationResult sum_;  // of the counts
  std::atomic<uint64_t> next_ = 0;
  std::mutex mutex_;
  std::condition_variable done_;
  std::vector<std::optional<SimulationResult>> results_;
};

}  // namespace ringkv::simulation
