// Virtual time. One queue for all that happens in a simulation: events run in order of time, those of one
// moment in order of insertion, so that a run depends on its seed and nothing else.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/time.h"

namespace ringkv::simulation {

class EventQueue {
 public:
  using Event = std::function<void()>;

  Time now() const { return now_; }

  void at(Time time, Event event) {
    CHECK(time >= now_);
    heap_.push_back({time, ++last_order_, slot_for(std::move(event))});
    std::push_heap(heap_.begin(), heap_.end());
  }
  void after(Duration delay, Event event) { at(now_ + delay, std::move(event)); }

  // Runs all that is due until then, also what those events add.
  void run_until(Time end) {
    while (!heap_.empty() && heap_.front().time <= end) run_next();
    now_ = std::max(now_, end);
  }

  uint64_t events_run() const { return events_run_; }

 private:
  struct Entry {
    Time time;
    uint64_t order;
    uint32_t slot;

    // The soonest on top of the heap.
    friend bool operator<(const Entry& a, const Entry& b) {
      return a.time != b.time ? a.time > b.time : a.order > b.order;
    }
  };

  // Events stay where they are while the heap moves their entries.
  uint32_t slot_for(Event event) {
    if (free_slots_.empty()) {
      slots_.push_back(std::move(event));
      return static_cast<uint32_t>(slots_.size() - 1);
    }
    const uint32_t slot = free_slots_.back();
    free_slots_.pop_back();
    slots_[slot] = std::move(event);
    return slot;
  }

  void run_next() {
    std::pop_heap(heap_.begin(), heap_.end());
    const Entry next = heap_.back();
    heap_.pop_back();
    now_ = next.time;
    const Event event = std::exchange(slots_[next.slot], nullptr);
    free_slots_.push_back(next.slot);
    ++events_run_;
    event();
  }

  Time now_{std::chrono::hours(1)};
  uint64_t last_order_ = 0;
  uint64_t events_run_ = 0;
  std::vector<Entry> heap_;
  std::vector<Event> slots_;
  std::vector<uint32_t> free_slots_;
};

}  // namespace ringkv::simulation
