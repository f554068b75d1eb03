// Signals, taken by one thread of their own: the threads of a node never see them.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace ringkv::tools {

// SIGTERM or SIGINT before serve(): the process ends with 0, for nothing was accepted yet. The first one
// after it makes wait_for_end() return; from then on there are 29 seconds and no second signal: either ends
// the process. SIGHUP calls `hang_up`.
class Signals {
 public:
  // Before any other thread is started: they inherit the blocked signals.
  explicit Signals(std::function<void()> hang_up);
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  void serve();
  void wait_for_end();
  // As if SIGTERM had come. From any thread.
  void end();

 private:
  enum class Stage { kOpening, kServing, kEnding };

  void run();
  void on_end_signal(int signal);

  const std::function<void()> hang_up_;
  std::mutex mutex_;  // guards stage_
  std::condition_variable changed_;
  Stage stage_ = Stage::kOpening;
  std::thread thread_;
};

}  // namespace ringkv::tools
