// Everything that one node sends to another once they have greeted each other. What stays within a node isn't
// here.
#pragma once

#include <type_traits>
#include <utility>
#include <variant>

#include "base/check.h"

#include "gossip/messages.h"
#include "replication/messages.h"

namespace ringkv {

using PeerMessage = std::variant<Probe, ProbeAck, ProbeRequest, StateDigests, StateDeltas, RingWanted,
                                 RingChosen, Prepare, Promise, Accept, Accepted, ReplicaPut, ReplicaPutAck,
                                 ReplicaGet, ReplicaGetReply, ReplicaScan, ReplicaScanReply, ForwardedRequest,
                                 ForwardedReply, HintPut, HintCovered, RoundCompare, RoundDigests, RoundOpen,
                                 RoundLeaves, RoundWalk, RoundSlice, RangesOffered, RangesTaken>;

// What a core has addressed to another node. Words for the own node only are never addressed elsewhere.
template <class... Bodies>
PeerMessage peer_message(std::variant<Bodies...>&& message) {
  return std::visit(
      [](auto& body) -> PeerMessage {
        if constexpr (std::is_constructible_v<PeerMessage, std::decay_t<decltype(body)>>) {
          return std::move(body);
        } else {
          CHECK(!"a message for this node only was addressed to another");
          return Probe();
        }
      },
      message);
}

}  // namespace ringkv
