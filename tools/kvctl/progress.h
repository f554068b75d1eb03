// How far a long command has come, on standard error: a bar on a terminal, else a line every few seconds.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace ringkv::tools {

struct Amount {
  uint64_t lines = 0;
  uint64_t bytes = 0;
};

class Progress {
 public:
  // `bytes_total` 0: unknown.
  explicit Progress(std::string verb, uint64_t bytes_total = 0);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Cheap to call for each line.
  void update(const Amount& done);

  // "61234 lines, 48.1 MiB in 3.2 s: 19135 lines/s"
  std::string summary(const Amount& done) const;

  // Before anything else is written to the terminal.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  const std::string verb_;
  const uint64_t bytes_total_;
  const bool terminal_;
  const Clock::time_point start_ = Clock::now();
  Clock::time_point shown_ = start_;
  bool bar_there_ = false;
};

}  // namespace ringkv::tools
