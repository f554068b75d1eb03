#include "node/epoch_gate.h"

#include <type_traits>
#include <utility>

#include "base/text.h"

namespace ringkv {
namespace {

// A ring is asked for, and sent unasked, at most this often a node.
constexpr Duration kRingPause = std::chrono::milliseconds(200);
constexpr Duration kHoldFor = std::chrono::seconds(1);
constexpr size_t kHeldMax = 10'000;

// What asks this node to do something by the sender's ring, and what answers that it can't be done by that.
template <class Body>
struct StaleAnswer {};
template <>
struct StaleAnswer<ReplicaPut> {
  using Type = ReplicaPutAck;
};
template <>
struct StaleAnswer<ReplicaGet> {
  using Type = ReplicaGetReply;
};
template <>
struct StaleAnswer<ReplicaScan> {
  using Type = ReplicaScanReply;
};
template <>
struct StaleAnswer<ForwardedRequest> {
  using Type = ForwardedReply;
};
template <class Body>
constexpr bool kIsRequest = requires {
  typename StaleAnswer<Body>::Type;
};

bool is_request(const PeerMessage& message) {
  return std::visit([](const auto& body) { return kIsRequest<std::decay_t<decltype(body)>>; }, message);
}

}  // namespace

void EpochGate::look_at(NodeId from, RingOrder theirs, const Ring& ring, Time now) {
  if (theirs <= order_of(ring)) return;
  const auto [asked, is_first] = asked_.try_emplace(from, now);
  if (!is_first && now < asked->second + kRingPause) return;
  asked->second = now;
  send_(from, RingWanted());
}

void EpochGate::on_message(NodeId from, RingOrder theirs, const Ring& ring, PeerMessage message, Time now) {
  if (is_request(message)) {
    if (theirs < order_of(ring)) return refuse(from, ring, message, now);
    if (theirs > order_of(ring)) {
      ++statistics_.held;
      held_.push_back({from, theirs, std::move(message), now + kHoldFor});
      if (held_.size() <= kHeldMax) return;
      held_.pop_front();
      ++statistics_.dropped;
      return;
    }
  }
  admit_(from, std::move(message));
}

void EpochGate::refuse(NodeId from, const Ring& ring, const PeerMessage& message, Time now) {
  ++statistics_.refused;
  const auto [sent, is_first] = sent_.try_emplace(from, Sent{order_of(ring), now});
  if (is_first || sent->second.ring != order_of(ring) || now >= sent->second.at + kRingPause) {
    sent->second = {order_of(ring), now};
    send_(from, RingChosen{ring.description().lineage, ring.epoch(), ring.encoded()});
  }
  const Status stale(StatusCode::kStaleEpoch,
                     cat("the request was routed by an earlier ring than epoch ", ring.epoch()));
  std::visit(
      [&](const auto& body) {
        using Body = std::decay_t<decltype(body)>;
        if constexpr (kIsRequest<Body>) {
          typename StaleAnswer<Body>::Type answer;
          answer.request = body.request;
          if constexpr (std::is_same_v<Body, ForwardedRequest>) {
            answer.reply.status = stale;
          } else {
            answer.replica = self_;
            answer.status = stale;
          }
          send_(from, std::move(answer));
        }
      },
      message);
}

void EpochGate::on_ring(const Ring& ring, Time now) {
  for (Held& held : std::exchange(held_, {}))
    on_message(held.from, held.theirs, ring, std::move(held.message), now);
}

void EpochGate::tick(Time now) {
  while (!held_.empty() && now >= held_.front().until) {
    held_.pop_front();
    ++statistics_.dropped;
  }
}

}  // namespace ringkv
