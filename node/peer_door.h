// Where other nodes come in: greets them, has their greeting judged, and hands their messages on. A
// connection is bound to the node that it greeted as; what a node of an earlier life sends is never handed
// on.
//
// Loop thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "base/log.h"
#include "base/time.h"
#include "base/transport.h"
#include "gossip/greeting.h"
#include "node/peer_codec.h"
#include "node/peer_faults.h"
#include "node/peer_message.h"
#include "node/said_once.h"

namespace ringkv {

// Who judges greetings and takes messages. The answer may come later, from anywhere on the loop; it is
// dropped when the connection is gone by then.
class PeerReception {
 public:
  virtual ~PeerReception() = default;

  virtual void on_hello(const PeerHello& hello, std::function<void(Result<PeerWelcome>)> answer) = 0;
  virtual void on_join(const JoinRequest& request, std::function<void(JoinAnswer)> answer) = 0;
  // `lineage`, `epoch`: of the sender's ring when it was sent.
  virtual void on_peer_message(NodeId from, uint64_t lineage, uint64_t epoch, PeerMessage&& message) = 0;
};

class PeerDoor final : public TransportHandler {
 public:
  struct Statistics {
    uint64_t connections_now = 0;
    uint64_t connections_total = 0;
    uint64_t refused_greetings = 0;
    uint64_t refused_frames = 0;  // malformed, too long, of an unknown type, out of turn or for another node
  };

  PeerDoor(Transport& transport, const Clock& clock, Log& log, const PeerFaults& faults,
           PeerReception& reception);

  // Ends the connections of every other life of the node.
  void keep_only(NodeId node, Boot boot);
  // All of that node; it is told why.
  void refuse(NodeId node, const Status& why);
  // Ends all connections, those whose greeting is still being judged too.
  void close_all();
  void on_tick(Time now);  // ends connections that never greet

  bool owns(ConnectionId connection) const { return connections_.contains(connection); }
  const Statistics& statistics() const { return statistics_; }

  void on_accepted(ConnectionId connection, Door door, const Address& from) override;
  void on_connected(ConnectionId) override {}
  size_t on_bytes(ConnectionId connection, std::string_view available) override;
  void on_closed(ConnectionId connection, const Status& why) override;

 private:
  struct Who {
    NodeId node;
    Boot boot;
    PeerChannel channel = PeerChannel::kControl;
  };
  struct Ungreeted {
    Time greet_by;
  };
  struct Judged {  // its greeting awaits its answer
    Who who;
    Time answer_by;
  };
  struct Joining {
    Time answer_by;
  };
  struct Silenced {  // dropped on purpose: nothing that it says is heard, and nothing answers
    Time until;
  };
  struct Welcomed {
    Who who;
    std::string parts;  // values of a message that is still arriving
  };
  struct Connection {
    Address from;
    std::variant<Ungreeted, Judged, Joining, Silenced, Welcomed> state;
  };

  Connection* find(ConnectionId id);
  // False: the connection has ended.
  bool on_frame(ConnectionId id, Connection& connection, const Frame& frame);
  bool on_greeting(ConnectionId id, Connection& connection, const Frame& frame);
  bool on_hello(ConnectionId id, Connection& connection, const PeerHello& hello);
  bool on_join(ConnectionId id, Connection& connection, const JoinRequest& request);
  bool on_message(ConnectionId id, Connection& connection, const Frame& frame);
  Status take_part(Welcomed& welcomed, std::string_view values);
  Status check(const Who& who, const PeerMessage& message) const;

  bool make_room(const Who& who);
  std::vector<std::pair<ConnectionId, Who>> welcomed_of(NodeId node) const;
  void answer_hello(ConnectionId id, const Who& who, const Result<PeerWelcome>& answer);
  void answer_join(ConnectionId id, const JoinAnswer& answer);
  void refuse(ConnectionId id, const Connection& connection, const Status& why);
  void end(ConnectionId id);

  Transport& transport_;
  const Clock& clock_;
  Log& log_;
  const PeerFaults& faults_;
  PeerReception& reception_;
  SaidOnce said_;  // of greetings that were refused
  PeerCodec codec_;

  std::unordered_map<ConnectionId, Connection> connections_;
  size_t parts_bytes_ = 0;  // of all connections
  Statistics statistics_;

  // Answers may come when this door is gone; they look here.
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace ringkv
