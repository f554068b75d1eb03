// Puts that came while the ring isn't open: they wait until its voters have agreed that it is, and are
// stamped under that epoch. Joining and opening compete for one register, so no put can fall between.
//
// Loop thread.
#pragma once

#include <algorithm>
#include <deque>
#include <utility>

#include "base/client_message.h"
#include "base/time.h"
#include "replication/admission.h"
#include "replication/messages.h"

namespace ringkv {

class FirstPuts {
 public:
  struct Waiting {
    Requester requester;
    ClientPut put;
    Time deadline;
  };

  // OVERLOADED: too many wait already.
  Status add(Waiting waiting) {
    const size_t bytes = bytes_of(waiting.put);
    const Status room = check_room({.requests = waiting_.size(),
                                    .requests_max = kWaitingMax,
                                    .held_bytes = held_bytes_,
                                    .held_bytes_max = kHeldBytesMax},
                                   bytes);
    if (!room.ok()) return room;
    held_bytes_ += bytes;
    waiting_.push_back(std::move(waiting));
    return {};
  }

  std::deque<Waiting> take() {
    held_bytes_ = 0;
    return std::exchange(waiting_, {});
  }

  // Those whose time is up.
  std::deque<Waiting> take_expired(Time now) {
    std::deque<Waiting> expired;
    if (std::none_of(waiting_.begin(), waiting_.end(),
                     [&](const Waiting& one) { return now >= one.deadline; }))
      return expired;
    for (Waiting& one : take()) {
      if (now >= one.deadline) {
        expired.push_back(std::move(one));
      } else {
        held_bytes_ += bytes_of(one.put);
        waiting_.push_back(std::move(one));
      }
    }
    return expired;
  }

  bool empty() const { return waiting_.empty(); }

 private:
  static constexpr size_t kWaitingMax = 10'000;
  static constexpr size_t kHeldBytesMax = size_t{64} << 20;

  std::deque<Waiting> waiting_;  // in order of arrival
  size_t held_bytes_ = 0;
};

}  // namespace ringkv
