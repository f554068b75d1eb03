// What this node sends to others: to each one connection for gossip and one for requests, dialed when there
// is something to say, greeted, and dialed again when lost. Lossy: a message to a node that can't be reached
// is dropped, and whoever wants to know is told when a node becomes unreachable or reachable again.
//
// Loop thread.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <unordered_map>

#include "base/log.h"
#include "base/random.h"
#include "base/time.h"
#include "base/transport.h"
#include "gossip/greeting.h"
#include "node/peer_codec.h"
#include "node/peer_errands.h"
#include "node/peer_faults.h"
#include "node/peer_link.h"
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
    // The requests connection to the node can't be had now; once, until it is there again.
    std::function<void(NodeId, const Status& why)> on_unreachable;
    // It is there, for the first time or again: what was sent on an earlier one may be lost.
    std::function<void(NodeId, bool maybe_lost)> on_reachable;
  };

  struct Statistics {
    uint64_t dials = 0;
    uint64_t refusals = 0;          // of this node, by others
    uint64_t dropped_messages = 0;  // of nodes that weren't reachable, or for want of room
  };

  PeerLinks(Transport& transport, const Clock& clock, Random& random, Log& log, const PeerFaults& faults,
            Callbacks callbacks);
  PeerLinks(const PeerLinks&) = delete;
  PeerLinks& operator=(const PeerLinks&) = delete;

  // Where the node is; a changed address ends its links and has them dialed anew.
  void set_address(NodeId node, const Address& address);
  void forget(NodeId node);

  // Dials both links of the node now if it can, whether or not there is something to send.
  void greet(NodeId node);

  // Encodes into the link's output. Without a link it waits, for a bounded time and up to a bound of bytes
  // and messages, for the one that is being dialed; of an unreachable node it is dropped. What is left of its
  // deadline is taken now, so a message that waits is overstated by that. Calls back nobody.
  void send(NodeId to, const PeerMessage& message, uint64_t lineage, uint64_t epoch);

  bool is_reachable(NodeId node) const;  // not known to be unreachable

  // Who is there? UNAVAILABLE: nobody that greets back within the time.
  void identify(const Address& address, NodeId to, Duration timeout,
                std::function<void(Result<PeerWelcome>)> done);
  // To one of the addresses; UNAVAILABLE in the answer's status when nobody answers there in time.
  void join(const Address& address, const JoinRequest& request, Duration timeout,
            std::function<void(JoinAnswer)> done);

  void on_tick(Time now);
  // Ends all connections, answers all that identifies or joins. Addresses stay, and what is sent afterwards
  // is dialed for anew: for the end of a node, and for its next life.
  void close_all();
  bool owns(ConnectionId connection) const;
  const Statistics& statistics() const { return statistics_; }

  void on_accepted(ConnectionId, Door, const Address&) override {}
  void on_connected(ConnectionId connection) override;
  size_t on_bytes(ConnectionId connection, std::string_view available) override;
  void on_closed(ConnectionId connection, const Status& why) override;

 private:
  static constexpr std::array kChannels = {PeerChannel::kControl, PeerChannel::kRequests};

  struct Peer {
    Address address;
    std::array<PeerLink, kChannels.size()> links;  // by channel

    PeerLink& link(PeerChannel channel) { return links[static_cast<size_t>(channel)]; }
    const PeerLink& link(PeerChannel channel) const { return links[static_cast<size_t>(channel)]; }
  };
  struct LinkName {
    NodeId node;
    PeerChannel channel;
  };

  PeerLink* find(const LinkName& name);
  void dial(const LinkName& name);
  void hang_up(PeerLink& link);
  void on_welcome(const LinkName& name, const PeerWelcome& welcome);
  void on_refused(const LinkName& name, const Status& why);
  void fail(const LinkName& name, const Status& why);
  void on_link_due(const LinkName& name, Time now);

  Transport& transport_;
  const Clock& clock_;
  Random& random_;
  Log& log_;
  const PeerFaults& faults_;
  const Callbacks callbacks_;
  PeerCodec codec_;
  PeerErrands errands_;

  std::map<NodeId, Peer> peers_;  // in order, so that a simulation repeats itself
  std::unordered_map<ConnectionId, LinkName> by_connection_;
  size_t held_bytes_ = 0;  // by all links; counted at each tick, between them only added to
  Statistics statistics_;
};

}  // namespace ringkv
