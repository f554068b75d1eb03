// The numbers of a coordinator's requests under way, and when each of them wants to be looked at again.
//
// An answer may come late, to the next life of the node that asked. So numbers begin at a place that is drawn
// with the boot: were they counted from one, it would pass for the answer to another question.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "replication/messages.h"

namespace ringkv {

class RequestNumbers {
 public:
  explicit RequestNumbers(Boot boot) : last_(boot.value * 0x9E3779B97F4A7C15ULL) {}

  // Without the bit of what converges in the background.
  RequestNumber next() {
    last_ = (last_ + 1) & ~kBackground;
    if (last_ == 0) ++last_;  // 0 is nobody's
    return last_;
  }

  void wake(RequestNumber request, Time at) {
    alarms_.push_back({at, request});
    std::push_heap(alarms_.begin(), alarms_.end(), std::greater<>());
  }

  // The requests whose time has come, soonest first. They may have been answered long before.
  std::vector<RequestNumber> take_due(Time now) {
    std::vector<RequestNumber> due;
    while (!alarms_.empty() && alarms_.front().at <= now) {
      due.push_back(alarms_.front().request);
      std::pop_heap(alarms_.begin(), alarms_.end(), std::greater<>());
      alarms_.pop_back();
    }
    return due;
  }

  size_t alarms() const { return alarms_.size(); }

  // Requests are answered long before their deadlines; what they leave behind here is swept now and then.
  template <class Predicate>
  void forget_alarms_unless(Predicate is_under_way) {
    std::erase_if(alarms_, [&](const Alarm& alarm) { return !is_under_way(alarm.request); });
    std::make_heap(alarms_.begin(), alarms_.end(), std::greater<>());
  }

 private:
  struct Alarm {
    Time at;
    RequestNumber request = 0;

    friend bool operator>(const Alarm& a, const Alarm& b) { return a.at > b.at; }
  };

  RequestNumber last_;
  std::vector<Alarm> alarms_;  // a heap, soonest first
};

// Of requests kept by number: in the order in which they began, the same in every run of a seed.
template <class Requests>
std::vector<RequestNumber> sorted_numbers(const Requests& requests) {
  std::vector<RequestNumber> numbers;
  numbers.reserve(requests.size());
  for (const auto& [number, request] : requests) numbers.push_back(number);
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

}  // namespace ringkv
