// Keeps many puts under way and knows up to which line all of them were acknowledged.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>

#include "ringkv/store.h"
#include "tools/kvctl/json_lines.h"

namespace ringkv::tools {

struct LoaderLimits {
  size_t entries_max = 256;                 // under way at once
  uint64_t bytes_max = uint64_t{64} << 20;  // so are their values
  uint32_t tries_max = 5;  // of one entry that a node couldn't take, or whose outcome is unknown
  std::chrono::milliseconds retry_after{200};
};

// One line of the file, and where the next begins.
struct Position {
  uint64_t line = 0;
  uint64_t offset = 0;

  friend bool operator==(const Position&, const Position&) = default;
};

// add() is called from one thread; acknowledgements arrive on the store's.
class Loader {
 public:
  // An entry that can't be stored is told to `refused`, from the thread of add() and finish().
  using Refused = std::function<void(uint64_t line, const Status& why)>;

  Loader(Store& store, PutOptions options, LoaderLimits limits, Refused refused);
  ~Loader();

  // Waits while too much is under way, and while an earlier entry of the same key is: the later one must win.
  // An error ends the load: what is under way is still waited for.
  Status add(const Position& position, LoadEntry entry);

  // A line without an entry: it counts as acknowledged.
  void skip(const Position& position);

  // Waits for everything under way.
  Status finish();

  // All lines up to this one were acknowledged, or refused for good.
  Position acknowledged() const;
  uint64_t stored() const;

 private:
  struct Job {
    Position position;
    LoadEntry entry;
    size_t next_value = 0;
    uint32_t tries = 0;
    uint64_t bytes = 0;
  };
  using JobPointer = std::shared_ptr<Job>;

  void submit(const JobPointer& job);
  void on_answer(const JobPointer& job, const Status& status);
  void settle(const Position& position);
  // Tells refusals and sends retries off.
  void run_errands(std::unique_lock<std::mutex>& lock);
  template <class Condition>
  void wait_until(std::unique_lock<std::mutex>& lock, Condition condition);

  Store& store_;
  const PutOptions options_;
  const LoaderLimits limits_;
  const Refused refused_;

  mutable std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  std::unordered_set<std::string> keys_;  // under way
  uint64_t bytes_ = 0;
  std::map<uint64_t, std::optional<Position>> lines_;  // not yet below acknowledged_; with a position: done
  std::deque<JobPointer> retries_;
  std::deque<std::pair<uint64_t, Status>> refusals_;
  Status failure_;
  Position acknowledged_;
  uint64_t stored_ = 0;
};

}  // namespace ringkv::tools
