// One listening socket. Shows Asio: for node/asio_*.cc only.
//
// Connections past the bound, or past what the process may open, are accepted and closed at once: a client
// that waits in the backlog would learn nothing, and an accept that fails for want of descriptors leaves the
// socket readable and the loop spinning.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <functional>

#include "base/transport.h"
#include "ringkv/status.h"

namespace ringkv {

class AsioDoor {
 public:
  using Tcp = boost::asio::ip::tcp;
  using OnAccepted = std::function<void(AsioDoor&, Tcp::socket, const Tcp::endpoint& from)>;

  // Lives as long as its connections and the context.
  AsioDoor(boost::asio::io_context& context, Door door, OnAccepted on_accepted);
  ~AsioDoor();
  AsioDoor(const AsioDoor&) = delete;
  AsioDoor& operator=(const AsioDoor&) = delete;

  // The address with its real port.
  Result<Address> open(const Address& address);
  void close();

  void on_connection_gone() { --connections_; }
  void on_tick();

  Door door() const { return door_; }

 private:
  enum class Accepted { kOne, kNone, kNoDescriptors };

  void wait();
  void accept_all();
  Accepted accept_one();
  void refuse_one();

  boost::asio::io_context& context_;
  const Door door_;
  const OnAccepted on_accepted_;
  const size_t connections_max_;

  Tcp::acceptor acceptor_;
  bool waiting_ = false;
  int spare_descriptor_ = -1;  // given up to accept and close when there is no other
  size_t connections_ = 0;
};

}  // namespace ringkv
