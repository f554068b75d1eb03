// What rounds cost between two nodes on RocksDB in one process, messages handed over at once and counted as
// about so many bytes: ninja -C build/release rounds_bench && build/release/bin/rounds_bench [KEYS [BYTES]]
//
// Targets, with 1,000,000 keys of 1 KiB: equal nodes within 5 ms and 1 KB; one differing key within 200 ms
// and 64 KiB, 100 scattered ones within 100 times that; 10,000 missing keys, and an emptied node, at 50 MB/s.
// Those that are scattered cost a look-up each in all files of the source: half of that speed is seen, with
// both nodes on one thread.
// Half of the 200 ms is the pause before the second look. What loading leaves for compactions to do is done
// before a round is measured; what a round itself gives them to do is in its figures.
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>

#include "storage/rocksdb_engine.h"
#include "tests/replication/round_scale.h"
#include "tests/storage/temp_directory.h"

namespace ringkv {
namespace {

using Clock = std::chrono::steady_clock;

class RoundsBench {
 public:
  RoundsBench(uint64_t keys, size_t value_bytes)
      : keys_(keys),
        value_bytes_(value_bytes),
        scale_({.nodes = 2,
                .round_interval = Duration(),
                .partitions = kPartitionsDefault,
                .open_engine = [this](uint64_t number) { return open(number); }}) {}

  void run() {
    const Clock::time_point start = Clock::now();
    scale_.load(0, keys_, value_bytes_, {1, 2});
    settle();
    std::printf("%llu keys of %zu bytes loaded on both in %.1f s; largest resident size so far: %ld MiB\n",
                static_cast<unsigned long long>(keys_), value_bytes_, seconds_since(start),
                usage().ru_maxrss / 1024);
    measure("first, equal");
    measure("equal");
    scale_.load(keys_ / 2, 1, value_bytes_, {1});
    measure("1 key differs");
    for (uint64_t i = 0; i < 100; ++i) scale_.load(i * (keys_ / 100), 1, value_bytes_, {1});
    measure("100 keys differ");
    scale_.load(keys_, 10'000, value_bytes_, {1});
    settle();
    measure("10,000 missing, scattered");
    scale_.load_into(kPartitionsDefault / 100, keys_ + 10'000, 10'000, value_bytes_, {1});
    settle();
    measure("10,000 missing, together");
    empty_second();
    measure("emptied node");
    measure("equal again");
    std::printf("largest resident size: %ld MiB\n", usage().ru_maxrss / 1024);
  }

 private:
  static constexpr double kSettleSecondsMax = 120;

  std::unique_ptr<Engine> open(uint64_t number) {
    Result<OpenedEngine> opened =
        open_rocksdb({.path = directory_.path() / std::to_string(number), .memory_bytes = 64ULL << 20});
    if (!opened.ok()) {
      std::fprintf(stderr, "%s\n", opened.status().to_string().c_str());
      std::exit(1);
    }
    return std::move(opened->engine);
  }

  // Compactions go by the real clock: there is nothing else to wait by. Within a bound.
  void settle() {
    const Clock::time_point start = Clock::now();
    const auto is_busy = [](const RoundFixture::Node& node) {
      const std::map<std::string, uint64_t> figures = node.engine->statistics();
      return figures.at("compactions_running") != 0 || figures.at("compaction_pending") != 0 ||
             figures.at("flushes_running") != 0 || figures.at("flush_pending") != 0;
    };
    while (is_busy(scale_.cluster.node(1)) || is_busy(scale_.cluster.node(2))) {
      if (seconds_since(start) > kSettleSecondsMax) {
        std::fprintf(stderr, "compactions of what was loaded don't end in %.0f s\n", kSettleSecondsMax);
        std::exit(1);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }

  void empty_second() {
    scale_.cluster.kill(2);
    std::filesystem::remove_all(directory_.path() / "2");
    scale_.cluster.start(2);
  }

  static double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  }

  static rusage usage() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage;
  }
  // Of all threads: what a busy machine doesn't lengthen.
  static double cpu_seconds() {
    const rusage used = usage();
    return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
  }

  // The nodes' clock goes as the real one does.
  void measure(const char* what) {
    RoundFixture& cluster = scale_.cluster;
    scale_.letters = scale_.bytes = 0;
    const double cpu_before = cpu_seconds();
    const Clock::time_point start = Clock::now();
    const Time began = cluster.now;
    const uint64_t request = cluster.repair(2);
    for (cluster.run(); !cluster.answers.contains(request); cluster.run()) {
      const Duration passed =
          std::chrono::duration_cast<Duration>(Clock::now() - start) - (cluster.now - began);
      cluster.pass(passed);
      if (passed < std::chrono::milliseconds(1)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    const double seconds = seconds_since(start);
    const auto& report = std::get<RepairReport>(cluster.answers[request].body);
    std::printf("%-26s %8.1f ms  %8.1f ms CPU  %6zu letters %10zu bytes  %8llu keys  %7.1f MB/s%s\n", what,
                seconds * 1e3, (cpu_seconds() - cpu_before) * 1e3, scale_.letters, scale_.bytes,
                static_cast<unsigned long long>(report.keys_sent),
                static_cast<double>(report.bytes_sent) / seconds / 1e6,
                report.partial ? report.problems.front().c_str() : "");
  }

  const uint64_t keys_;
  const size_t value_bytes_;
  TempDirectory directory_;
  RoundScale scale_;
};

}  // namespace
}  // namespace ringkv

int main(int argc, char** argv) {
  const uint64_t keys = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000'000;
  const size_t value_bytes = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1024;
  ringkv::RoundsBench(keys, value_bytes).run();
  return 0;
}
