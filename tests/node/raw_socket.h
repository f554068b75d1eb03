// A blocking socket, for peers that don't behave.
#pragma once

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <utility>

#include "base/address.h"

namespace ringkv {

class RawSocket {
 public:
  RawSocket() : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    const timeval patience{20, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  }
  explicit RawSocket(std::string_view address) : RawSocket() { connect(address); }
  RawSocket(RawSocket&& other) noexcept : socket_(std::exchange(other.socket_, -1)) {}
  ~RawSocket() {
    if (socket_ >= 0) ::close(socket_);
  }

  bool connect(std::string_view address) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(host_port_from(address)->port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return ::connect(socket_, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0;
  }
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
    return true;
  }
  // At most `bytes_max`; less when the stream ends or nothing comes any more.
  std::string receive(size_t bytes_max) {
    std::string bytes;
    std::string piece(64 << 10, '\0');
    while (bytes.size() < bytes_max) {
      const ssize_t got = ::recv(socket_, piece.data(), std::min(piece.size(), bytes_max - bytes.size()), 0);
      if (got <= 0) break;
      bytes.append(piece, 0, static_cast<size_t>(got));
    }
    return bytes;
  }
  // True when the other side has ended the stream.
  bool at_end() {
    char byte = 0;
    const ssize_t got = ::recv(socket_, &byte, 1, 0);
    return got == 0 || (got < 0 && errno == ECONNRESET);
  }

 private:
  int socket_;
};

}  // namespace ringkv
