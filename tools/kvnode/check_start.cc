#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <filesystem>
#include <memory>

#include "tools/common/units.h"
#include "tools/kvnode/settings.h"

namespace ringkv::tools {
namespace {

namespace fs = std::filesystem;

bool is_loopback(const sockaddr& address) {
  if (address.sa_family == AF_INET)
    return ntohl(reinterpret_cast<const sockaddr_in&>(address).sin_addr.s_addr) >> 24 == 127;
  if (address.sa_family != AF_INET6) return false;
  const in6_addr& v6 = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
  return IN6_IS_ADDR_LOOPBACK(&v6) || (IN6_IS_ADDR_V4MAPPED(&v6) && v6.s6_addr[12] == 127);
}

// Of a name, all its addresses.
Result<bool> is_loopback(const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int error = ::getaddrinfo(host.c_str(), nullptr, &hints, &found); error != 0)
    return invalid_argument("host '" + host + "' can't be looked up: " + ::gai_strerror(error));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, ::freeaddrinfo);
  for (const addrinfo* entry = found; entry != nullptr; entry = entry->ai_next) {
    if (!is_loopback(*entry->ai_addr)) return false;
  }
  return true;
}

Status check_address(const Settings& settings) {
  const std::string& address = settings.options.client_address;
  if (address.empty()) return {};
  const Result<HostPort> parsed = parse_address(address);
  if (!parsed.ok()) return invalid_argument("--client: " + parsed.status().message());
  if (settings.insecure_network) return {};
  const Result<bool> loopback = is_loopback(parsed->host);
  if (!loopback.ok()) return invalid_argument("--client: " + loopback.status().message());
  if (*loopback) return {};
  return invalid_argument(
      "--client " + address +
      " can be reached by other machines, and there is no TLS: anybody on the way could read and "
      "change all data. Use a loopback address, or say --insecure-network if that network is "
      "trusted");
}

}  // namespace

Status check_start(const Settings& settings) {
  const std::string& data = settings.options.data_directory;
  if (data.empty())
    return invalid_argument(
        "--data DIR is needed; or --dev for a single node to try, with its data in ./ringkv-data");
  std::error_code error;
  const bool nothing_there = !fs::exists(data, error) || fs::is_empty(data, error);
  if (!settings.options.bootstrap && nothing_there)
    return invalid_argument("no data in " + data +
                            ": --bootstrap founds a cluster there; --dev starts a single node to try");
  return check_address(settings);
}

}  // namespace ringkv::tools
