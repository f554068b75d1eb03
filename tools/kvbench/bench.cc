#include "tools/kvbench/bench.h"

#include <algorithm>
#include <iostream>
#include <thread>

namespace ringkv::tools {
namespace {

using Clock = LoadGenerator::Clock;

// Each client has a thread of its own: a few with many connections each leave the cores to the node.
constexpr uint32_t kClientsMax = 2;
constexpr std::chrono::seconds kWarmUp{1};
constexpr std::chrono::milliseconds kTick{50};

}  // namespace

Status Bench::connect() {
  const uint32_t clients = std::min(settings_.connections, kClientsMax);
  for (uint32_t i = 0; i < clients; ++i) {
    ClientOptions options;
    options.nodes = settings_.nodes;
    options.connections = settings_.connections / clients + (i < settings_.connections % clients ? 1 : 0);
    const uint32_t requests = options.connections * settings_.depth;
    options.requests_max = std::max(options.requests_max, requests);
    Result<std::unique_ptr<Client>> client = Client::connect(options);
    if (!client.ok())
      return {client.status().code(),
              client.status().message() + "; tools/cluster up starts nodes, --node says where others are"};
    clients_.push_back(*std::move(client));
    generators_.push_back(
        std::make_unique<LoadGenerator>(*clients_.back(), keys_, settings_, requests, i + 1));
  }
  return {};
}

Status Bench::load() {
  std::vector<Status> statuses(generators_.size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < generators_.size(); ++i) {
    const KeyRange part{.first = settings_.keys * i / generators_.size(),
                        .end = settings_.keys * (i + 1) / generators_.size()};
    threads.emplace_back([this, &statuses, i, part] { statuses[i] = generators_[i]->load(part); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Status& status : statuses) {
    if (!status.ok()) return status;
  }
  return {};
}

Measurement Bench::measure(bool by_second) {
  const Clock::time_point start = Clock::now();
  const LoadGenerator::Window window{.from = start + kWarmUp, .until = start + kWarmUp + settings_.duration};
  for (size_t i = 0; i < generators_.size(); ++i) generators_[i]->start(window, pace_of(i, start), by_second);
  run_until(window.until, by_second);
  Measurement measurement;
  measurement.seconds = std::chrono::duration<double>(settings_.duration).count();
  for (auto& generator : generators_) {
    generator->stop();
    measurement.tally.add(generator->tally());
  }
  return measurement;
}

std::optional<Pace> Bench::pace_of(size_t generator, Clock::time_point start) const {
  if (!settings_.rate_per_second) return std::nullopt;
  return Pace(*settings_.rate_per_second, start, static_cast<uint32_t>(generators_.size()),
              static_cast<uint32_t>(generator));
}

void Bench::run_until(Clock::time_point end, bool by_second) {
  Clock::time_point next_second = Clock::now() + std::chrono::seconds(1);
  while (Clock::now() < end) {
    std::this_thread::sleep_until(std::min(next_turn(), end));
    for (auto& generator : generators_) generator->top_up();
    if (!by_second || Clock::now() < next_second) continue;
    next_second += std::chrono::seconds(1);
    show_second();
  }
}

Clock::time_point Bench::next_turn() const {
  Clock::time_point turn = Clock::now() + kTick;
  for (const auto& generator : generators_) {
    if (const auto due = generator->next_due()) turn = std::min(turn, *due);
  }
  return turn;
}

void Bench::show_second() {
  Tally tally;
  for (auto& generator : generators_) tally.add(generator->take_second());
  std::cerr << second_text(++seconds_shown_, tally) << '\n';
}

Result<Measurement> run_bench(const BenchSettings& settings, bool by_second) {
  Bench bench(settings);
  if (const Status status = bench.connect(); !status.ok()) return status;
  if (settings.load && reads(mix_of(settings.workload))) {
    std::cerr << "kvbench: storing " << settings.keys << " keys first\n";
    if (const Status status = bench.load(); !status.ok()) return status;
  }
  return bench.measure(by_second);
}

}  // namespace ringkv::tools
