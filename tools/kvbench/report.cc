#include "tools/kvbench/report.h"

#include <cmath>
#include <cstdio>
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

std::string load_text(const BenchSettings& settings) {
  std::string text = std::to_string(settings.connections) + " connections, " +
                     std::to_string(settings.depth) + " under way on each, values of " +
                     human_bytes(settings.value_bytes) + ", keys " + name_of(settings.distribution);
  if (settings.rate_per_second)
    text += ", " + std::to_string(std::llround(*settings.rate_per_second)) + " a second";
  return text;
}

}  // namespace

std::string milliseconds_text(uint64_t microseconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f ms", static_cast<double>(microseconds) / 1000);
  return text;
}

std::string second_text(uint32_t second, const Tally& tally) {
  return std::to_string(second) + " s: " + std::to_string(tally.answered) + " ops, p99 " +
         milliseconds_text(tally.latency_us.quantile_us(0.99)) + ", errors " + std::to_string(tally.errors) +
         ", unknown " + std::to_string(tally.unknown) + (second == 1 ? " (not counted)" : "");
}

std::string to_json(const BenchSettings& settings, const Measurement& measurement) {
  const Tally& tally = measurement.tally;
  const LatencyHistogram& latency = tally.latency_us;
  const Json json = {{"ops_per_s", rounded(measurement.per_second())},
                     {"p50_us", latency.quantile_us(0.5)},
                     {"p95_us", latency.quantile_us(0.95)},
                     {"p99_us", latency.quantile_us(0.99)},
                     {"p999_us", latency.quantile_us(0.999)},
                     {"max_us", latency.max_us()},
                     {"errors", tally.errors},
                     {"unknown", tally.unknown},
                     {"misses", tally.misses},
                     {"unsent", tally.unsent},
                     {"ops", tally.answered},
                     {"workload", name_of(settings.workload)},
                     {"node", settings.nodes},
                     {"connections", settings.connections},
                     {"depth", settings.depth},
                     {"value_size", settings.value_bytes},
                     {"keys", settings.keys},
                     {"duration_s", static_cast<double>(settings.duration.count()) / 1000},
                     {"rate", settings.rate_per_second ? Json(*settings.rate_per_second) : Json(nullptr)},
                     {"distribution", name_of(settings.distribution)},
                     {"w", count_or_null(settings.w)},
                     {"r", count_or_null(settings.r)},
                     {"durability", durability_or_null(settings.durability)}};
  return json.dump() + '\n';
}

std::string to_text(const BenchSettings& settings, const Measurement& measurement) {
  const Tally& tally = measurement.tally;
  const LatencyHistogram& latency = tally.latency_us;
  const auto percentile = [&latency](double share) { return std::to_string(latency.quantile_us(share)); };
  std::string text =
      name_of(settings.workload) + ": " + std::to_string(std::llround(measurement.per_second())) +
      " ops/s with " + load_text(settings) + "\nlatency in µs: p50 " + percentile(0.5) + ", p95 " +
      percentile(0.95) + ", p99 " + percentile(0.99) + ", p99.9 " + percentile(0.999) + ", max " +
      std::to_string(latency.max_us()) + "\nerrors " + std::to_string(tally.errors) + ", unknown outcomes " +
      std::to_string(tally.unknown) + ", misses " + std::to_string(tally.misses) + '\n';
  if (tally.unsent > 0) {
    text += std::to_string(tally.unsent) +
            " requests were due and couldn't be sent: the rate is more than this cluster takes with so many "
            "under way. "
            "Their waiting is in the latencies.\n";
  }
  if (!tally.last_error.empty()) text += "last error: " + tally.last_error + '\n';
  return text;
}

}  // namespace ringkv::tools
