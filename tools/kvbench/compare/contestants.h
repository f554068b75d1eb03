// The systems that are measured beside ringkv. Each is started for its measurement, on loopback, and ended
// after it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ringkv/store.h"
#include "tools/kvbench/report.h"
#include "tools/kvbench/settings.h"

namespace ringkv::tools {

struct Figures {
  double ops_per_s = 0;
  uint64_t p50_us = 0;
  uint64_t p99_us = 0;
  uint64_t failed = 0;  // errors and unknown outcomes
};

Figures figures_of(const Measurement& measurement);

// One line of the table.
struct Row {
  std::string system;
  std::string acknowledged_means;
  std::optional<Figures> put;
  std::optional<Figures> get;
  std::string note;  // why figures are missing, and what to do
};

// "in the log on 2 of 3"; "bare limit, buffered".
std::string on_two_of_three(Durability durability);
std::string named(const std::string& system, Durability durability);

// Three bare nodes: what any store with these quorums must do, and nothing else.
Row measure_bare_limit(const BenchSettings& settings, Durability durability, bool gets);
Row measure_redis(const BenchSettings& settings);
Row measure_etcd(const BenchSettings& settings);
// In one process, by as many threads as there are cores: no network, no copies.
Row measure_rocksdb(const BenchSettings& settings);
// The given nodes.
Row measure_ringkv(const BenchSettings& settings, Durability durability, bool gets, bool by_second);

}  // namespace ringkv::tools
