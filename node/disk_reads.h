// Reads of the store that must not hold up the loop: few at a time are handed over to workers, so that one
// whose time has run out before its turn costs nothing, and those for clients before those in the background.
//
// Loop thread.
#pragma once

#include <deque>
#include <functional>
#include <utility>

#include "base/time.h"
#include "storage/engine.h"

namespace ringkv {

class DiskReads {
 public:
  // Runs the first on a worker, then the second on the loop.
  using Run = std::function<void(std::function<void(Engine&)>, std::function<void()>)>;

  explicit DiskReads(Run run) : run_(std::move(run)) {}

  struct Read {
    std::function<void(Engine&)> work;
    std::function<void(bool in_time)> then;  // in_time: the work was done
  };
  void add(Time deadline, Time now, Read read) {
    waiting_.push_back({deadline, std::move(read)});
    start(now);
  }
  void add_in_background(Read read, Time now) {
    background_.push_back(std::move(read));
    start(now);
  }

  void tick(Time now) {
    if (!waiting_.empty() && now >= waiting_.front().deadline) start(now);
  }
  void clear() {
    waiting_.clear();
    background_.clear();
    closed_ = true;
  }

 private:
  // Enough to keep the workers busy; one is left to clients.
  static constexpr size_t kAtOnce = 8;
  static constexpr size_t kInBackgroundAtOnce = 2;

  struct Waiting {
    Time deadline;
    Read read;
  };

  void start(Time now) {
    while (!waiting_.empty() && under_way_ < kAtOnce) {
      Waiting next = std::move(waiting_.front());
      waiting_.pop_front();
      if (now >= next.deadline) {
        next.read.then(false);
      } else {
        run(std::move(next.read), under_way_, now);
      }
    }
    while (!background_.empty() && background_under_way_ < kInBackgroundAtOnce) {
      Read next = std::move(background_.front());
      background_.pop_front();
      run(std::move(next), background_under_way_, now);
    }
  }

  void run(Read read, size_t& under_way, Time now) {
    ++under_way;
    run_(std::move(read.work), [this, now, &under_way, then = std::move(read.then)] {
      --under_way;
      if (closed_) return;
      then(true);
      start(now);
    });
  }

  const Run run_;
  std::deque<Waiting> waiting_;
  std::deque<Read> background_;
  size_t under_way_ = 0;
  size_t background_under_way_ = 0;
  bool closed_ = false;
};

}  // namespace ringkv
