// Sends requests through one client and counts how they end: either as many as it may have under way, always
// (a closed loop), or at a fixed rate, each at its time.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <string_view>

#include "ringkv/store.h"
#include "tools/kvbench/key_choice.h"
#include "tools/kvbench/key_space.h"
#include "tools/kvbench/operation_mix.h"
#include "tools/kvbench/pace.h"
#include "tools/kvbench/settings.h"
#include "tools/kvbench/tally.h"

namespace ringkv::tools {

struct KeyRange {
  uint64_t first = 0;
  uint64_t end = 0;
};

// Its calls come from one thread; answers arrive on the store's.
class LoadGenerator {
 public:
  using Clock = std::chrono::steady_clock;

  // What ends after `from` counts, and nothing is sent after `until`. However late that ends: a stall at the
  // end isn't hidden either.
  struct Window {
    Clock::time_point from;
    Clock::time_point until;
  };

  // `requests` are under way at once, at most. The key space is that of all generators.
  LoadGenerator(Store& store, KeySpace& keys, const BenchSettings& settings, uint32_t requests,
                uint64_t seed);
  ~LoadGenerator() { stop(); }

  // Puts each key of the range once and returns when all are there. The first error ends it.
  Status load(const KeyRange& keys);

  // Nothing as a pace: a closed loop.
  void start(const Window& window, const std::optional<Pace>& pace, bool by_second);
  // Sends what is due and not under way: all that stands at a pace, and what follows a request that failed,
  // which from its callback could spin.
  void top_up();
  // When the next request is to start; nothing: when another one ends.
  std::optional<Clock::time_point> next_due() const;
  // Waits for those under way.
  void stop();

  // What ended since the last call; empty unless started `by_second`.
  Tally take_second();
  Tally tally() const;

 private:
  struct Request {
    OperationKind kind = OperationKind::kUpdate;
    uint64_t key = 0;
    uint64_t value_offset = 0;
    Clock::time_point start;  // or when it was to start
  };

  void send_new();
  // With the lock. Nothing when no more are wanted now.
  std::optional<Request> next();
  std::optional<Request> next_to_load();
  // Without it.
  void send(const Request& request);
  void send_get(const Request& request);
  void send_put(const Request& request, const PutOptions& options, bool missed);
  void on_end(const Request& request, const Status& status, bool missed);
  // With the lock.
  void record(const Request& request, const Status& status, bool missed);
  void record_unsent();

  Store& store_;
  KeySpace& keys_;
  const BenchSettings settings_;
  const OperationMix mix_;
  const uint32_t requests_;
  PutOptions put_options_;
  GetOptions get_options_;
  std::string random_bytes_;  // each value is a window of these

  mutable std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  std::mt19937_64 random_;
  KeyChoice choice_;
  bool running_ = false;
  Window window_;
  std::optional<Pace> pace_;
  uint64_t started_ = 0;
  uint32_t under_way_ = 0;
  std::optional<KeyRange> to_load_;
  Status load_failure_;
  Tally tally_;
  std::optional<Tally> second_;
};

}  // namespace ringkv::tools
