// The experiments. Each reproduces a published one unless settings say otherwise.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "tools/ringlab/hashes.h"
#include "tools/ringlab/report.h"

namespace ringkv::ringlab {

// What isn't set is as published.
struct Settings {
  std::optional<uint32_t> nodes;
  std::optional<uint32_t> virtual_nodes;
  std::optional<uint64_t> keys;
  std::optional<Hash> hash;

  Hash hash_or(std::string_view published) const { return hash ? *hash : hash_named(published); }
};

// Says what is under way, once an experiment has taken a second, and at most once a second.
class Progress {
 public:
  explicit Progress(std::ostream& out) : out_(out) {}
  void step(const std::string& what);

 private:
  std::ostream& out_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

struct Experiment {
  std::string name;
  std::string summary;
  std::string example;
  std::function<Report(const Settings&, Progress&)> run;
};

const std::vector<Experiment>& experiments();

Report run_movements(const Settings& settings, Progress& progress);
Report run_remap(const Settings& settings, Progress& progress);
Report run_spread(const Settings& settings, Progress& progress);
Report run_compare(const Settings& settings, Progress& progress);
Report run_lookup(const Settings& settings, Progress& progress);
Report run_bounded(const Settings& settings, Progress& progress);
Report run_racks(const Settings& settings, Progress& progress);

}  // namespace ringkv::ringlab
