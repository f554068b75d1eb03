// kvbench: how many requests a second, and how long each takes.
#include <unistd.h>

#include <iostream>

#include "tools/kvbench/bench.h"
#include "tools/kvbench/compare/comparison.h"
#include "tools/kvbench/report.h"
#include "tools/kvbench/settings.h"

namespace ringkv::tools {
namespace {

constexpr int kFailed = 3;

int run(int argc, char** argv) {
  const auto parsed = parse_bench_flags(argc, argv);
  if (const int* exit_code = std::get_if<int>(&parsed)) return *exit_code;
  const auto& settings = std::get<BenchSettings>(parsed);
  const bool by_second = ::isatty(STDERR_FILENO) != 0;
  if (settings.compare) return compare(settings, by_second) ? 0 : kFailed;
  const Result<Measurement> measurement = run_bench(settings, by_second);
  if (!measurement.ok()) {
    std::cerr << "kvbench: " << measurement.status().to_string() << '\n';
    return kFailed;
  }
  std::cout << (settings.json ? to_json(settings, *measurement) : to_text(settings, *measurement))
            << std::flush;
  return 0;
}

}  // namespace
}  // namespace ringkv::tools

int main(int argc, char** argv) { return ringkv::tools::run(argc, argv); }
