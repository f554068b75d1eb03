// Where other nodes come in: greets them, has their greeting judged, and hands their messages on. A
// connection is bound to the node that it greeted as; what a node of an earlier life sends is never handed
// on.
//
// Loop thread.
#pragma once

#include <functional>
#include <string>
#include <unordered_map>

#include "base/log.h"
#include "base/time.h"
#include "base/transport.h"
#include "gossip/greeting.h"
#include "node/peer_codec.h"
#include "node/peer_faults.h"
#include "node/peer_message.h"

namespace ringkv {

// Who judges greetings and takes messages. The answer may come later, from anywhere on the loop; it is
// dropped when the connection is gone by then.
class PeerReception {
 public:
  virtual ~PeerReception() = default;

  virtual void on_hello(const PeerHello& hello, std::function<void(Result<PeerWelcome>)> answer) = 0;
  virtual void on_join(const JoinRequest& request, std::function<void(JoinAnswer)> answer) = 0;
  // `epoch`, `lineage`: of the sender's ring when it was sent.
  virtual void on_peer_message(NodeId from, uint64_t lineage, uint64_t epoch, PeerMessage message) = 0;
};

class PeerDoor final : public TransportHandler {
 public:
  PeerDoor(Transport& transport, const Clock& clock, Log& log, const PeerFaults& faults,
           PeerReception& reception);

  // Ends the connections of every other life of the node.
  void keep_only(NodeId node, Boot boot);
  void close_all();
  void on_tick(Time now);  // ends connections that never greet

  void on_accepted(ConnectionId connection, Door door, const Address& from) override;
  void on_connected(ConnectionId) override {}
  size_t on_bytes(ConnectionId connection, std::string_view available) override;
  void on_closed(ConnectionId connection, const Status& why) override;
};

}  // namespace ringkv
