// TCP on Boost.Asio. Part of AsioRuntime, which says when a turn ends.
//
// An idle connection holds no buffers: reads go through one buffer of the loop, and only what a handler
// leaves unused is kept. A connection whose peer doesn't read is no longer read from: see kUnsentBytesMax.
// A peer that vanished without a word is found by keep-alive and TCP_USER_TIMEOUT within about 10 s.
#pragma once

#include <memory>

#include "base/time.h"
#include "base/transport.h"
#include "ringkv/status.h"

namespace boost::asio {
class io_context;
}

namespace ringkv {

// Accepted connections of one door; further ones are closed at once. Less when the process may open few
// descriptors: the store needs its share.
inline constexpr size_t kDoorConnectionsMax = 10'000;

class AsioTransport final : public Transport {
 public:
  explicit AsioTransport(boost::asio::io_context& context);
  ~AsioTransport() override;

  void set_handler(TransportHandler& handler);

  // See AsioRuntime.
  Result<Address> listen(const Address& address, Door door);
  void stop_listening();

  // At the end of a turn: one write for each connection with new output.
  void flush();

  // True while connections that were closed still send the rest, or wait for the other side to have read it.
  // It ends by itself within seconds.
  bool is_ending() const;

  // Ends what waits too long for a polite end.
  void on_tick(Time now);

  ConnectionId connect(const Address& to) override;
  std::string& output(ConnectionId connection) override;
  size_t unsent_bytes(ConnectionId connection) const override;
  void close(ConnectionId connection) override;

 private:
  struct Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace ringkv
