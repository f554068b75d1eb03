// Where a room's remarks go. A sink is passed in: two nodes in one process log apart, a simulation logs
// nowhere.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ringkv {

enum class LogLevel : uint8_t { kDebug, kInfo, kWarning, kError };

// Called from any thread.
class Log {
 public:
  virtual ~Log() = default;
  virtual bool wants(LogLevel level) const = 0;
  virtual void write(LogLevel level, std::string_view room, std::string_view message) = 0;

  void debug(std::string_view room, std::string_view message) { write_if(LogLevel::kDebug, room, message); }
  void info(std::string_view room, std::string_view message) { write_if(LogLevel::kInfo, room, message); }
  void warning(std::string_view room, std::string_view message) {
    write_if(LogLevel::kWarning, room, message);
  }
  void error(std::string_view room, std::string_view message) { write_if(LogLevel::kError, room, message); }

 private:
  void write_if(LogLevel level, std::string_view room, std::string_view message) {
    if (wants(level)) write(level, room, message);
  }
};

class NoLog final : public Log {
 public:
  bool wants(LogLevel) const override { return false; }
  void write(LogLevel, std::string_view, std::string_view) override {}
};

}  // namespace ringkv
