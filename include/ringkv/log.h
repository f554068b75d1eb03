// A place for the lines that Options.log hands out: a file that can be rotated, or standard error.
//
//   auto log = ringkv::LogFile::open({.file = "node.log", .node = "n1"});
//   options.log = [&log](auto severity, auto room, auto message) { (*log)->write(severity, room, message); };
//
// Each line is the time in UTC (ISO 8601, milliseconds), the severity, the node, the room and the message. A
// line that comes again and again is written once, then counted. Nothing goes to standard output.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "ringkv/options.h"
#include "ringkv/status.h"

namespace ringkv {

struct LogTarget {
  std::string file = {};  // appended to; empty: standard error
  std::string node = {};  // named in each line
};

// Any thread may call it. It must outlive whatever logs to it.
class LogFile {
 public:
  // INVALID_ARGUMENT when the file can't be opened.
  static Result<std::unique_ptr<LogFile>> open(const LogTarget& target);
  ~LogFile();

  void write(LogSeverity severity, std::string_view room, std::string_view message);

  // After the file was renamed: goes on in a new one of its old name. Keeps the old one when that fails, and
  // says so there.
  void reopen();

 private:
  struct Impl;
  explicit LogFile(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace ringkv
