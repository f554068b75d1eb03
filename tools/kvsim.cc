// kvsim: a whole ring in one process on virtual time, network and disks, each run from one seed.
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <fstream>
#include <iostream>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/text.h"
#include "ringkv/text.h"
#include "tools/common/command_line.h"
#include "tools/simulation/simulation.h"

namespace ringkv::tools {
namespace {

using simulation::Mode;
using simulation::SimulationResult;
using simulation::SimulationSettings;

constexpr double kLongMinutes = 1000;

struct Flags {
  uint64_t seed = 1;
  uint64_t seeds = 1;
  uint32_t nodes = 5;
  double minutes = 10;
  std::string faults = "all";
  std::string mode = "safety";
  uint32_t jobs = 1;
  std::string trace;
  bool verbose = false;
};

// Runs the seeds on a few threads and hands the results on in order of seed.
class Runs {
 public:
  Runs(const Flags& flags, const SimulationSettings& settings, std::ostream* trace)
      : flags_(flags), settings_(settings), trace_(trace), results_(flags.seeds) {}

  // False: a promise was broken.
  bool run() {
    std::vector<std::thread> threads;
    for (uint32_t i = 0; i < std::max(flags_.jobs, 1U); ++i) threads.emplace_back([this] { work(); });
    bool kept = true;
    for (uint64_t i = 0; i < flags_.seeds; ++i) {
      const SimulationResult result = wait_for(i);
      add(result);
      kept = report(flags_.seed + i, result) && kept;
    }
    for (std::thread& thread : threads) thread.join();
    std::cerr << "kvsim: " << text_of(sum_) << std::endl;
    if (flags_.verbose) {
      for (const auto& [what, times] : sum_.sightings)
        std::cerr << "  " << times << " x " << what << std::endl;
    }
    return met_everything() && kept;
  }

 private:
  // What so long a run doesn't meet it can't be broken by.
  bool met_everything() const {
    if (flags_.faults != "all" || flags_.nodes < 5 ||
        static_cast<double>(flags_.seeds) * flags_.minutes < kLongMinutes)
      return true;
    bool all = true;
    for (const auto& [what, times] : sum_.sightings) {
      if (times > 0 || !is_of_mode(what)) continue;
      std::cerr << "kvsim: in all these runs there was never " << what << std::endl;
      all = false;
    }
    return all;
  }

  // A loss is accepted for what is healed; a core may always be found.
  bool is_of_mode(std::string_view what) const {
    if (settings_.mode == Mode::kSafety) return !what.starts_with("liveness: ");
    return what != simulation::sighting::kLossAccepted && what != simulation::sighting::kNoCore;
  }

  void work() {
    for (uint64_t i = next_++; i < flags_.seeds; i = next_++) {
      SimulationSettings settings = settings_;
      settings.seed = flags_.seed + i;
      settings.trace = trace_;
      SimulationResult result = simulation::simulate(settings);
      const std::lock_guard lock(mutex_);
      results_[i] = std::move(result);
      done_.notify_all();
    }
  }

  SimulationResult wait_for(uint64_t i) {
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] { return results_[i].has_value(); });
    return *results_[i];
  }

  void add(const SimulationResult& result) {
    sum_.operations += result.operations;
    sum_.ok += result.ok;
    sum_.unknown += result.unknown;
    sum_.lives += result.lives;
    sum_.rings += result.rings;
    sum_.power_cuts += result.power_cuts;
    sum_.events += result.events;
    for (const auto& [what, times] : result.sightings) sum_.sightings[what] += times;
  }

  static std::string text_of(const SimulationResult& result) {
    const uint64_t percent = result.operations == 0 ? 0 : 100 * result.ok / result.operations;
    return cat(result.operations, " operations (", percent, " % ok, ", result.unknown, " unknown) in ",
               result.lives, " lives and ", result.rings, " rings with ", result.power_cuts, " power cuts, ",
               result.events, " events");
  }

  bool report(uint64_t seed, const SimulationResult& result) const {
    if (flags_.verbose) std::cerr << "seed " << seed << ": " << text_of(result) << std::endl;
    if (!result.violation) {
      std::cout << "seed " << seed << " ok hash=" << hex(result.hash) << std::endl;
      return true;
    }
    std::cerr << "kvsim: seed " << seed << " breaks " << result.violation->invariant << ": "
              << result.violation->what << "\n  again: kvsim --seed " << seed << " --nodes " << flags_.nodes
              << " --minutes " << flags_.minutes << " --faults " << flags_.faults << " --mode " << flags_.mode
              << " --trace FILE" << std::endl;
    return false;
  }

  const Flags& flags_;
  const SimulationSettings& settings_;
  std::ostream* const trace_;
  SimulationResult sum_;  // of the counts
  std::atomic<uint64_t> next_ = 0;
  std::mutex mutex_;
  std::condition_variable done_;
  std::vector<std::optional<SimulationResult>> results_;
};

std::string fault_list() {
  std::string list = "all, none, or of: ";
  for (const std::string& name : simulation::fault_names()) list += name + " ";
  return list.substr(0, list.size() - 1) + ", with commas between them";
}

int run(int argc, char** argv) {
  Flags flags;
  CLI::App app("Runs a ring on a simulated clock, network and disks, and checks every promise", "kvsim");
  app.add_option("--seed", flags.seed, "Of the first run")->capture_default_str();
  app.add_option("--seeds", flags.seeds, "How many runs, each with the next seed")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 32))
      ->capture_default_str();
  app.add_option("--nodes", flags.nodes, "Of the ring, in three racks; three copies of every key")
      ->check(CLI::Range(1, 16))
      ->capture_default_str();
  app.add_option("--minutes", flags.minutes, "Simulated time of a run")
      ->check(CLI::Range(0.01, 100'000.0))
      ->capture_default_str();
  app.add_option("--faults", flags.faults, fault_list())->type_name("LIST")->capture_default_str();
  app.add_option(
         "--mode", flags.mode,
         "What follows the faults. safety: all is healed and must converge. liveness: a majority of the "
         "voters and a quorum of each key's owners is, the rest stays broken, and progress is demanded")
      ->check(CLI::IsMember({"safety", "liveness"}))
      ->capture_default_str();
  app.add_option("--jobs", flags.jobs, "Runs beside each other")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  app.add_option("--trace", flags.trace, "Every event as text; for one seed")->type_name("FILE");
  app.add_flag("-v,--verbose", flags.verbose, "What each run, and all of them, met");
  describe(app, "kvsim --seeds 100 --minutes 2 --jobs 2");
  if (const auto exit_code = parse(app, argc, argv)) return *exit_code;

  const Result<simulation::Faults> faults = simulation::faults_from(flags.faults);
  if (!faults.ok()) return refuse(app, "--faults: " + faults.status().message());
  if (!flags.trace.empty() && flags.seeds > 1)
    return refuse(app, "--trace is for one seed: leave --seeds out");
  std::ofstream trace;
  if (!flags.trace.empty()) {
    trace.open(flags.trace, std::ios::trunc);
    if (!trace) return refuse(app, "--trace: can't write " + flags.trace);
  }
  const SimulationSettings settings{
      .mode = flags.mode == "liveness" ? Mode::kLiveness : Mode::kSafety,
      .nodes = flags.nodes,
      .duration = Duration(static_cast<int64_t>(flags.minutes * 60e6)),
      .faults = *faults,
  };
  return Runs(flags, settings, trace.is_open() ? &trace : nullptr).run() ? 0 : 1;
}

}  // namespace
}  // namespace ringkv::tools

int main(int argc, char** argv) { return ringkv::tools::run(argc, argv); }
