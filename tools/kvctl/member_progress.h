// Which member is at work, and what it has done so far: one line on standard error, where that is a terminal.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace ringkv::tools {

class MemberProgress {
 public:
  // What a member has done since it was first asked; called every second, from a thread of its own.
  using Look = std::function<std::string(const std::string& member)>;

  MemberProgress() = default;  // shows nothing
  explicit MemberProgress(std::string verb, Look look = {});
  ~MemberProgress() { end(); }
  MemberProgress(const MemberProgress&) = delete;
  MemberProgress& operator=(const MemberProgress&) = delete;

  struct Place {
    size_t number = 0;  // from 1
    size_t of = 0;
  };
  void begin(const std::string& member, Place place);
  // Leaves an empty line. Before anything else is written to the terminal.
  void end();

 private:
  void show(const std::string& done) const;
  void keep_looking();
  void stop_looking();

  const std::string verb_;
  const Look look_;
  const bool shown_ = false;
  std::string member_;  // fixed while the thread runs
  std::string place_;
  std::thread looking_;
  std::mutex mutex_;  // guards ended_
  std::condition_variable woken_;
  bool ended_ = false;
};

}  // namespace ringkv::tools
