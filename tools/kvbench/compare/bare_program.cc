#include "tools/kvbench/compare/bare_program.h"

#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tools/kvbench/compare/processes.h"

namespace ringkv::tools {
namespace {

constexpr const char* kProgram = "bare_limit";

std::vector<std::string> command_of(const std::string& verb, Workload workload,
                                    const BenchSettings& settings) {
  return {program_beside(kProgram),
          verb,
          "--workload=" + name_of(workload),
          "--connections=" + std::to_string(settings.connections),
          "--depth=" + std::to_string(settings.depth),
          "--value-size=" + std::to_string(settings.value_bytes),
          "--keys=" + std::to_string(settings.keys),
          "--duration=" + std::to_string(settings.duration.count()) + "ms",
          std::string("--durability=") + (settings.durability == Durability::kSynced ? "synced" : "buffered"),
          "--json"};
}

Result<Figures> run(const std::string& verb, Workload workload, const BenchSettings& settings) {
  const Result<ScratchFolder> folder = ScratchFolder::make();
  if (!folder.ok()) return folder.status();
  const std::filesystem::path output = folder->path() / "output";
  Result<ChildProcess> program = ChildProcess::start(command_of(verb, workload, settings), output);
  if (!program.ok()) return program.status();
  if (program->wait() != 0) return unavailable("bare_limit failed: " + last_lines(output));
  std::ifstream in(output);
  std::stringstream text;
  text << in.rdbuf();
  return parse_figures(text.str());
}

}  // namespace

Status run_bare_program(const std::string& verb, const BenchSettings& settings, bool gets, Row& row) {
  if (::access(program_beside(kProgram).c_str(), X_OK) != 0)
    return unavailable("not built: tools/build bare_limit");
  const Result<Figures> put = run(verb, Workload::kPut, settings);
  if (!put.ok()) return put.status();
  row.put = *put;
  if (!gets) return {};
  const Result<Figures> get = run(verb, Workload::kGet, settings);
  if (!get.ok()) return get.status();
  row.get = *get;
  return {};
}

Result<Figures> parse_figures(std::string_view line) {
  const auto json = nlohmann::json::parse(line, nullptr, false);
  const Status wrong = invalid_argument("these aren't the figures of a measurement: " + std::string(line));
  if (!json.is_object()) return wrong;
  for (const char* name : {"ops_per_s", "p50_us", "p99_us", "errors", "unknown"}) {
    if (!json.contains(name) || !json[name].is_number()) return wrong;
  }
  return Figures{.ops_per_s = json["ops_per_s"].get<double>(),
                 .p50_us = json["p50_us"].get<uint64_t>(),
                 .p99_us = json["p99_us"].get<uint64_t>(),
                 .failed = json["errors"].get<uint64_t>() + json["unknown"].get<uint64_t>()};
}

}  // namespace ringkv::tools
