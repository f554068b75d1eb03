#include "tools/kvnode/service_notice.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>

namespace ringkv::tools {
namespace {

Status failed(const std::string& path, const char* why) {
  return invalid_argument("NOTIFY_SOCKET " + path + ": " + why);
}

}  // namespace

Status notify_service_manager(std::string_view state) {
  const char* named = std::getenv("NOTIFY_SOCKET");
  if (named == nullptr || *named == '\0') return {};
  const std::string path = named;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path[0] != '/' && path[0] != '@') return failed(path, "neither a path nor an abstract name");
  if (path.size() >= sizeof(address.sun_path)) return failed(path, "too long");
  std::memcpy(address.sun_path, path.data(), path.size());
  if (path[0] == '@') address.sun_path[0] = '\0';  // abstract: no file, and the name's length counts

  const int socket = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return failed(path, std::strerror(errno));
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
  const ssize_t sent = ::sendto(socket, state.data(), state.size(), MSG_NOSIGNAL,
                                reinterpret_cast<const sockaddr*>(&address), length);
  const int error = errno;
  ::close(socket);
  return sent == static_cast<ssize_t>(state.size()) ? Status() : failed(path, std::strerror(error));
}

}  // namespace ringkv::tools
