// How a peer is set up: what kvnode's flags say, for a program that opens one inside itself.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ringkv/store.h"

namespace ringkv {

enum class Placer : uint8_t { kBalanced, kHashed };
enum class LogSeverity : uint8_t { kDebug, kInfo, kWarning, kError };

struct Options {
  std::string data_directory = {};

  // First start only: found a cluster. A later start finds what it needs in its directory.
  bool bootstrap = false;
  uint32_t replicas = 3;
  uint32_t partitions = 4096;  // a power of two, up to 65,536; fixed for the cluster's life
  Placer placer = Placer::kBalanced;

  // Unique in the cluster; empty: the host's name at the first start, later the kept one.
  std::string name = {};
  std::string rack = "default";
  double weight = 1;

  // HOST:PORT where clients of other processes are served; port 0 picks one; empty: only this process.
  std::string client_address = {};

  Durability durability = Durability::kSynced;
  uint64_t memory_bytes = uint64_t{256} << 20;  // block cache, write buffers and caches of records together

  // Below this much free disk puts are refused by name; 0: 5 % of the disk, at most 1 GiB.
  uint64_t disk_reserve_bytes = 0;

  // Called from any thread; nothing: no log.
  std::function<void(LogSeverity, std::string_view room, std::string_view message)> log = {};
  LogSeverity log_severity = LogSeverity::kInfo;
};

}  // namespace ringkv
