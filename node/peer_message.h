// Everything that one node sends to another once they have greeted each other. What stays within a node isn't
// here.
#pragma once

#include <variant>

#include "gossip/messages.h"
#include "replication/messages.h"

namespace ringkv {

using PeerMessage =
    std::variant<Probe, ProbeAck, ProbeRequest, StateDigests, StateDeltas, RingWanted, RingChosen, Prepare,
                 Promise, Accept, Accepted, ReplicaPut, ReplicaPutAck, ReplicaGet, ReplicaGetReply,
                 ReplicaScan, ReplicaScanReply, ForwardedRequest, ForwardedReply>;

}  // namespace ringkv
