// Byte streams between processes, as the loop sees them. The real one is TCP on Asio; the simulated one
// loses, delays and cuts. Everything here is called on the loop thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ringkv/status.h"

namespace ringkv {

// Never reused within a process.
using ConnectionId = uint64_t;

// "host:port"; host is a name, an IPv4 address or [an IPv6 address].
using Address = std::string;

// A connection with more unsent output than this isn't read from until less than half of it is left. A
// handler that has that much outstanding stops using bytes.
inline constexpr size_t kUnsentBytesMax = size_t{4} << 20;

// Which listening door a connection came through.
enum class Door : uint8_t { kClient, kPeer };

class TransportHandler {
 public:
  virtual ~TransportHandler() = default;

  virtual void on_accepted(ConnectionId connection, Door door, const Address& from) = 0;
  virtual void on_connected(ConnectionId connection) = 0;

  // `available` is everything unread, contiguous, and holds during the call. Returns how many bytes were
  // used; the rest comes again with more behind it, or once output that was written since has left: so a
  // handler may leave bytes for want of output room, or until it has answered what it took before.
  virtual size_t on_bytes(ConnectionId connection, std::string_view available) = 0;

  // The last call for a connection: closed by the peer, by an error, or by a failed connect.
  virtual void on_closed(ConnectionId connection, const Status& why) = 0;
};

class Transport {
 public:
  virtual ~Transport() = default;

  // Starts to connect; on_connected or on_closed follows, never from within this call.
  virtual ConnectionId connect(const Address& to) = 0;

  // Bytes to send are appended here; they leave at the end of the loop's turn, in one write. For a connection
  // that is gone, a buffer that goes nowhere. The reference holds until the next call of the transport.
  virtual std::string& output(ConnectionId connection) = 0;

  // Appended but not yet taken by the network.
  virtual size_t unsent_bytes(ConnectionId connection) const = 0;

  // Sends what was appended, then closes. on_closed is not called for it.
  virtual void close(ConnectionId connection) = 0;
};

}  // namespace ringkv
