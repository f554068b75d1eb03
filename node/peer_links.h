// What this node sends to others: to each one connection for gossip and one for requests, dialed when there
// is something to say, greeted, and dialed again when lost. Lossy: a message to a node that can't be reached
// is dropped, and whoever wants to know is told when a node becomes unreachable or reachable again.
//
// Loop thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/random.h"
#include "base/time.h"
#include "base/transport.h"
#include "gossip/greeting.h"
#include "node/peer_codec.h"
#include "node/peer_faults.h"
#include "node/peer_message.h"

namespace ringkv {

class PeerLinks final : public TransportHandler {
 public:
  struct Callbacks {
    // How this node introduces itself now; `to`, `channel` are filled in by the links.
    std::function<PeerHello()> hello;
    // False: not the node that was meant, or not a life that may be talked to: the link ends and is tried
    // again later.
    std::function<bool(const PeerWelcome&, const Address&)> on_welcome;
    // It refused this node: FORBIDDEN and so on, with its reason. The link is tried again later.
    std::function<void(NodeId, const Status&)> on_refused;
    // The requests connection to the node can't be had now, or is there again (what was sent on an earlier
    // one may be lost).
    std::function<void(NodeId, const Status& why)> on_unreachable;
    std::function<void(NodeId)> on_reachable;
  };

  PeerLinks(Transport& transport, const Clock& clock, Random& random, Log& log, PeerFaults& faults,
            Callbacks callbacks);

  // Where the node is; a changed address ends its links and has them dialed anew.
  void set_address(NodeId node, const Address& address);
  void forget(NodeId node);

  // Dials both links of the node now if it can, whether or not there is something to send.
  void greet(NodeId node);

  // Encodes into the link's output. Without a link it waits, for a bounded time and up to a bound of bytes,
  // for the one that is being dialed; of an unreachable node it is dropped.
  void send(NodeId to, const PeerMessage& message, uint64_t lineage, uint64_t epoch);

  bool is_reachable(NodeId node) const;  // not known to be unreachable

  // Who is there? UNAVAILABLE: nobody that greets back within the time.
  void identify(const Address& address, NodeId to, Duration timeout,
                std::function<void(Result<PeerWelcome>)> done);
  // To one of the addresses; UNAVAILABLE in the answer's status when nobody answers there in time.
  void join(const Address& address, const JoinRequest& request, Duration timeout,
            std::function<void(JoinAnswer)> done);

  void on_tick(Time now);
  void close_all();
  bool owns(ConnectionId connection) const;

  void on_accepted(ConnectionId, Door, const Address&) override {}
  void on_connected(ConnectionId connection) override;
  size_t on_bytes(ConnectionId connection, std::string_view available) override;
  void on_closed(ConnectionId connection, const Status& why) override;
};

}  // namespace ringkv
