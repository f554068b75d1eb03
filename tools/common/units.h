// Durations, sizes and addresses as they are typed on command lines and in configuration files.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "ringkv/status.h"

namespace ringkv::tools {

// "500ms", "5s", "1m", "2h", "7d"; fractions are fine ("1.5s"); a bare number is refused: of what?
Result<std::chrono::milliseconds> parse_duration(std::string_view text);

// The shortest exact form of the above.
std::string duration_text(std::chrono::milliseconds duration);

// "4096" bytes, "256KiB", "256MiB", "1GiB", "2TiB"; "MB" and "GB" are powers of 1000.
Result<uint64_t> parse_size(std::string_view text);

// The shortest exact form of the above.
std::string size_text(uint64_t bytes);

// "1 line", "2 lines".
std::string counted(uint64_t count, std::string_view noun);

struct HostPort {
  std::string host;  // without the brackets of [IPv6]
  uint16_t port = 0;
};

// HOST:PORT, where HOST is a name, IPv4 or [IPv6].
Result<HostPort> parse_address(std::string_view text);

}  // namespace ringkv::tools
