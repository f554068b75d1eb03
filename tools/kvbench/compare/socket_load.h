// A closed loop over bare sockets, in one thread: what redis, etcd and the bare program are measured with. It
// does less for a request than ringkv's own client, which routes and repeats; what that costs is ringkv's to
// pay.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "ringkv/status.h"
#include "tools/kvbench/compare/protocol.h"
#include "tools/kvbench/report.h"

namespace ringkv::tools {

struct SocketLoadSettings {
  std::vector<uint16_t> ports;  // on 127.0.0.1; connections go round them
  std::function<std::unique_ptr<Protocol>()> protocol;
  uint32_t connections = 48;
  uint32_t depth = 1;
  uint64_t value_bytes = 100;
  uint64_t keys = 100'000;
  std::chrono::milliseconds duration{10'000};
};

enum class SocketWork : uint8_t {
  kStoreEach,  // each key once, whatever the duration
  kPut,
  kGet,
};

// UNAVAILABLE: a connection failed, or what came wasn't the protocol.
Result<Measurement> run_socket_load(const SocketLoadSettings& settings, SocketWork work);

}  // namespace ringkv::tools
