// HOST:PORT taken apart.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ringkv/status.h"

namespace ringkv {

struct HostPort {
  std::string host;  // a name or an IP address, without brackets
  uint16_t port = 0;

  // With brackets around an IPv6 address.
  std::string to_text() const;

  friend bool operator==(const HostPort&, const HostPort&) = default;
};

// "name:7401", "127.0.0.1:7401", "[::1]:7401". INVALID_ARGUMENT says what is wrong with it.
Result<HostPort> host_port_from(std::string_view address);

}  // namespace ringkv
