#include "node/asio_socket.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "base/address.h"

namespace ringkv {
namespace {

constexpr int kUnacknowledgedMaxMs = 10'000;
constexpr int kIdleBeforeProbeSeconds = 5;
constexpr int kProbeEverySeconds = 2;
constexpr int kProbesMax = 3;

// Failures don't matter: the socket works without.
void set(int socket, int level, int option, int value) {
  (void)::setsockopt(socket, level, option, &value, sizeof value);
}

}  // namespace

void set_socket_options(int socket) {
  set(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  set(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(socket, IPPROTO_TCP, TCP_KEEPIDLE, kIdleBeforeProbeSeconds);
  set(socket, IPPROTO_TCP, TCP_KEEPINTVL, kProbeEverySeconds);
  set(socket, IPPROTO_TCP, TCP_KEEPCNT, kProbesMax);
  set(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, kUnacknowledgedMaxMs);
  (void)::fcntl(socket, F_SETFD, FD_CLOEXEC);
}

bool is_connected_to_itself(const boost::asio::ip::tcp::socket& socket) {
  boost::system::error_code error;
  const auto local = socket.local_endpoint(error);
  if (error) return false;
  const auto remote = socket.remote_endpoint(error);
  return !error && local == remote;
}

Address address_text(const boost::asio::ip::tcp::endpoint& endpoint) {
  return HostPort{endpoint.address().to_string(), endpoint.port()}.to_text();
}

}  // namespace ringkv
