// Keeps a fixed number of requests under way through one client and counts how they end.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <string_view>

#include "ringkv/latency_histogram.h"
#include "ringkv/store.h"
#include "tools/kvbench/settings.h"

namespace ringkv::tools {

struct Tally {
  LatencyHistogram latency_us;
  uint64_t errors = 0;
  uint64_t unknown = 0;
  uint64_t misses = 0;
  std::string last_error;

  void add(const Tally& other);
};

struct KeyRange {
  uint64_t first = 0;
  uint64_t end = 0;
};

// Its calls come from one thread; answers arrive on the store's.
class ClosedLoop {
 public:
  // `requests` are under way at once.
  ClosedLoop(Store& store, const BenchSettings& settings, uint32_t requests, uint64_t seed);
  ~ClosedLoop() { stop(); }

  // Puts each key of the range once and returns when all are there. The first error ends it.
  Status load(const KeyRange& keys);

  void start();
  // Answers from now on count, or don't.
  void count(bool on);
  // Requests that failed are only replaced here, to be called now and then: from their callbacks that could
  // spin.
  void replace_failed();
  // Waits for those under way.
  void stop();

  // Those that counted so far.
  uint64_t completed() const;
  Tally tally() const;

 private:
  using Clock = std::chrono::steady_clock;

  struct Request {
    bool put = true;
    uint64_t key = 0;
    uint64_t value_offset = 0;
    Clock::time_point start;
  };

  void send_new(uint32_t requests);
  // With the lock. Nothing when no more are wanted.
  std::optional<Request> next();
  // Without it.
  void send(const Request& request);
  void on_end(const Request& request, const Status& status, bool missed);
  // With the lock.
  void record(const Request& request, const Status& status, bool missed);

  Store& store_;
  const BenchSettings settings_;
  const uint32_t requests_;
  PutOptions put_options_;
  GetOptions get_options_;
  std::string random_bytes_;  // each value is a window of these

  mutable std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  std::mt19937_64 random_;
  bool running_ = false;
  bool counting_ = false;
  uint32_t under_way_ = 0;
  uint32_t failed_ = 0;
  std::optional<KeyRange> to_load_;
  Status load_failure_;
  Tally tally_;
};

}  // namespace ringkv::tools
