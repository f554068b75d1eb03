#include "tools/kvnode/signals.h"

#include <pthread.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <ctime>
#include <utility>

namespace ringkv::tools {
namespace {

constexpr unsigned kSecondsToEnd = 29;
constexpr int kEndOfThread = SIGUSR1;

sigset_t taken() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGALRM, kEndOfThread}) sigaddset(&set, signal);
  return set;
}

}  // namespace

Signals::Signals(std::function<void()> hang_up) : hang_up_(std::move(hang_up)) {
  std::signal(SIGPIPE, SIG_IGN);
  const sigset_t set = taken();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  thread_ = std::thread([this] { run(); });
}

Signals::~Signals() {
  ::pthread_kill(thread_.native_handle(), kEndOfThread);
  thread_.join();
}

void Signals::serve() {
  const std::lock_guard lock(mutex_);
  stage_ = Stage::kServing;
}

void Signals::wait_for_end() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return stage_ == Stage::kEnding; });
}

void Signals::end() {
  const std::lock_guard lock(mutex_);
  if (stage_ != Stage::kEnding) ::pthread_kill(thread_.native_handle(), SIGTERM);
}

void Signals::run() {
  const sigset_t set = taken();
  while (true) {
    int signal = 0;
    if (::sigwait(&set, &signal) != 0) continue;
    if (signal == kEndOfThread) return;
    if (signal == SIGHUP) {
      hang_up_();
    } else {
      on_end_signal(signal);
    }
  }
}

void Signals::on_end_signal(int signal) {
  const std::lock_guard lock(mutex_);
  switch (stage_) {
    case Stage::kOpening:
      ::_exit(0);
    case Stage::kServing:
      stage_ = Stage::kEnding;
      ::alarm(kSecondsToEnd);
      changed_.notify_all();
      return;
    case Stage::kEnding:
      if (signal == SIGALRM)
        std::fputs("kvnode: not all requests ended in time; ending without them\n", stderr);
      ::_exit(signal == SIGALRM ? 1 : 128 + signal);
  }
}

}  // namespace ringkv::tools
