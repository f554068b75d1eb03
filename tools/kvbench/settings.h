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

enum class Workload : uint8_t { kPut, kGet, kMixed };

std::string name_of(Workload workload);

struct BenchSettings {
  std::vector<std::string> nodes = {"127.0.0.1:7401"};
  Workload workload = Workload::kPut;
  uint32_t connections = 8;
  uint32_t depth = 8;  // requests under way on each connection
  uint64_t value_bytes = 100;
  uint64_t keys = 100'000;
  std::chrono::milliseconds duration{10'000};
  uint32_t w = 0;
  uint32_t r = 0;
  std::optional<Durability> durability;
  bool load = true;
  bool json = false;
};

// An exit code when there is nothing to do any more.
std::variant<BenchSettings, int> parse_bench_flags(int argc, const char* const* argv);

}  // namespace ringkv::tools
