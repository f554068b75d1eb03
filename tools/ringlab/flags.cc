#include "tools/ringlab/flags.h"

#include "tools/common/command_line.h"

namespace ringkv::ringlab {
namespace {

constexpr uint32_t kNodesMost = 1000;
constexpr uint32_t kVirtualNodesMost = 10'000;
constexpr uint64_t kKeysMost = 10'000'000;

void add_knobs(CLI::App& app, Command& command) {
  app.add_option("--nodes", command.settings.nodes, "Nodes (default: as published)")
      ->check(CLI::Range(2U, kNodesMost))
      ->type_name("N");
  app.add_option("--vnodes", command.settings.virtual_nodes, "Virtual nodes of a node of weight 1")
      ->check(CLI::Range(1U, kVirtualNodesMost))
      ->type_name("V");
  app.add_option("--keys", command.settings.keys, "Keys that are placed")
      ->check(CLI::Range(uint64_t{1}, kKeysMost))
      ->type_name("K");
  std::string names;
  for (const Hash& hash : hashes()) names += (names.empty() ? "" : "|") + hash.name;
  app.add_option_function<std::string>(
         "--hash",
         [&command, names](const std::string& name) {
           for (const Hash& hash : hashes()) {
             if (hash.name == name) command.settings.hash = hash;
           }
           if (!command.settings.hash || command.settings.hash->name != name)
             throw CLI::ValidationError("--hash", "'" + name + "' is none of " + names);
         },
         "Hash of keys and points")
      ->type_name(names);
  app.add_flag("--json", command.json, "Print the figures as JSON");
  app.add_option("--plot", command.plot, "Draw the figures too")->type_name("FILE.svg");
}

}  // namespace

std::variant<Command, int> parse_flags(int argc, const char* const* argv) {
  CLI::App app("The placement laboratory: maps keys to nodes in many ways and measures each.", "ringlab");
  tools::describe(app, "ringlab compare --nodes 100 --plot compare.svg");
  Command command;
  for (const Experiment& experiment : experiments()) {
    CLI::App* verb = app.add_subcommand(experiment.name, experiment.summary);
    tools::describe(*verb, experiment.example);
    add_knobs(*verb, command);
    verb->callback([&command, &experiment] { command.experiment = &experiment; });
  }
  if (const auto exit_code = tools::parse(app, argc, argv)) return *exit_code;
  return command;
}

}  // namespace ringkv::ringlab
