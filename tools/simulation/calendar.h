// What time it is: virtual time, and the days that pass in none of it while a process stands still. And when
// nodes took it for another time, so that nothing can be said of values that expire.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "base/time.h"

namespace ringkv::simulation {

class Calendar {
 public:
  // From now on it is so much later.
  void leap(Time now, Duration by) { leaps_.emplace_back(now, leapt(now) + by); }

  // Of virtual time, what has been leapt over by then.
  Duration leapt(Time time) const {
    const auto later = std::upper_bound(leaps_.begin(), leaps_.end(), std::pair(time, Duration::max()));
    return later == leaps_.begin() ? Duration::zero() : std::prev(later)->second;
  }
  Time date(Time time) const { return time + leapt(time); }

  // Some node's idea of the time was further off than the skew bound. In order of time.
  void note_wrong(Time from, Time until) {
    if (!wrong_.empty() && wrong_.back().second >= from) {
      wrong_.back().second = std::max(wrong_.back().second, until);
    } else {
      wrong_.emplace_back(from, until);
    }
  }
  bool wrong_between(Time from, Time until) const {
    const auto first = std::lower_bound(wrong_.begin(), wrong_.end(), from,
                                        [](const auto& span, Time time) { return span.second < time; });
    return first != wrong_.end() && first->first <= until;
  }

 private:
  std::vector<std::pair<Time, Duration>> leaps_;  // with the sum up to there
  std::vector<std::pair<Time, Time>> wrong_;      // in order, none meets another
};

}  // namespace ringkv::simulation
