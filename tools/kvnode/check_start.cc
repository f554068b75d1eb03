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

// One of a node's two doors, and how its flags are called.
struct DoorSettings {
  std::string flag;
  std::string address;  // empty: no such door
  std::string advertise_flag;
  std::string advertised;  // empty: as `address`
};

// What an address of this machine lets in.
struct Reach {
  bool loopback = true;   // only this machine
  bool wildcard = false;  // every address that the machine has; no other machine can dial it as such
};

Reach reach_of(const sockaddr& address) {
  if (address.sa_family == AF_INET) {
    const uint32_t v4 = ntohl(reinterpret_cast<const sockaddr_in&>(address).sin_addr.s_addr);
    return {.loopback = v4 >> 24 == 127, .wildcard = v4 == INADDR_ANY};
  }
  if (address.sa_family != AF_INET6) return {.loopback = false};
  const in6_addr& v6 = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
  return {.loopback = IN6_IS_ADDR_LOOPBACK(&v6) || (IN6_IS_ADDR_V4MAPPED(&v6) && v6.s6_addr[12] == 127),
          .wildcard = IN6_IS_ADDR_UNSPECIFIED(&v6) != 0};
}

// Of a name, of all its addresses.
Result<Reach> reach_of(const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int error = ::getaddrinfo(host.c_str(), nullptr, &hints, &found); error != 0)
    return invalid_argument("host '" + host + "' can't be looked up: " + ::gai_strerror(error));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, ::freeaddrinfo);
  Reach reach;
  for (const addrinfo* entry = found; entry != nullptr; entry = entry->ai_next) {
    const Reach one = reach_of(*entry->ai_addr);
    reach.loopback = reach.loopback && one.loopback;
    reach.wildcard = reach.wildcard || one.wildcard;
  }
  return reach;
}

// Others look it up, not we: a name that means nothing on this machine is fine.
Status check_advertised(const DoorSettings& door) {
  const Result<HostPort> parsed = parse_address(door.advertised);
  if (!parsed.ok()) return invalid_argument(door.advertise_flag + ": " + parsed.status().message());
  if (parsed->port != 0 && parsed->host != "0.0.0.0" && parsed->host != "::") return {};
  return invalid_argument(door.advertise_flag + " " + door.advertised +
                          ": others can't dial that; give the address at which they find this node");
}

Status check_door(const DoorSettings& door, bool insecure_network) {
  if (door.address.empty()) return {};
  const Result<HostPort> parsed = parse_address(door.address);
  if (!parsed.ok()) return invalid_argument(door.flag + ": " + parsed.status().message());
  const Result<Reach> reach = reach_of(parsed->host);
  if (!reach.ok()) return invalid_argument(door.flag + ": " + reach.status().message());
  if (!reach->loopback && !insecure_network)
    return invalid_argument(
        door.flag + " " + door.address +
        " can be reached by other machines, and there is no TLS: anybody on the way could read and "
        "change all data. Use a loopback address, or say --insecure-network if that network is "
        "trusted");
  if (!door.advertised.empty()) return check_advertised(door);
  if (!reach->wildcard) return {};
  return invalid_argument(door.flag + " " + door.address +
                          " listens on every address of this machine, and others can't dial that: name the "
                          "one at which they find this node with " +
                          door.advertise_flag + " HOST:PORT");
}

// How the node comes by a ring when its directory has none.
Status check_origin(const Settings& settings) {
  const Options& options = settings.options;
  if (!options.join.empty() && options.bootstrap)
    return invalid_argument(
        settings.dev ? "--dev founds a cluster of its own, and --join enters another: give one of them"
                     : "--bootstrap founds a cluster, and --join enters another: give one of them");
  if (!options.join.empty() && options.peer_address.empty())
    return invalid_argument("--join needs --peer HOST:PORT: the other members must reach this node");
  std::error_code error;
  const bool nothing_there =
      !fs::exists(options.data_directory, error) || fs::is_empty(options.data_directory, error);
  if (!nothing_there || options.bootstrap || !options.join.empty()) return {};
  return invalid_argument("no data in " + options.data_directory +
                          ": --bootstrap founds a cluster there; --join HOST:PORT enters the cluster whose "
                          "member has that peer address; --dev starts a single node to try");
}

}  // namespace

Status check_start(const Settings& settings) {
  const Options& options = settings.options;
  if (options.data_directory.empty())
    return invalid_argument(
        "--data DIR is needed; or --dev for a single node to try, with its data in ./ringkv-data");
  if (Status origin = check_origin(settings); !origin.ok()) return origin;
  const Status peer =
      check_door({"--peer", options.peer_address, "--advertise-peer", options.advertised_peer_address},
                 settings.insecure_network);
  if (!peer.ok()) return peer;
  return check_door(
      {"--client", options.client_address, "--advertise-client", options.advertised_client_address},
      settings.insecure_network);
}

}  // namespace ringkv::tools
