#include "node/peer_link.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace ringkv {
namespace {

constexpr Duration kAnswerWithin = std::chrono::seconds(1);  // a dial, then a greeting
constexpr Duration kPauseFirst = std::chrono::milliseconds(100);
constexpr Duration kPauseMax = std::chrono::seconds(2);
// Who welcomes and breaks off again and again is called ever less often.
constexpr Duration kStoodWell = std::chrono::seconds(1);

}  // namespace

ConnectionId PeerLink::connection() const {
  if (const auto* dialing = std::get_if<Dialing>(&state_)) return dialing->connection;
  if (const auto* greeting = std::get_if<Greeting>(&state_)) return greeting->connection;
  if (const auto* up = std::get_if<Up>(&state_)) return up->connection;
  return 0;
}

bool PeerLink::wants_dial(Time now) const {
  const auto* pausing = std::get_if<Pausing>(&state_);
  return pausing != nullptr && now >= pausing->until;
}

bool PeerLink::is_overdue(Time now) const {
  if (const auto* dialing = std::get_if<Dialing>(&state_)) return now >= dialing->by;
  if (const auto* greeting = std::get_if<Greeting>(&state_)) return now >= greeting->by;
  return false;
}

void PeerLink::on_dialed(ConnectionId connection, Time now) {
  state_ = Dialing{connection, now + kAnswerWithin};
  dialed_at_ = now;
}

void PeerLink::on_connected(Time now) { state_ = Greeting{connection(), now + kAnswerWithin}; }

void PeerLink::on_welcomed(Time now, Transport& transport) {
  state_ = Up{connection(), now};
  failing_ = false;
  lost_ = false;
  send_due(now, transport);
}

bool PeerLink::on_lost(Time now) {
  const auto* up = std::get_if<Up>(&state_);
  lost_ = lost_ || up != nullptr;
  if (up != nullptr && now - up->since >= kStoodWell) pause_ = Duration::zero();
  if (pause_ != Duration::zero()) return false;
  pause_ = kPauseFirst;
  return true;
}

size_t PeerLink::on_failed(Time now, Random& random) {
  failing_ = true;
  const Duration pause = std::max(pause_, kPauseFirst);
  pause_ = std::min(pause * 2, kPauseMax);
  // Since the attempt, not since its failure: silence has used up much of it. Half is random, so that those
  // who have lost the same node don't call it together.
  const Time until = dialed_at_ + pause / 2 + Duration(random.below(pause.count() / 2 + 1));
  state_ = Pausing{std::max(now, until)};
  return drop_waiting();
}

size_t PeerLink::reset() {
  lost_ = lost_ || is_up();
  state_ = Idle{};
  failing_ = false;
  pause_ = Duration::zero();
  return drop_waiting();
}

size_t PeerLink::drop_waiting() {
  waiting_bytes_ = 0;
  return std::exchange(waiting_, {}).size();
}

Status PeerLink::send(const PeerMessage& message, const SenderRing& ring, Time now, Duration delay,
                      PeerCodec& codec, Transport& transport) {
  if (held_bytes(transport) > kLinkHeldBytesMax || waiting_.size() >= kLinkWaitingMessagesMax)
    return overloaded(
        cat(waiting_.size(), " messages of ", human_bytes(held_bytes(transport)), " wait already"));
  if (is_up() && waiting_.empty() && delay == Duration::zero())
    return codec.encode(message, ring, now, transport.output(connection()));

  Waiting waiting{now + delay, {}};
  Status encoded = codec.encode(message, ring, now, waiting.bytes);
  if (!encoded.ok()) return encoded;
  waiting_bytes_ += waiting.bytes.size();
  waiting_.push_back(std::move(waiting));
  return {};
}

void PeerLink::send_due(Time now, Transport& transport) {
  if (!is_up()) return;
  while (!waiting_.empty() && waiting_.front().due <= now) {
    transport.output(connection()).append(waiting_.front().bytes);
    waiting_bytes_ -= waiting_.front().bytes.size();
    waiting_.pop_front();
  }
}

size_t PeerLink::held_bytes(const Transport& transport) const {
  return waiting_bytes_ + (is_up() ? transport.unsent_bytes(connection()) : 0);
}

}  // namespace ringkv
