#include "node/peer_codec.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/text.h"
#include "node/peer_codec_bodies.h"
#include "node/peer_codec_frames.h"
#include "node/peer_wire.pb.h"

namespace ringkv {
namespace {

uint64_t remaining_us(Time deadline, Time now) {
  return static_cast<uint64_t>(std::clamp(deadline - now, Duration::zero(), kPeerTimeoutMax).count());
}

Duration timeout_from(uint64_t timeout_us) {
  return Duration(std::min<uint64_t>(timeout_us, kPeerTimeoutMax.count()));
}

template <class Message>
uint64_t request_number_of(const Message& message) {
  if constexpr (requires { message.request; }) return message.request;
  if constexpr (requires { message.round; }) return message.round;
  return 0;
}

template <class Message>
Result<ReceivedPeerMessage> read_as(const Frame& frame, PeerIncoming& in, Time now) {
  typename PeerBody<Message>::Type body;
  const Status parsed = parse_peer_body(frame, PeerBody<Message>::kFrameType, body);
  if (!parsed.ok()) return parsed;
  Message message = from_body(body, in);
  const Status read = in.result();
  if (!read.ok()) return read;
  if constexpr (requires { message.request; }) message.request = frame.request;
  if constexpr (requires { message.round; }) message.round = frame.request;
  if constexpr (requires { message.deadline; }) message.deadline = now + timeout_from(body.timeout_us());
  if constexpr (std::is_same_v<Message, ForwardedRequest>)
    message.body.timeout = timeout_from(body.timeout_us());
  return ReceivedPeerMessage{std::move(message), {body.lineage(), frame.epoch}};
}

// The alternative of the variant that the frame's type names.
template <class... Messages>
Result<ReceivedPeerMessage> read_one_of(const std::variant<Messages...>*, const Frame& frame,
                                        PeerIncoming& in, Time now) {
  std::optional<Result<ReceivedPeerMessage>> read;
  (void)((frame.type == PeerBody<Messages>::kFrameType && (read = read_as<Messages>(frame, in, now), true)) ||
         ...);
  if (read) return std::move(*read);
  return invalid_argument(cat("a message of type ", static_cast<int>(frame.type), ", which is unknown here"));
}

}  // namespace

Status PeerCodec::encode(const PeerMessage& message, const SenderRing& ring, Time now, std::string& out) {
  return std::visit(
      [&]<class Message>(const Message& sent) {
        typename PeerBody<Message>::Type body;
        fill(sent, body);
        if constexpr (requires { sent.deadline; }) body.set_timeout_us(remaining_us(sent.deadline, now));
        body.set_lineage(ring.lineage);
        PeerFrameWriter frame(out, PeerBody<Message>::kFrameType, request_number_of(sent), ring.epoch);
        body.AppendToString(&out);
        frame.begin_values();
        Status appended = append_values(sent, client_codec_, out);
        if (appended.ok()) return frame.finish();
        frame.undo();
        return appended;
      },
      message);
}

Result<ReceivedPeerMessage> PeerCodec::decode(const Frame& frame, std::string earlier_values, Time now) {
  PeerIncoming in(frame.values, std::move(earlier_values), client_codec_);
  return read_one_of(static_cast<const PeerMessage*>(nullptr), frame, in, now);
}

}  // namespace ringkv
