// Where requests come in: frames from client connections, and calls from this process. Decodes and checks,
// hands requests on with who asked, and gives each answer to its asker, if that is still there.
//
// Loop thread.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>

#include "base/client_message.h"
#include "base/log.h"
#include "base/time.h"
#include "base/transport.h"
#include "node/wire_codec.h"
#include "replication/messages.h"

namespace ringkv {

class ClientDoor final : public TransportHandler {
 public:
  // Who serves here; asked at each handshake, since the boot changes when the store is reopened.
  using WelcomeOf = std::function<Result<Welcome>()>;
  using OnRequest = std::function<void(Requester, ClientRequest)>;

  struct Statistics {
    uint64_t connections_now = 0;
    uint64_t connections_total = 0;
    uint64_t refused_frames = 0;  // malformed, too long, or before the handshake
    uint64_t dropped_slow_readers = 0;
  };

  ClientDoor(Transport& transport, const Clock& clock, Log& log, WelcomeOf welcome, OnRequest on_request);

  // From this process.
  void call(ClientRequest request, std::function<void(ClientReply)> done);

  void answer(const Requester& requester, const ClientReply& reply);

  // Ends connections that never greet.
  void on_tick(Time now);

  // Ends all connections once their output has left.
  void close_all();

  const Statistics& statistics() const { return statistics_; }
  bool owns(ConnectionId connection) const { return connections_.contains(connection); }

  void on_accepted(ConnectionId connection, Door door, const Address& from) override;
  void on_connected(ConnectionId) override {}
  size_t on_bytes(ConnectionId connection, std::string_view available) override;
  void on_closed(ConnectionId connection, const Status& why) override;

 private:
  struct Connection {
    Address from;
    Time greet_by;
    bool welcomed = false;
    uint64_t client = 0;      // as it greeted; 0: it gave none
    size_t unsent_bytes = 0;  // when it was counted last
  };

  // True: go on with this connection.
  bool on_hello(ConnectionId id, Connection& connection, const Frame& frame);
  void end(ConnectionId id);
  bool reads_too_slowly(ConnectionId id, Connection& connection);
  void count_unsent();
  // False: the connection was ended.
  bool on_frame(ConnectionId id, Connection& connection, const Frame& frame);
  void refuse(ConnectionId id, const Connection& connection, const Status& why);

  Transport& transport_;
  const Clock& clock_;
  Log& log_;
  const WelcomeOf welcome_;
  const OnRequest on_request_;
  WireCodec codec_;
  std::unordered_map<ConnectionId, Connection> connections_;
  std::unordered_map<uint64_t, ConnectionId> by_client_;
  std::unordered_map<uint64_t, std::function<void(ClientReply)>> calls_;  // from this process, by number
  uint64_t last_call_ = 0;
  size_t unsent_bytes_ = 0;  // of all connections, as counted last
  Statistics statistics_;
};

}  // namespace ringkv
