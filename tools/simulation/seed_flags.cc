#include "tools/simulation/seed_flags.h"

#include <filesystem>

#include "base/text.h"
#include "tools/common/command_line.h"

namespace ringkv::simulation {
namespace {

std::string fault_list() {
  std::string list = "all, none, or of: ";
  for (const std::string& name : fault_names()) list += name + " ";
  return list.substr(0, list.size() - 1) + ", with commas between them";
}

void add_what_runs(CLI::App& app, SeedFlags& flags) {
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
  app.add_option("--operations-per-second", flags.operations_per_second, "Of all clients, in simulated time")
      ->check(CLI::Range(0.1, 10'000.0))
      ->capture_default_str();
  app.add_option("--faults", flags.faults, fault_list())->type_name("LIST")->capture_default_str();
  app.add_option(
         "--mode", flags.mode,
         "What follows the faults. safety: all is healed and must converge. liveness: a majority of the "
         "voters and a quorum of each key's owners is, the rest stays broken, and progress is demanded")
      ->check(CLI::IsMember({"safety", "liveness"}))
      ->capture_default_str();
}

void add_how(CLI::App& app, SeedFlags& flags) {
  app.add_option("--jobs", flags.jobs, "Runs beside each other")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  app.add_option("--trace", flags.trace, "Every event as text; for one seed")->type_name("FILE");
  app.add_flag("-v,--verbose", flags.verbose, "What each run, and all of them, met");
}

}  // namespace

std::optional<int> read_flags(int argc, const char* const* argv, SeedFlags& flags) {
  if (argc > 0) flags.program = std::filesystem::path(argv[0]).filename();
  CLI::App app("Runs a ring on a simulated clock, network and disks, and checks every promise",
               flags.program);
  add_what_runs(app, flags);
  add_how(app, flags);
  tools::describe(app, flags.program + " --seeds 100 --minutes 2 --jobs 2");
  if (const auto exit_code = tools::parse(app, argc, argv)) return exit_code;
  const Result<Faults> faults = faults_from(flags.faults);
  if (!faults.ok()) return tools::refuse(app, "--faults: " + faults.status().message());
  if (!flags.trace.empty() && flags.seeds > 1)
    return tools::refuse(app, "--trace is for one seed: leave --seeds out");
  return std::nullopt;
}

SimulationSettings settings_of(const SeedFlags& flags) {
  return {.seed = flags.seed,
          .mode = flags.mode == "liveness" ? Mode::kLiveness : Mode::kSafety,
          .nodes = flags.nodes,
          .duration = Duration(static_cast<int64_t>(flags.minutes * 60e6)),
          .operations_per_second = flags.operations_per_second,
          .faults = *faults_from(flags.faults)};
}

std::string command_of(const SeedFlags& flags, uint64_t seed) {
  return cat(flags.program, " --seed ", seed, " --nodes ", flags.nodes, " --minutes ", flags.minutes,
             " --operations-per-second ", flags.operations_per_second, " --faults ", flags.faults, " --mode ",
             flags.mode);
}

}  // namespace ringkv::simulation
