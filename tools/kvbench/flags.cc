#include "tools/common/command_line.h"
#include "tools/common/units.h"
#include "tools/kvbench/flag_kinds.h"
#include "tools/kvbench/settings.h"

namespace ringkv::tools {
namespace {

void add_load_flags(CLI::App& app, BenchSettings& settings) {
  app.add_option("--connections", settings.connections, "To each node (default 8)")
      ->check(CLI::Range(1, 10'000))
      ->type_name("C");
  app.add_option("--depth", settings.depth, "Requests under way on each, at most (default 8)")
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
}

// What has no meaning for the other systems, or means something else there.
std::optional<std::string> unfit_for_compare(const CLI::App& app) {
  for (const char* flag : {"--workload", "--rate", "--distribution", "--durability", "--no-load"}) {
    if (app.count(flag) > 0)
      return std::string("--compare measures puts, buffered and synced, and gets of ") +
             "uniform keys, in closed loops; leave out " + flag;
  }
  return std::nullopt;
}

}  // namespace

std::variant<BenchSettings, int> parse_bench_flags(int argc, const char* const* argv) {
  CLI::App app(
      "Measures a node or a cluster: as many requests as DEPTH allows on each connection (a closed loop), or "
      "OPS a "
      "second. On a terminal it shows each second.",
      "kvbench");
  describe(app,
           "kvbench --workload ycsb-a --connections 48 --depth 1 --keys 100000 --duration 10\n"
           "         kvbench --workload get --rate 5000      latencies count from when each was to start\n"
           "         kvbench --compare --connections 48 --depth 1 --duration 3");
  BenchSettings settings;
  std::string workload = "put";
  std::string distribution;
  bool no_load = false;
  add_nodes(app, settings.nodes);
  app.add_option(
         "--workload", workload,
         "mixed: half gets, half puts. ycsb-a: half reads, half updates; -b: 95 % reads; -c: reads alone; "
         "-d: 95 % reads of the latest, 5 % new keys; -f: half reads, half read-modify-write (default put)")
      ->check(CLI::IsMember(workload_names()).description(""))
      ->type_name("put|get|mixed|ycsb-a|ycsb-b|ycsb-c|ycsb-d|ycsb-f");
  add_load_flags(app, settings);
  app.add_option(
         "--rate", settings.rate_per_second,
         "Requests a second, of all connections together, whatever becomes of them (default: a closed loop)")
      ->check(CLI::Range(0.1, 10'000'000.0))
      ->type_name("OPS");
  app.add_option_function<std::string>(
         "--distribution",
         [&distribution](const std::string& text) {
           const Result<Distribution> parsed = parse_distribution(text);
           if (!parsed.ok()) throw CLI::ValidationError("--distribution", parsed.status().message());
           distribution = text;
         },
         "Which keys are asked for; hotspot: the share F of requests is for bench:0 (default uniform; "
         "ycsb-d: "
         "latest, other ycsb: zipfian)")
      ->type_name("uniform|zipfian|latest|hotspot:F");
  app.add_option("--w", settings.w, "Acknowledgements that a put waits for")->type_name("N");
  app.add_option("--r", settings.r, "Answers that a get waits for")->type_name("N");
  add_durability(app, "--durability", settings.durability, "What an acknowledgement stands for");
  app.add_flag("--no-load", no_load, "All but put: the keys are there already");
  app.add_flag("--compare", settings.compare,
               "A table of what a bare program, redis-server, etcd and RocksDB reach beside these nodes");
  app.add_flag("--json", settings.json, "Print the figures as JSON");
  if (const auto exit_code = parse(app, argc, argv)) return *exit_code;
  if (settings.compare) {
    if (const auto unfit = unfit_for_compare(app)) return refuse(app, *unfit);
  }
  settings.workload = *workload_named(workload);
  settings.distribution =
      distribution.empty() ? distribution_of(settings.workload) : *parse_distribution(distribution);
  settings.load = !no_load;
  return settings;
}

}  // namespace ringkv::tools
