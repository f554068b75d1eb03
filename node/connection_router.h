// Which part of a node a connection belongs to: the door that accepted it, or the links that dialed it. A
// part that has ended a connection itself knows it no more, and what still comes goes nowhere.
//
// Loop thread.
#pragma once

#include "base/transport.h"
#include "node/client_door.h"
#include "node/peer_door.h"
#include "node/peer_links.h"

namespace ringkv {

class ConnectionRouter final : public TransportHandler {
 public:
  ConnectionRouter(ClientDoor& clients, PeerDoor& peers, PeerLinks& links)
      : clients_(clients), peers_(peers), links_(links) {}

  void on_accepted(ConnectionId connection, Door door, const Address& from) override {
    if (door == Door::kClient) return clients_.on_accepted(connection, door, from);
    peers_.on_accepted(connection, door, from);
  }
  void on_connected(ConnectionId connection) override { links_.on_connected(connection); }
  size_t on_bytes(ConnectionId connection, std::string_view available) override {
    return part_of(connection).on_bytes(connection, available);
  }
  void on_closed(ConnectionId connection, const Status& why) override {
    part_of(connection).on_closed(connection, why);
  }

 private:
  TransportHandler& part_of(ConnectionId connection) {
    if (clients_.owns(connection)) return clients_;
    if (peers_.owns(connection)) return peers_;
    return links_;
  }

  ClientDoor& clients_;
  PeerDoor& peers_;
  PeerLinks& links_;
};

}  // namespace ringkv
