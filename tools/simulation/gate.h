// What a stopped process (SIGSTOP) doesn't do until it goes on: everything that would happen in it waits here
// and then happens at once, in order.
#pragma once

#include <functional>
#include <utility>
#include <vector>

namespace ringkv::simulation {

class Gate {
 public:
  using Event = std::function<void()>;

  bool closed() const { return closed_; }

  // Now, or when the gate opens.
  void pass(Event event) {
    if (closed_) {
      waiting_.push_back(std::move(event));
    } else {
      event();
    }
  }

  void close() { closed_ = true; }
  void open() {
    closed_ = false;
    for (const Event& event : std::exchange(waiting_, {})) event();
  }

 private:
  bool closed_ = false;
  std::vector<Event> waiting_;
};

}  // namespace ringkv::simulation
