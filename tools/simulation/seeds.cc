#include "tools/simulation/seeds.h"

#include <ctime>
#include <iomanip>
#include <sstream>
#include <thread>
#include <utility>

#include "base/text.h"
#include "ringkv/text.h"
#include "ringkv/version.h"
#include "tools/simulation/shrinker.h"

namespace ringkv::simulation {
namespace {

constexpr uint64_t kTwiceEach = 100;
constexpr std::string_view kDeterminism = "determinism";
// What so long a run doesn't meet it can't be broken by.
constexpr double kLongMinutes = 1000;

double seconds_of(Duration duration) { return static_cast<double>(duration.count()) / 1e6; }

// Of all threads.
double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

std::string text_of(const SimulationResult& result) {
  const uint64_t percent = result.operations == 0 ? 0 : 100 * result.ok / result.operations;
  return cat(result.operations, " operations (", percent, " % ok, ", result.unknown, " unknown) in ",
             result.lives, " lives and ", result.rings, " rings with ", result.power_cuts, " power cuts, ",
             result.events, " events");
}

// "    12.345 s  kill:n3:1".
std::string line_of(const Happening& happening, std::string_view kind) {
  std::ostringstream line;
  line << "  " << std::fixed << std::setprecision(3) << std::setw(10) << seconds_of(happening.at) << " s  "
       << kind << happening.name;
  if (!happening.what.empty()) line << "  " << happening.what;
  return line.str();
}

}  // namespace

Seeds::Seeds(const SeedFlags& flags, Simulate simulate, Output output)
    : flags_(flags),
      settings_(settings_of(flags)),
      simulate_(std::move(simulate)),
      output_(output),
      results_(flags.seeds) {}

bool Seeds::run() {
  const double begun = cpu_seconds();
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < flags_.jobs; ++i) threads.emplace_back([this] { work(); });
  bool kept = true;
  for (uint64_t i = 0; i < flags_.seeds; ++i) {
    const SimulationResult result = wait_for(i);
    add(result);
    if (report(flags_.seed + i, result)) continue;
    if (!flags_.plant.empty()) {  // it is found, and that is all that was asked
      kept = false;
      next_ = flags_.seeds;
      break;
    }
    if (std::exchange(kept, false)) shrink(flags_.seed + i, result);
  }
  for (std::thread& thread : threads) thread.join();
  report_sum(cpu_seconds() - begun);
  return met_everything() && kept;
}

void Seeds::work() {
  for (uint64_t i = next_++; i < flags_.seeds; i = next_++) {
    SimulationResult result = run_one(flags_.seed + i);
    const std::lock_guard lock(mutex_);
    results_[i] = std::move(result);
    done_.notify_all();
  }
}

SimulationResult Seeds::run_one(uint64_t seed) const {
  SimulationSettings settings = settings_;
  settings.seed = seed;
  settings.trace = output_.trace;
  SimulationResult result = simulate_(settings);
  if (seed % kTwiceEach != 0) return result;
  settings.trace = nullptr;
  const SimulationResult again = simulate_(settings);
  if (again.hash != result.hash)
    result.violation = Violation{std::string(kDeterminism), cat("two runs of one seed have hashes ",
                                                                hex(result.hash), " and ", hex(again.hash))};
  result.simulated += again.simulated;
  return result;
}

SimulationResult Seeds::wait_for(uint64_t i) {
  std::unique_lock lock(mutex_);
  done_.wait(lock, [&] { return results_[i].has_value(); });
  return *std::exchange(results_[i], std::nullopt);
}

void Seeds::add(const SimulationResult& result) {
  sum_.simulated += result.simulated;
  sum_.operations += result.operations;
  sum_.ok += result.ok;
  sum_.unknown += result.unknown;
  sum_.lives += result.lives;
  sum_.rings += result.rings;
  sum_.power_cuts += result.power_cuts;
  sum_.events += result.events;
  for (const auto& [what, times] : result.sightings) sum_.sightings[what] += times;
}

bool Seeds::report(uint64_t seed, const SimulationResult& result) const {
  if (flags_.verbose) output_.remarks << "seed " << seed << ": " << text_of(result) << std::endl;
  if (!result.violation) {
    output_.hashes << "seed " << seed << " ok hash=" << hex(result.hash) << std::endl;
    return true;
  }
  output_.remarks << flags_.program << ": seed " << seed << " breaks " << result.violation->invariant << ": "
                  << result.violation->what << "\n  build: " << version() << " (" << commit() << ")"
                  << "\n  again: " << command_of(flags_, seed) << " --trace FILE" << std::endl;
  return false;
}

// Of the first one alone: the others may well break for the same reason.
void Seeds::shrink(uint64_t seed, const SimulationResult& failed) const {
  if (flags_.shrink_s == 0 || failed.violation->invariant == kDeterminism) return;
  SimulationSettings settings = settings_;
  settings.seed = seed;
  const Shrinker::Shrunk shrunk =
      Shrinker(simulate_, std::chrono::seconds(flags_.shrink_s)).shrink(settings, flags_.faults, failed);
  std::ostream& out = output_.remarks;
  out << "  shrunk in " << shrunk.runs << " runs to " << shrunk.result.strikes.size() << " strikes and "
      << shrunk.result.operations_asked.size() << " operations, which break it by "
      << shrunk.result.violation->what << '\n';
  SeedFlags flags = flags_;
  flags.faults = shrunk.faults;
  if (shrunk.settings.only_faults) {
    flags.only_faults = chosen(*shrunk.settings.only_faults);
    for (const Happening& strike : shrunk.result.strikes) out << line_of(strike, "") << '\n';
  }
  if (shrunk.settings.only_operations) {
    flags.only_operations = chosen(*shrunk.settings.only_operations);
    for (const Happening& one : shrunk.result.operations_asked) out << line_of(one, "operation ") << '\n';
  }
  out << "  again: " << command_of(flags, seed) << " --trace FILE" << std::endl;
}

void Seeds::report_sum(double cpu_seconds) const {
  std::ostream& out = output_.remarks;
  out << flags_.program << ": " << text_of(sum_) << '\n';
  out << flags_.program << ": " << std::fixed << std::setprecision(0) << seconds_of(sum_.simulated)
      << " simulated seconds, " << seconds_of(sum_.simulated) / cpu_seconds << " a second and core"
      << std::endl;
  if (!flags_.verbose) return;
  for (const auto& [what, times] : sum_.sightings) out << "  " << times << " x " << what << std::endl;
}

bool Seeds::met_everything() const {
  if (!flags_.plant.empty() || flags_.faults != "all" || flags_.nodes < 5 ||
      static_cast<double>(flags_.seeds) * flags_.minutes < kLongMinutes)
    return true;
  bool all = true;
  for (const auto& [what, times] : sum_.sightings) {
    if (times > 0 || !is_of_mode(what)) continue;
    output_.remarks << flags_.program << ": in all these runs there was never " << what << std::endl;
    all = false;
  }
  return all;
}

// A loss is accepted for what is healed; a core may always be found.
bool Seeds::is_of_mode(std::string_view what) const {
  if (settings_.mode == Mode::kSafety) return !what.starts_with("liveness: ");
  return what != sighting::kLossAccepted && what != sighting::kNoCore;
}

}  // namespace ringkv::simulation
