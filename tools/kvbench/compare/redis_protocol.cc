#include "tools/kvbench/compare/redis_protocol.h"

#include <charconv>
#include <optional>

namespace ringkv::tools {
namespace {

constexpr std::string_view kLineEnd = "\r\n";

void append_bulk(std::string& out, std::string_view bytes) {
  out.append("$").append(std::to_string(bytes.size())).append(kLineEnd).append(bytes).append(kLineEnd);
}

// "$5" is followed by 5 bytes and a line's end, "$-1" by nothing. Nothing: not a number.
std::optional<size_t> bytes_behind(std::string_view line, bool& found) {
  int64_t count = 0;
  const auto [end, error] = std::from_chars(line.data() + 1, line.data() + line.size(), count);
  if (error != std::errc() || end != line.data() + line.size() || count < -1) return std::nullopt;
  found = count >= 0;
  return found ? static_cast<size_t>(count) + kLineEnd.size() : 0;
}

}  // namespace

void RedisProtocol::put(uint32_t slot, std::string_view key, std::string_view value, std::string& out) {
  slots_.push_back(slot);
  out.append("*3\r\n$3\r\nSET\r\n");
  append_bulk(out, key);
  append_bulk(out, value);
}

void RedisProtocol::get(uint32_t slot, std::string_view key, std::string& out) {
  slots_.push_back(slot);
  out.append("*2\r\n$3\r\nGET\r\n");
  append_bulk(out, key);
}

bool RedisProtocol::receive(std::string& in, std::string& /*out*/, std::vector<Ended>& ended) {
  size_t at = 0;
  for (size_t end = in.find(kLineEnd, at); end != std::string::npos; end = in.find(kLineEnd, at)) {
    const std::string_view line = std::string_view(in).substr(at, end - at);
    if (line.empty() || slots_.empty()) return false;
    Ended one{.slot = slots_.front(), .ok = line[0] != '-'};
    size_t whole = end + kLineEnd.size();
    if (line[0] == '$') {
      const std::optional<size_t> behind = bytes_behind(line, one.found);
      if (!behind) return false;
      whole += *behind;
      if (whole > in.size()) break;
    } else if (line[0] != '+' && line[0] != '-') {
      return false;
    }
    slots_.pop_front();
    ended.push_back(one);
    at = whole;
  }
  in.erase(0, at);
  return true;
}

}  // namespace ringkv::tools
