#include "tools/kvbench/compare/contestants.h"
#include "tools/kvbench/compare/processes.h"
#include "tools/kvbench/compare/redis_protocol.h"
#include "tools/kvbench/compare/socket_measurement.h"

namespace ringkv::tools {
namespace {

Status measure(const BenchSettings& settings, Row& row) {
  const std::optional<std::string> program = program_in_path("redis-server");
  if (!program) return unavailable("not installed: apt-get install redis-server");
  const Result<ScratchFolder> folder = ScratchFolder::make();
  if (!folder.ok()) return folder.status();
  const Result<std::vector<uint16_t>> ports = free_ports(1);
  if (!ports.ok()) return ports.status();
  const std::vector<std::string> command = {
      *program, "--port", std::to_string(ports->front()), "--bind", "127.0.0.1", "--save", "", "--appendonly",
      "no",     "--dir",  folder->path().string()};
  Result<ChildProcess> server = ChildProcess::start(command, folder->path() / "output");
  if (!server.ok()) return server.status();
  if (const Status serving = wait_for_port(*server, ports->front()); !serving.ok()) return serving;
  SocketLoadSettings load = socket_load_of(settings, *ports);
  load.protocol = [] { return std::make_unique<RedisProtocol>(); };
  return measure_by_sockets(load, row);
}

}  // namespace

Row measure_redis(const BenchSettings& settings) {
  Row row{.system = "redis-server, one node", .acknowledged_means = "in memory of one"};
  row.note = measure(settings, row).message();
  return row;
}

}  // namespace ringkv::tools
