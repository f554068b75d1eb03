// One measurement: clients with threads of their own, a generator on each.
#pragma once

#include <memory>
#include <vector>

#include "ringkv/client.h"
#include "tools/kvbench/load_generator.h"
#include "tools/kvbench/report.h"
#include "tools/kvbench/settings.h"

namespace ringkv::tools {

class Bench {
 public:
  explicit Bench(const BenchSettings& settings) : settings_(settings), keys_(settings.keys) {}

  // UNAVAILABLE says how to come to nodes.
  Status connect();
  // Stores each key once.
  Status load();
  // With `by_second` it writes a line of each second to standard error.
  Measurement measure(bool by_second);

 private:
  std::optional<Pace> pace_of(size_t generator, LoadGenerator::Clock::time_point start) const;
  void run_until(LoadGenerator::Clock::time_point end, bool by_second);
  LoadGenerator::Clock::time_point next_turn() const;
  void show_second();

  const BenchSettings settings_;
  KeySpace keys_;
  std::vector<std::unique_ptr<Client>> clients_;
  std::vector<std::unique_ptr<LoadGenerator>>
      generators_;  // after the clients: stopped before those are gone
  uint32_t seconds_shown_ = 0;
};

// All of it: connects, loads what the workload wants, measures.
Result<Measurement> run_bench(const BenchSettings& settings, bool by_second);

}  // namespace ringkv::tools
