#include "tools/kvbench/report.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "ringkv/text.h"

namespace ringkv::tools {
namespace {

using Json = nlohmann::ordered_json;

Json count_or_null(uint32_t count) { return count == 0 ? Json(nullptr) : Json(count); }

Json durability_or_null(const std::optional<Durability>& durability) {
  if (!durability) return nullptr;
  return *durability == Durability::kSynced ? "synced" : "buffered";
}

double rounded(double value) { return std::round(value * 10) / 10; }

}  // namespace

std::string to_json(const BenchSettings& settings, const Measurement& measurement) {
  const LatencyHistogram& latency = measurement.tally.latency_us;
  const Json json = {{"ops_per_s", rounded(measurement.per_second())},
                     {"p50_us", latency.quantile_us(0.5)},
                     {"p95_us", latency.quantile_us(0.95)},
                     {"p99_us", latency.quantile_us(0.99)},
                     {"p999_us", latency.quantile_us(0.999)},
                     {"max_us", latency.max_us()},
                     {"errors", measurement.tally.errors},
                     {"unknown", measurement.tally.unknown},
                     {"misses", measurement.tally.misses},
                     {"ops", latency.count()},
                     {"workload", name_of(settings.workload)},
                     {"node", settings.nodes},
                     {"connections", settings.connections},
                     {"depth", settings.depth},
                     {"value_size", settings.value_bytes},
                     {"keys", settings.keys},
                     {"duration_s", static_cast<double>(settings.duration.count()) / 1000},
                     {"distribution", "uniform"},
                     {"w", count_or_null(settings.w)},
                     {"r", count_or_null(settings.r)},
                     {"durability", durability_or_null(settings.durability)}};
  return json.dump() + '\n';
}

std::string to_text(const BenchSettings& settings, const Measurement& measurement) {
  const LatencyHistogram& latency = measurement.tally.latency_us;
  const auto percentile = [&latency](double share) { return std::to_string(latency.quantile_us(share)); };
  std::string text =
      name_of(settings.workload) + ": " + std::to_string(std::llround(measurement.per_second())) +
      " ops/s with " + std::to_string(settings.connections) + " connections, " +
      std::to_string(settings.depth) + " under way on each, values of " + human_bytes(settings.value_bytes) +
      "\nlatency in µs: p50 " + percentile(0.5) + ", p95 " + percentile(0.95) + ", p99 " + percentile(0.99) +
      ", p99.9 " + percentile(0.999) + ", max " + std::to_string(latency.max_us()) + "\nerrors " +
      std::to_string(measurement.tally.errors) + ", unknown outcomes " +
      std::to_string(measurement.tally.unknown) + ", misses " + std::to_string(measurement.tally.misses) +
      '\n';
  if (!measurement.tally.last_error.empty()) text += "last error: " + measurement.tally.last_error + '\n';
  return text;
}

}  // namespace ringkv::tools
