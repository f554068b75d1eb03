// A real loop on loopback sockets whose events a test waits for.
#pragma once

#include <gtest/gtest.h>

#include <condition_variable>
#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "node/asio_runtime.h"

namespace ringkv {

inline constexpr std::chrono::seconds kPatience{20};

class IdleLoop final : public LoopHandler {
 public:
  void on_tick(Time) override {}
  void on_turn_end() override {}
};

// What happened on the loop, for a test thread to wait on.
class EventLog final : public TransportHandler {
 public:
  // On the loop; the default uses everything.
  std::function<size_t(ConnectionId, std::string_view)> use_bytes;

  void on_accepted(ConnectionId connection, Door door, const Address&) override {
    change([&] {
      accepted.push_back(connection);
      doors.push_back(door);
    });
  }
  void on_connected(ConnectionId connection) override {
    change([&] { connected.push_back(connection); });
  }
  size_t on_bytes(ConnectionId connection, std::string_view available) override {
    const size_t used = use_bytes ? use_bytes(connection, available) : available.size();
    change([&] { received[connection].append(available.substr(0, used)); });
    return used;
  }
  void on_closed(ConnectionId connection, const Status& why) override {
    change([&] { closed.insert({connection, why}); });
  }

  template <class Change>
  void change(const Change& make) {
    {
      const std::lock_guard lock(mutex_);
      make();
    }
    changed_.notify_all();
  }
  [[nodiscard]] bool wait_until(const std::function<bool()>& true_now) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kPatience, true_now);
  }

  // Under the lock: within change() and wait_until().
  std::vector<ConnectionId> accepted;
  std::vector<Door> doors;
  std::vector<ConnectionId> connected;
  std::map<ConnectionId, std::string> received;
  std::map<ConnectionId, Status> closed;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
};

class LoopFixture : public testing::Test {
 protected:
  LoopFixture() { runtime.set_transport_handler(events); }
  ~LoopFixture() override { runtime.stop(); }

  // Listens on a free port, then starts.
  void start() {
    Result<Address> listening = runtime.listen("127.0.0.1:0", Door::kClient);
    ASSERT_TRUE(listening.ok()) << listening.status().to_string();
    address = *listening;
    runtime.start(idle);
  }

  // Runs on the loop and returns its value here.
  template <class Function>
  auto on_loop(Function function) {
    using Value = decltype(function());
    auto task = std::make_shared<std::packaged_task<Value()>>(std::move(function));
    std::future<Value> value = task->get_future();
    runtime.post([task] { (*task)(); });
    return value.get();
  }

  EventLog events;
  IdleLoop idle;
  AsioRuntime runtime{"test", 1};
  Address address;
};

}  // namespace ringkv
