// What is measured and how.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ringkv/store.h"

namespace ringkv::tools {

// The letters are YCSB's core workloads (Cooper et al., 2010); E scans, which is no strength of a hashed
// ring.
enum class Workload : uint8_t { kPut, kGet, kMixed, kYcsbA, kYcsbB, kYcsbC, kYcsbD, kYcsbF };

std::string name_of(Workload workload);

// Which keys are asked for.
struct Distribution {
  enum class Kind : uint8_t {
    kUniform,
    kZipfian,  // YCSB's, scrambled: few keys anywhere are asked for most
    kLatest,   // the keys stored last are
    kHotspot,  // hot_share of the requests are for one key, the rest for all alike
  };

  Kind kind = Kind::kUniform;
  double hot_share = 0;

  friend bool operator==(const Distribution&, const Distribution&) = default;
};

std::string name_of(const Distribution& distribution);

// What each is measured with when nothing else is asked for: uniform, and YCSB's own.
Distribution distribution_of(Workload workload);

struct BenchSettings {
  std::vector<std::string> nodes = {"127.0.0.1:7401"};
  Workload workload = Workload::kPut;
  uint32_t connections = 8;
  uint32_t depth = 8;  // requests under way on each connection, at most
  uint64_t value_bytes = 100;
  uint64_t keys = 100'000;
  std::chrono::milliseconds duration{10'000};
  std::optional<double> rate_per_second;  // nothing: a closed loop
  Distribution distribution;
  uint32_t w = 0;
  uint32_t r = 0;
  std::optional<Durability> durability;
  bool load = true;
  bool compare = false;
  bool json = false;
};

// An exit code when there is nothing to do any more.
std::variant<BenchSettings, int> parse_bench_flags(int argc, const char* const* argv);

}  // namespace ringkv::tools
