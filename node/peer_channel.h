// Which of the two connections to another node a message travels on. Gossip goes ahead of copies and reads,
// whatever their bulk.
#pragma once

#include <type_traits>
#include <variant>

#include "gossip/greeting.h"
#include "node/peer_message.h"

namespace ringkv {

inline PeerChannel channel_of(const PeerMessage& message) {
  return std::visit(
      []<class Message>(const Message&) {
        return std::is_constructible_v<GossipMessage, Message> ? PeerChannel::kControl
                                                               : PeerChannel::kRequests;
      },
      message);
}

}  // namespace ringkv
