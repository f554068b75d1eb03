#include "tools/kvbench/compare/comparison.h"

#include <functional>
#include <iostream>
#include <vector>

#include "tools/kvbench/bench.h"
#include "tools/kvbench/compare/comparison_table.h"

namespace ringkv::tools {

bool compare(const BenchSettings& settings, bool by_second) {
  // Rather now than after minutes of the others.
  if (const Status there = Bench(settings).connect(); !there.ok()) {
    std::cerr << "kvbench: " << there.to_string() << '\n';
    return false;
  }
  constexpr auto kBuffered = Durability::kBuffered;
  constexpr auto kSynced = Durability::kSynced;
  const std::vector<std::function<Row()>> measurements = {
      [&] { return measure_bare_limit(settings, kBuffered, true); },
      [&] { return measure_bare_limit(settings, kSynced, false); },
      [&] { return measure_redis(settings); },
      [&] { return measure_etcd(settings); },
      [&] { return measure_rocksdb(settings); },
      [&] { return measure_ringkv(settings, kBuffered, true, by_second); },
      [&] { return measure_ringkv(settings, kSynced, false, by_second); },
  };
  std::vector<Row> rows;
  for (const auto& measure : measurements) {
    rows.push_back(measure());
    const Row& row = rows.back();
    std::cerr << "kvbench: " << row.system << (row.note.empty() ? " measured" : ": " + row.note) << std::endl;
  }
  std::cout << (settings.json ? comparison_json(settings, rows) : comparison_text(settings, rows))
            << std::flush;
  return rows.front().put && rows.back().put;
}

}  // namespace ringkv::tools
