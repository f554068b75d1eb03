#include "tools/kvbench/compare/socket_measurement.h"

namespace ringkv::tools {
namespace {

constexpr uint32_t kFillingDepth = 16;

}  // namespace

SocketLoadSettings socket_load_of(const BenchSettings& settings, const std::vector<uint16_t>& ports) {
  return {.ports = ports,
          .protocol = {},
          .connections = settings.connections,
          .depth = settings.depth,
          .value_bytes = settings.value_bytes,
          .keys = settings.keys,
          .duration = settings.duration};
}

Status measure_by_sockets(const SocketLoadSettings& load, Row& row) {
  const Result<Measurement> put = run_socket_load(load, SocketWork::kPut);
  if (!put.ok()) return put.status();
  row.put = figures_of(*put);
  SocketLoadSettings filling = load;
  filling.depth = kFillingDepth;
  if (const auto filled = run_socket_load(filling, SocketWork::kStoreEach); !filled.ok())
    return filled.status();
  const Result<Measurement> get = run_socket_load(load, SocketWork::kGet);
  if (!get.ok()) return get.status();
  row.get = figures_of(*get);
  return {};
}

}  // namespace ringkv::tools
