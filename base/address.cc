#include "base/address.h"

#include <charconv>

#include "base/text.h"

namespace ringkv {

std::string HostPort::to_text() const {
  const bool ipv6 = host.find(':') != std::string::npos;
  return ipv6 ? cat('[', host, "]:", port) : cat(host, ':', port);
}

Result<HostPort> host_port_from(std::string_view address) {
  const auto wrong = [&](std::string_view why) {
    return invalid_argument(cat("address '", escaped(address), "' ", why, "; it has the form HOST:PORT"));
  };
  const size_t colon = address.rfind(':');
  if (colon == std::string_view::npos) return wrong("has no port");

  std::string_view host = address.substr(0, colon);
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return wrong("has an IPv6 address without [brackets]");
  }
  if (host.empty()) return wrong("has no host");

  HostPort parsed{std::string(host), 0};
  const std::string_view port = address.substr(colon + 1);
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), parsed.port);
  if (port.empty() || error != std::errc() || end != port.data() + port.size())
    return wrong("has a port that isn't a number from 0 to 65535");
  return parsed;
}

}  // namespace ringkv
