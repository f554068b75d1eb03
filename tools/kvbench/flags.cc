#include <map>

#include "tools/common/command_line.h"
#include "tools/common/units.h"
#include "tools/kvbench/settings.h"

namespace ringkv::tools {
namespace {

const std::map<std::string, Workload> kWorkloads = {
    {"put", Workload::kPut}, {"get", Workload::kGet}, {"mixed", Workload::kMixed}};

}  // namespace

std::string name_of(Workload workload) {
  for (const auto& [name, value] : kWorkloads) {
    if (value == workload) return name;
  }
  return "";
}

std::variant<BenchSettings, int> parse_bench_flags(int argc, const char* const* argv) {
  CLI::App app(
      "Measures a node or a cluster in a closed loop: each connection always has DEPTH requests under way.",
      "kvbench");
  describe(
      app,
      "kvbench --workload mixed --connections 8 --depth 8 --value-size 100 --keys 100000 --duration 10s");
  BenchSettings settings;
  std::string workload = "put";
  std::string distribution = "uniform";
  bool no_load = false;
  add_nodes(app, settings.nodes);
  app.add_option("--workload", workload, "mixed: half gets, half puts (default put)")
      ->check(CLI::IsMember({"put", "get", "mixed"}))
      ->type_name("put|get|mixed");
  app.add_option("--connections", settings.connections, "To each node (default 8)")
      ->check(CLI::Range(1, 10'000))
      ->type_name("C");
  app.add_option("--depth", settings.depth, "Requests under way on each (default 8)")
      ->check(CLI::Range(1, 10'000))
      ->type_name("D");
  app.add_option_function<std::string>(
         "--value-size",
         [&settings](const std::string& text) {
           const Result<uint64_t> bytes = parse_size(text);
           if (!bytes.ok()) throw CLI::ValidationError("--value-size", bytes.status().message());
           if (*bytes > kValueBytesMax) throw CLI::ValidationError("--value-size", "at most 16MiB");
           settings.value_bytes = *bytes;
         },
         "Bytes of each value (default 100)")
      ->type_name("B");
  app.add_option("--keys", settings.keys, "bench:0 to bench:K-1 (default 100000)")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 40))
      ->type_name("K");
  app.add_option_function<std::string>(
         "--duration",
         [&settings](const std::string& text) {
           const bool bare = text.find_first_not_of("0123456789.") == std::string::npos;
           const Result<std::chrono::milliseconds> duration = parse_duration(bare ? text + "s" : text);
           if (!duration.ok()) throw CLI::ValidationError("--duration", duration.status().message());
           if (*duration < std::chrono::milliseconds(100))
             throw CLI::ValidationError("--duration", "at least 100ms");
           settings.duration = *duration;
         },
         "How long is counted, in seconds, after one second that isn't (default 10)")
      ->type_name("S");
  app.add_option("--distribution", distribution, "Which keys are asked for (default uniform)")
      ->check(CLI::IsMember({"uniform"}))
      ->type_name("uniform");
  app.add_option("--w", settings.w, "Acknowledgements that a put waits for")->type_name("N");
  app.add_option("--r", settings.r, "Answers that a get waits for")->type_name("N");
  add_durability(app, "--durability", settings.durability, "What an acknowledgement stands for");
  app.add_flag("--no-load", no_load, "get, mixed: the keys are there already");
  app.add_flag("--json", settings.json, "Print the figures as JSON");
  if (const auto exit_code = parse(app, argc, argv)) return *exit_code;
  settings.workload = kWorkloads.at(workload);
  settings.load = !no_load;
  return settings;
}

}  // namespace ringkv::tools
