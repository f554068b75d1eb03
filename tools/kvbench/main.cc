// kvbench: how many requests a second, and how long each takes.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "ringkv/client.h"
#include "tools/kvbench/closed_loop.h"
#include "tools/kvbench/report.h"
#include "tools/kvbench/settings.h"

namespace ringkv::tools {
namespace {

using Clock = std::chrono::steady_clock;

// Each client has a thread of its own: a few with many connections each leave the cores to the node.
constexpr uint32_t kClientsMax = 2;
constexpr std::chrono::seconds kWarmUp{1};
constexpr std::chrono::milliseconds kTick{50};
constexpr int kFailed = 3;

int fail(const Status& status) {
  std::cerr << "kvbench: " << status.to_string() << '\n';
  return kFailed;
}

class Bench {
 public:
  explicit Bench(const BenchSettings& settings) : settings_(settings) {}

  Status connect() {
    const uint32_t clients = std::min(settings_.connections, kClientsMax);
    for (uint32_t i = 0; i < clients; ++i) {
      ClientOptions options;
      options.nodes = settings_.nodes;
      options.connections = settings_.connections / clients + (i < settings_.connections % clients ? 1 : 0);
      const uint32_t requests = options.connections * settings_.depth;
      options.requests_max = std::max(options.requests_max, requests);
      Result<std::unique_ptr<Client>> client = Client::connect(options);
      if (!client.ok()) return client.status();
      clients_.push_back(*std::move(client));
      loops_.push_back(std::make_unique<ClosedLoop>(*clients_.back(), settings_, requests, i + 1));
    }
    return {};
  }

  // Each loop stores its part of the keys.
  Status load() {
    std::vector<Status> statuses(loops_.size());
    std::vector<std::thread> threads;
    for (size_t i = 0; i < loops_.size(); ++i) {
      const KeyRange part{.first = settings_.keys * i / loops_.size(),
                          .end = settings_.keys * (i + 1) / loops_.size()};
      threads.emplace_back([this, &statuses, i, part] { statuses[i] = loops_[i]->load(part); });
    }
    for (std::thread& thread : threads) thread.join();
    for (const Status& status : statuses) {
      if (!status.ok()) return status;
    }
    return {};
  }

  Measurement measure() {
    for (auto& loop : loops_) loop->start();
    run_until(Clock::now() + kWarmUp);
    const auto start = Clock::now();
    for (auto& loop : loops_) loop->count(true);
    run_until(start + settings_.duration);
    for (auto& loop : loops_) loop->count(false);
    Measurement measurement;
    measurement.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    for (auto& loop : loops_) {
      loop->stop();
      measurement.tally.add(loop->tally());
    }
    return measurement;
  }

 private:
  uint64_t completed() const {
    uint64_t sum = 0;
    for (const auto& loop : loops_) sum += loop->completed();
    return sum;
  }

  void run_until(Clock::time_point end) {
    auto shown = Clock::now();
    uint64_t before = completed();
    while (Clock::now() < end) {
      std::this_thread::sleep_for(std::min<Clock::duration>(kTick, end - Clock::now()));
      for (auto& loop : loops_) loop->replace_failed();
      if (!terminal_ || Clock::now() - shown < std::chrono::seconds(1)) continue;
      shown = Clock::now();
      std::cerr << completed() - before << " ops/s\n";
      before = completed();
    }
  }

  const BenchSettings settings_;
  const bool terminal_ = ::isatty(STDERR_FILENO) != 0;
  std::vector<std::unique_ptr<Client>> clients_;
  std::vector<std::unique_ptr<ClosedLoop>> loops_;  // after the clients: stopped before those are gone
};

int run(int argc, char** argv) {
  const auto parsed = parse_bench_flags(argc, argv);
  if (const int* exit_code = std::get_if<int>(&parsed)) return *exit_code;
  const auto& settings = std::get<BenchSettings>(parsed);
  Bench bench(settings);
  Status status = bench.connect();
  if (!status.ok()) return fail(status);
  if (settings.load && settings.workload != Workload::kPut) {
    std::cerr << "kvbench: storing " << settings.keys << " keys first\n";
    status = bench.load();
    if (!status.ok()) return fail(status);
  }
  const Measurement measurement = bench.measure();
  std::cout << (settings.json ? to_json(settings, measurement) : to_text(settings, measurement))
            << std::flush;
  return 0;
}

}  // namespace
}  // namespace ringkv::tools

int main(int argc, char** argv) { return ringkv::tools::run(argc, argv); }
