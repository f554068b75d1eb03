#include "tools/simulation/seed_flags.h"

#include <filesystem>
#include <iostream>
#include <sstream>

#include "base/text.h"
#include "tools/common/command_line.h"
#include "tools/simulation/plants.h"

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
  app.add_option("--only-faults", flags.only_faults,
                 "Of the strikes that the seed draws only these, as a broken promise names them, or none")
      ->type_name("LIST");
  app.add_option("--only-operations", flags.only_operations,
                 "Of the operations that the seed draws only these (12,90-95), or none")
      ->type_name("LIST");
  app.add_option("--shrink", flags.shrink_s,
                 "After the first broken promise: seconds to look for fewer faults and operations that break "
                 "it too; 0: don't")
      ->check(CLI::Range(0, 86'400))
      ->capture_default_str();
  app.add_option(
         "--plant", flags.plant,
         "Plants this fault in the code and runs until it is found: a check of the simulator, in kvsim "
         "alone; list: names them")
      ->type_name("NAME");
  app.add_option("--jobs", flags.jobs, "Runs beside each other")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  app.add_option("--trace", flags.trace, "Every event as text; for one seed")->type_name("FILE");
  app.add_flag("-v,--verbose", flags.verbose, "What each run, and all of them, met");
}

constexpr std::string_view kNone = "none";

int list_plants() {
  for (const NamedPlant& named : named_plants()) {
    if (named.found_by_seeds)
      std::cout << named.name << std::string(28 - named.name.size(), ' ') << named.what << std::endl;
  }
  return 0;
}

Names chosen_strikes(const SeedFlags& flags) {
  Names names;
  if (flags.only_faults == kNone) return names;
  std::istringstream list(flags.only_faults);
  for (std::string name; std::getline(list, name, ',');) names.insert(name);
  return names;
}

Result<Numbers> chosen_operations(const SeedFlags& flags) {
  return flags.only_operations == kNone ? Numbers() : numbers_from(flags.only_operations);
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
  if (flags.plant == "list") return list_plants();
  const Result<Plant> plant = flags.plant.empty() ? Plant::kNone : plant_from(flags.plant);
  if (!plant.ok()) return tools::refuse(app, "--plant: " + plant.status().message());
  sow(*plant);
  const Result<Faults> faults = faults_from(flags.faults);
  if (!faults.ok()) return tools::refuse(app, "--faults: " + faults.status().message());
  for (const std::string& strike : chosen_strikes(flags)) {
    const Result<Faults> fault = faults_from(strike.substr(0, strike.find(':')));
    if (!fault.ok()) return tools::refuse(app, "--only-faults: " + fault.status().message());
  }
  const Result<Numbers> numbers = chosen_operations(flags);
  if (!numbers.ok()) return tools::refuse(app, "--only-operations: " + numbers.status().message());
  if (!flags.trace.empty() && flags.seeds > 1)
    return tools::refuse(app, "--trace is for one seed: leave --seeds out");
  return std::nullopt;
}

SimulationSettings settings_of(const SeedFlags& flags) {
  SimulationSettings settings{.seed = flags.seed,
                              .mode = flags.mode == "liveness" ? Mode::kLiveness : Mode::kSafety,
                              .nodes = flags.nodes,
                              .duration = Duration(static_cast<int64_t>(flags.minutes * 60e6)),
                              .operations_per_second = flags.operations_per_second,
                              .faults = *faults_from(flags.faults)};
  if (!flags.only_faults.empty()) settings.only_faults = chosen_strikes(flags);
  if (!flags.only_operations.empty()) settings.only_operations = *chosen_operations(flags);
  return settings;
}

std::string command_of(const SeedFlags& flags, uint64_t seed) {
  std::string command = cat(flags.program, " --seed ", seed, " --nodes ", flags.nodes, " --minutes ",
                            flags.minutes, " --operations-per-second ", flags.operations_per_second,
                            " --faults ", flags.faults, " --mode ", flags.mode);
  if (!flags.only_faults.empty()) command += cat(" --only-faults ", flags.only_faults);
  if (!flags.only_operations.empty()) command += cat(" --only-operations ", flags.only_operations);
  if (!flags.plant.empty()) command += cat(" --plant ", flags.plant);
  return command;
}

std::string chosen(const Names& strikes) {
  std::string list;
  for (const std::string& name : strikes) list += cat(list.empty() ? "" : ",", name);
  return list.empty() ? std::string(kNone) : list;
}

std::string chosen(const Numbers& operations) {
  return operations.empty() ? std::string(kNone) : text_of(operations);
}

}  // namespace ringkv::simulation
