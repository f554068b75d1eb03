// Hands a message to the core that it is for.
#pragma once

#include <utility>
#include <variant>

#include "replication/coordinator.h"
#include "replication/hint_delivery.h"
#include "replication/hint_keeper.h"
#include "replication/replica.h"

namespace ringkv {

// False: it is the shell's, a read of the disk or an answer for a client.
inline bool dispatch(NodeId from, Message& message, Moment moment, Replica& replica, Coordinator& coordinator,
                     MessageOutbox& outbox) {
  const auto [now, wall_now] = moment;
  if (auto* body = std::get_if<StampPut>(&message)) {
    replica.on(std::move(*body), now, wall_now, outbox);
  } else if (auto* body = std::get_if<ReplicaPut>(&message)) {
    replica.on(from, std::move(*body), now, wall_now, outbox);
  } else if (auto* body = std::get_if<ReplicaGet>(&message)) {
    replica.on(from, std::move(*body), now, outbox);
  } else if (auto* body = std::get_if<ReplicaScan>(&message)) {
    replica.on(from, std::move(*body), now, outbox);
  } else if (auto* body = std::get_if<EraseRecord>(&message)) {
    replica.on(std::move(*body), now, wall_now, outbox);
  } else if (auto* body = std::get_if<PutStamped>(&message)) {
    coordinator.on(std::move(*body), now, outbox);
  } else if (auto* body = std::get_if<StampPutAck>(&message)) {
    coordinator.on(*body, now, outbox);
  } else if (auto* body = std::get_if<ReplicaPutAck>(&message)) {
    coordinator.on(*body, now, wall_now, outbox);
  } else if (auto* body = std::get_if<ReplicaGetReply>(&message)) {
    coordinator.on(std::move(*body), now, wall_now, outbox);
  } else if (auto* body = std::get_if<ReplicaScanReply>(&message)) {
    coordinator.on(std::move(*body), now, wall_now, outbox);
  } else if (auto* body = std::get_if<ForwardedReply>(&message)) {
    coordinator.on(std::move(*body), now, wall_now, outbox);
  } else if (auto* body = std::get_if<ForwardedRequest>(&message)) {
    const Arrival arrival{.requester = {.request = body->request, .forwarded_by = from},
                          .deadline = body->deadline,
                          .now = now,
                          .wall_now = wall_now};
    coordinator.on(arrival, std::move(*body), outbox);
  } else {
    return false;
  }
  return true;
}

// False: it is of no hint.
inline bool dispatch(NodeId from, Message& message, Moment moment, HintKeeper& keeper, HintDelivery& delivery,
                     MessageOutbox& outbox) {
  if (auto* body = std::get_if<HintPut>(&message)) {
    keeper.on(from, std::move(*body), moment, outbox);
  } else if (auto* body = std::get_if<HintCovered>(&message)) {
    keeper.on(std::move(*body), moment, outbox);
  } else if (auto* body = std::get_if<ReplicaPutAck>(&message)) {
    if ((body->request & kBackground) == 0) return false;
    delivery.on(*body, moment, outbox);
  } else {
    return false;
  }
  return true;
}

}  // namespace ringkv
