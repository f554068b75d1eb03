#include "tools/kvctl/member_progress.h"

#include <unistd.h>

#include <chrono>
#include <iostream>
#include <utility>

namespace ringkv::tools {
namespace {

constexpr std::chrono::seconds kLookEvery{1};
constexpr const char* kEmptyLine = "\r\x1b[K";

}  // namespace

MemberProgress::MemberProgress(std::string verb, Look look)
    : verb_(std::move(verb)), look_(std::move(look)), shown_(::isatty(STDERR_FILENO) != 0) {}

void MemberProgress::begin(const std::string& member, Place place) {
  stop_looking();
  if (!shown_) return;
  member_ = member;
  place_ = std::to_string(place.number) + " of " + std::to_string(place.of);
  show("");
  if (!look_) return;
  ended_ = false;
  looking_ = std::thread([this] { keep_looking(); });
}

void MemberProgress::end() {
  stop_looking();
  if (shown_) std::cerr << kEmptyLine << std::flush;
}

void MemberProgress::show(const std::string& done) const {
  std::cerr << kEmptyLine << verb_ << ": " << member_ << ", member " << place_
            << (done.empty() ? "" : ": " + done) << std::flush;
}

void MemberProgress::keep_looking() {
  std::unique_lock lock(mutex_);
  while (!ended_) {
    lock.unlock();
    const std::string done = look_(member_);
    lock.lock();
    if (ended_) return;
    show(done);
    woken_.wait_for(lock, kLookEvery, [this] { return ended_; });
  }
}

void MemberProgress::stop_looking() {
  if (!looking_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  woken_.notify_one();
  looking_.join();
}

}  // namespace ringkv::tools
