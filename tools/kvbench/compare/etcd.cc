#include <thread>

#include "tools/kvbench/compare/contestants.h"
#include "tools/kvbench/compare/etcd_protocol.h"
#include "tools/kvbench/compare/processes.h"
#include "tools/kvbench/compare/socket_measurement.h"

namespace ringkv::tools {
namespace {

constexpr size_t kNodes = 3;

std::string url(uint16_t port) { return "http://127.0.0.1:" + std::to_string(port); }
std::string name_of_node(size_t node) { return "etcd" + std::to_string(node + 1); }

struct Place {
  std::string program;
  std::filesystem::path folder;
  std::vector<uint16_t> client_ports;
  std::vector<uint16_t> peer_ports;
};

std::vector<std::string> command_of(const Place& place, size_t node) {
  std::string cluster;
  for (size_t i = 0; i < kNodes; ++i)
    cluster += (i == 0 ? "" : ",") + name_of_node(i) + "=" + url(place.peer_ports[i]);
  const std::string client = url(place.client_ports[node]);
  const std::string peer = url(place.peer_ports[node]);
  return {place.program,
          "--name=" + name_of_node(node),
          "--data-dir=" + (place.folder / name_of_node(node)).string(),
          "--listen-client-urls=" + client,
          "--advertise-client-urls=" + client,
          "--listen-peer-urls=" + peer,
          "--initial-advertise-peer-urls=" + peer,
          "--initial-cluster=" + cluster,
          "--initial-cluster-state=new",
          "--quota-backend-bytes=8589934592",  // it keeps all versions
          "--logger=zap",
          "--log-level=error"};
}

std::filesystem::path output_of(const Place& place, size_t node) {
  return place.folder / (name_of_node(node) + ".output");
}

// They listen before they have a leader; until then puts are refused.
Status wait_for_leader(SocketLoadSettings load, const Place& place) {
  constexpr int kTries = 100;
  load.connections = kNodes;
  load.depth = 1;
  load.keys = kNodes;
  for (int i = 0; i < kTries; ++i) {
    const Result<Measurement> tried = run_socket_load(load, SocketWork::kStoreEach);
    if (tried.ok() && tried->tally.answered == kNodes) return {};
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return unavailable("its nodes chose no leader: " + last_lines(output_of(place, 0)));
}

Status measure(const BenchSettings& settings, Row& row) {
  const std::optional<std::string> program = program_in_path("etcd");
  if (!program) return unavailable("not installed: apt-get install etcd-server");
  if (settings.value_bytes > EtcdProtocol::kValueBytesMax)
    return unavailable("measured up to --value-size 16000");
  const Result<ScratchFolder> folder = ScratchFolder::make();
  if (!folder.ok()) return folder.status();
  const Result<std::vector<uint16_t>> ports = free_ports(2 * kNodes);
  if (!ports.ok()) return ports.status();
  const auto middle = ports->begin() + kNodes;
  const Place place{.program = *program,
                    .folder = folder->path(),
                    .client_ports = {ports->begin(), middle},
                    .peer_ports = {middle, ports->end()}};
  std::vector<ChildProcess> servers;
  for (size_t node = 0; node < kNodes; ++node) {
    Result<ChildProcess> server = ChildProcess::start(command_of(place, node), output_of(place, node));
    if (!server.ok()) return server.status();
    servers.push_back(*std::move(server));
  }
  for (size_t node = 0; node < kNodes; ++node) {
    if (const Status serving = wait_for_port(servers[node], place.client_ports[node]); !serving.ok())
      return serving;
  }
  SocketLoadSettings load = socket_load_of(settings, place.client_ports);
  load.protocol = [] { return std::make_unique<EtcdProtocol>(); };
  if (const Status chosen = wait_for_leader(load, place); !chosen.ok()) return chosen;
  return measure_by_sockets(load, row);
}

}  // namespace

Row measure_etcd(const BenchSettings& settings) {
  Row row{.system = "etcd, 3 nodes", .acknowledged_means = on_two_of_three(Durability::kSynced)};
  row.note = measure(settings, row).message();
  return row;
}

}  // namespace ringkv::tools
