// Which keys there are: those that were there before, and those that this run adds behind them, whose answers
// come in any order.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <set>

namespace ringkv::tools {

// Any thread.
class KeySpace {
 public:
  explicit KeySpace(uint64_t keys) : next_(keys), readable_(keys) {}

  // A key that nobody has stored.
  uint64_t insert() { return next_.fetch_add(1, std::memory_order_relaxed); }

  // Its put has ended. However it did: a reader that misses it is counted.
  void inserted(uint64_t key) {
    const std::lock_guard lock(mutex_);
    ended_.insert(key);
    uint64_t readable = readable_.load(std::memory_order_relaxed);
    for (auto first = ended_.begin(); first != ended_.end() && *first == readable; ++readable)
      first = ended_.erase(first);
    readable_.store(readable, std::memory_order_release);
  }

  // Keys below this one are there; at least 1.
  uint64_t readable() const { return readable_.load(std::memory_order_acquire); }

 private:
  std::atomic<uint64_t> next_;
  std::atomic<uint64_t> readable_;
  std::mutex mutex_;
  std::set<uint64_t> ended_;  // above readable_
};

}  // namespace ringkv::tools
