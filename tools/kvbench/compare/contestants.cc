#include "tools/kvbench/compare/contestants.h"

#include "tools/kvbench/bench.h"
#include "tools/kvbench/compare/bare_program.h"

namespace ringkv::tools {

Figures figures_of(const Measurement& measurement) {
  const Tally& tally = measurement.tally;
  return {.ops_per_s = measurement.per_second(),
          .p50_us = tally.latency_us.quantile_us(0.5),
          .p99_us = tally.latency_us.quantile_us(0.99),
          .failed = tally.errors + tally.unknown};
}

std::string on_two_of_three(Durability durability) {
  return durability == Durability::kSynced ? "synced to disk on 2 of 3" : "in the log on 2 of 3";
}

std::string named(const std::string& system, Durability durability) {
  return system + (durability == Durability::kSynced ? ", synced" : ", buffered");
}

Row measure_bare_limit(const BenchSettings& settings, Durability durability, bool gets) {
  Row row{.system = named("bare limit", durability), .acknowledged_means = on_two_of_three(durability)};
  BenchSettings with = settings;
  with.durability = durability;
  row.note = run_bare_program("run", with, gets, row).message();
  return row;
}

Row measure_rocksdb(const BenchSettings& settings) {
  Row row{.system = "RocksDB in one process", .acknowledged_means = "in one log"};
  BenchSettings with = settings;
  with.durability = Durability::kBuffered;
  row.note = run_bare_program("rocksdb", with, true, row).message();
  return row;
}

Row measure_ringkv(const BenchSettings& settings, Durability durability, bool gets, bool by_second) {
  Row row{.system = named("ringkv", durability), .acknowledged_means = on_two_of_three(durability)};
  BenchSettings with = settings;
  with.durability = durability;
  const auto run = [&](Workload workload) -> std::optional<Figures> {
    with.workload = workload;
    const Result<Measurement> measurement = run_bench(with, by_second);
    if (measurement.ok()) return figures_of(*measurement);
    row.note = measurement.status().message();
    return std::nullopt;
  };
  row.put = run(Workload::kPut);
  if (gets && row.put) row.get = run(Workload::kGet);
  return row;
}

}  // namespace ringkv::tools
