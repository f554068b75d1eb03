#include "node/epoch_gate.h"

#include <type_traits>
#include <utility>

#include "base/plants.h"
#include "base/text.h"

namespace ringkv {
namespace {

// A ring is asked for, and sent unasked, at most this often a node.
constexpr Duration kRingPause = std::chrono::milliseconds(200);
constexpr Duration kHoldFor = std::chrono::seconds(1);
constexpr size_t kHeldMax = 10'000;
constexpr size_t kHeldBytesMax = size_t{64} << 20;

// What asks this node to do something by the sender's ring, and what answers that it can't be done by that.
template <class Body>
struct StaleAnswer {};
template <>
struct StaleAnswer<ReplicaPut> {
  using Type = ReplicaPutAck;
};
template <>
struct StaleAnswer<HintPut> {
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

size_t bytes_of(const PeerMessage& message) {
  constexpr size_t kAnyBytes = 256;
  if (const auto* put = std::get_if<ReplicaPut>(&message)) return kAnyBytes + put->record->size();
  if (const auto* hint = std::get_if<HintPut>(&message)) return kAnyBytes + hint->record->size();
  const auto* forwarded = std::get_if<ForwardedRequest>(&message);
  const ClientPut* put = forwarded == nullptr ? nullptr : std::get_if<ClientPut>(&forwarded->body.body);
  return kAnyBytes + (put == nullptr ? 0 : put->value.size());
}

// Hints, and what rounds bring, come by no ring: whoever owns the key takes them (replication/replica.h).
bool is_request(const PeerMessage& message) {
  const auto* put = std::get_if<ReplicaPut>(&message);
  if (put != nullptr && (put->source == Source::kHint || put->source == Source::kAntiEntropy)) return false;
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

void EpochGate::on_message(NodeId from, RingOrder theirs, const Ring& ring, PeerMessage&& message, Time now) {
  if (is_request(message)) {
    if (theirs < order_of(ring) && !planted(Plant::kStaleEpoch))
      return refuse_stale(from, ring, message, now);
    if (theirs > order_of(ring)) {
      hold(from, theirs, ring, std::move(message), now);
      return;
    }
  }
  admit_(from, std::move(message));
}

void EpochGate::refuse_stale(NodeId from, const Ring& ring, const PeerMessage& message, Time now) {
  ++statistics_.refused;
  const auto [sent, is_first] = sent_.try_emplace(from, Sent{order_of(ring), now});
  if (is_first || sent->second.ring != order_of(ring) || now >= sent->second.at + kRingPause) {
    sent->second = {order_of(ring), now};
    send_(from, RingChosen{ring.description().lineage, ring.epoch(), ring.encoded()});
  }
  refuse(
      from, ring, message,
      {StatusCode::kStaleEpoch, cat("the request was routed by an earlier ring than epoch ", ring.epoch())});
}

void EpochGate::refuse(NodeId from, const Ring& ring, const PeerMessage& message, const Status& why) {
  std::visit(
      [&](const auto& body) {
        using Body = std::decay_t<decltype(body)>;
        if constexpr (kIsRequest<Body>) {
          typename StaleAnswer<Body>::Type answer;
          answer.request = body.request;
          if constexpr (std::is_same_v<Body, ForwardedRequest>) {
            answer.reply.status = why;
            answer.reply.epoch = ring.epoch();
          } else {
            answer.replica = self_;
            answer.status = why;
            if constexpr (std::is_same_v<Body, HintPut>) answer.hint_for = body.intended;
          }
          send_(from, std::move(answer));
        }
      },
      message);
}

void EpochGate::hold(NodeId from, RingOrder theirs, const Ring& ring, PeerMessage&& message, Time now) {
  const size_t bytes = bytes_of(message);
  if (held_.size() >= kHeldMax || held_bytes_ + bytes > kHeldBytesMax) {
    ++statistics_.dropped;
    return refuse(from, ring, message, overloaded("too much waits here for a ring that is on its way"));
  }
  ++statistics_.held;
  held_bytes_ += bytes;
  held_.push_back({from, theirs, std::move(message), now + kHoldFor});
}

void EpochGate::on_ring(const Ring& ring, Time now) {
  held_bytes_ = 0;
  for (Held& held : std::exchange(held_, {}))
    on_message(held.from, held.theirs, ring, std::move(held.message), now);
}

void EpochGate::forget(NodeId from) {
  std::erase_if(held_, [&](const Held& held) {
    if (held.from != from) return false;
    held_bytes_ -= bytes_of(held.message);
    ++statistics_.dropped;
    return true;
  });
}

void EpochGate::tick(const Ring& ring, Time now) {
  while (!held_.empty() && now >= held_.front().until) {
    const Held held = std::move(held_.front());
    held_.pop_front();
    held_bytes_ -= bytes_of(held.message);
    ++statistics_.dropped;
    refuse(held.from, ring, held.message, unavailable("the ring that it was routed by has not come here"));
  }
}

}  // namespace ringkv
