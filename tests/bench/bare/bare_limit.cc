// The least work that a store with these quorums must do, on this machine, now: what ringkv's figures are
// divided by.
//
//   bare_limit run       three nodes on loopback, and a load on them
//   bare_limit rocksdb   RocksDB alone, in this process
//   bare_limit node      one of the three; `run` starts them
#include <iostream>
#include <memory>
#include <thread>

#include "tests/bench/bare/bare_node.h"
#include "tests/bench/bare/bare_protocol.h"
#include "tests/bench/bare/rocksdb_alone.h"
#include "tools/common/command_line.h"
#include "tools/common/units.h"
#include "tools/kvbench/compare/processes.h"
#include "tools/kvbench/compare/socket_load.h"
#include "tools/kvbench/flag_kinds.h"
#include "tools/kvbench/report.h"

namespace ringkv::bare {
namespace {

constexpr int kFailed = 3;
constexpr uint32_t kFillingDepth = 16;

using tools::BenchSettings;
using tools::Measurement;

Status start_nodes(const BenchSettings& settings, const std::filesystem::path& folder,
                   const std::vector<uint16_t>& ports, std::vector<tools::ChildProcess>& nodes) {
  for (uint32_t i = 0; i < kNodes; ++i) {
    const std::string number = std::to_string(i);
    std::vector<std::string> command = {
        tools::program_beside("bare_limit"), "node",   "--number", number, "--data",
        (folder / number).string(),          "--ports"};
    for (const uint16_t port : ports) command.push_back(std::to_string(port));
    if (settings.durability == Durability::kSynced) command.emplace_back("--synced");
    Result<tools::ChildProcess> node = tools::ChildProcess::start(command, folder / (number + ".output"));
    if (!node.ok()) return node.status();
    nodes.push_back(*std::move(node));
  }
  for (uint32_t i = 0; i < kNodes; ++i) {
    if (const Status status = wait_for_port(nodes[i], ports[i]); !status.ok()) return status;
  }
  return {};
}

Result<Measurement> run_nodes(const BenchSettings& settings) {
  const Result<tools::ScratchFolder> folder = tools::ScratchFolder::make();
  if (!folder.ok()) return folder.status();
  const Result<std::vector<uint16_t>> ports = tools::free_ports(kNodes);
  if (!ports.ok()) return ports.status();
  std::vector<tools::ChildProcess> nodes;
  if (const Status status = start_nodes(settings, folder->path(), *ports, nodes); !status.ok()) return status;
  tools::SocketLoadSettings load{.ports = *ports,
                                 .protocol = [] { return std::make_unique<BareProtocol>(); },
                                 .connections = settings.connections,
                                 .depth = settings.depth,
                                 .value_bytes = settings.value_bytes,
                                 .keys = settings.keys,
                                 .duration = settings.duration};
  if (settings.workload == tools::Workload::kPut) return run_socket_load(load, tools::SocketWork::kPut);
  tools::SocketLoadSettings filling = load;
  filling.depth = kFillingDepth;
  if (const auto filled = run_socket_load(filling, tools::SocketWork::kStoreEach); !filled.ok())
    return filled.status();
  return run_socket_load(load, tools::SocketWork::kGet);
}

Result<Measurement> run_rocksdb(const BenchSettings& settings) {
  const Result<tools::ScratchFolder> folder = tools::ScratchFolder::make();
  if (!folder.ok()) return folder.status();
  return run_rocksdb_alone(settings, std::max(1U, std::thread::hardware_concurrency()),
                           folder->path().string());
}

// What `run` and `rocksdb` take.
void add_load(CLI::App& verb, BenchSettings& settings) {
  verb.add_option_function<std::string>(
          "--workload",
          [&settings](const std::string& text) { settings.workload = *tools::workload_named(text); },
          "What is done (default put)")
      ->check(CLI::IsMember({"put", "get"}).description(""))
      ->type_name("put|get");
  verb.add_option("--connections", settings.connections, "Of all three nodes together (default 48)")
      ->check(CLI::Range(1, 10'000))
      ->type_name("C");
  verb.add_option("--depth", settings.depth, "Requests under way on each (default 1)")
      ->check(CLI::Range(1, 10'000))
      ->type_name("D");
  verb.add_option("--value-size", settings.value_bytes, "Bytes of each value (default 100)")->type_name("B");
  verb.add_option("--keys", settings.keys, "How many there are (default 100000)")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 40))
      ->type_name("K");
  tools::add_duration(verb, "--duration", settings.duration,
                      "How long is counted, after one second that isn't (10s)");
  tools::add_durability(verb, "--durability", settings.durability,
                        "Each batch synced, or left to the log (default)");
  verb.add_flag("--json", settings.json, "Print the figures as JSON");
}

int report(const BenchSettings& settings, const Result<Measurement>& measurement) {
  if (!measurement.ok()) {
    std::cerr << "bare_limit: " << measurement.status().to_string() << '\n';
    return kFailed;
  }
  std::cout << (settings.json ? to_json(settings, *measurement) : to_text(settings, *measurement))
            << std::flush;
  return 0;
}

int run(int argc, char** argv) {
  CLI::App app("The least work that a store of three copies must do, measured on this machine.",
               "bare_limit");
  tools::describe(app, "bare_limit run --workload put --connections 48 --depth 1 --duration 3s");
  app.require_subcommand(1);
  BenchSettings settings{.nodes = {}, .connections = 48, .depth = 1};
  BareNodeSettings node;
  std::vector<uint16_t> ports;
  CLI::App* run = app.add_subcommand("run", "Three nodes on loopback, and a load on them");
  CLI::App* rocksdb =
      app.add_subcommand("rocksdb", "RocksDB alone, in this process, by a thread for each core");
  CLI::App* one = app.add_subcommand("node", "One of the three nodes; `run` starts them");
  add_load(*run, settings);
  add_load(*rocksdb, settings);
  one->add_option("--number", node.number, "Which: 0, 1 or 2")->required()->check(CLI::Range(0, 2));
  one->add_option("--ports", ports, "Of all three")->required()->expected(kNodes);
  one->add_option("--data", node.directory, "Where RocksDB keeps its files")->required();
  one->add_flag("--synced", node.synced, "Sync each batch");
  if (const auto exit_code = tools::parse(app, argc, argv)) return *exit_code;
  if (run->parsed()) return report(settings, run_nodes(settings));
  if (rocksdb->parsed()) return report(settings, run_rocksdb(settings));
  std::copy_n(ports.begin(), kNodes, node.ports.begin());
  BareNode(node).run();
}

}  // namespace
}  // namespace ringkv::bare

int main(int argc, char** argv) { return ringkv::bare::run(argc, argv); }
