// What nodes say to each other, to frames and back (peer_wire.proto). Bytes from outside are never trusted:
// what is malformed, too long or unknown is refused with a Status that says what; the connection ends, the
// process doesn't.
//
// Records and other bulk travel as the frame's raw values. What is larger than a frame goes in parts: frames
// of type kPeerValues, and behind them, with nothing in between, the frame of the message with the rest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/time.h"
#include "gossip/greeting.h"
#include "node/frame.h"
#include "node/peer_message.h"
#include "node/wire_codec.h"
#include "ringkv/status.h"

namespace ringkv {

inline constexpr uint32_t kPeerProtocolVersion = 1;
// A message with its parts: the largest record, its context, and room for what describes it.
inline constexpr size_t kPeerMessageBytesMax = size_t{80} << 20;
// Further away than this no deadline is taken to be.
inline constexpr Duration kPeerTimeoutMax = std::chrono::hours(1);

// The ring that a message was sent under.
struct SenderRing {
  uint64_t lineage = 0;
  uint64_t epoch = 0;

  friend bool operator==(const SenderRing&, const SenderRing&) = default;
};

struct ReceivedPeerMessage {
  PeerMessage message;
  SenderRing ring;
};

// Encoding appends to `out`, decoding takes one frame of the type that it names. One a loop.
class PeerCodec {
 public:
  void encode(const PeerHello& hello, std::string& out);
  void encode(const PeerWelcome& welcome, std::string& out);
  void encode_refusal(const Status& why, std::string& out);
  void encode(const JoinRequest& request, std::string& out);
  void encode(const JoinAnswer& answer, std::string& out);
  // TOO_LARGE: it can't be sent, and nothing was written. Deadlines travel as what is left of them at `now`.
  // A forwarded reply that needs more than a frame becomes a TOO_LARGE itself.
  Status encode(const PeerMessage& message, const SenderRing& ring, Time now, std::string& out);

  Result<PeerHello> decode_hello(const Frame& frame);
  Result<PeerWelcome> decode_welcome(const Frame& frame);  // a refusal is its status
  Result<JoinRequest> decode_join(const Frame& frame);
  // `earlier_values`: of the kPeerValues frames ahead of it, one after another.
  Result<JoinAnswer> decode_join_answer(const Frame& frame, std::string earlier_values);  // so is here
  Result<ReceivedPeerMessage> decode(const Frame& frame, std::string earlier_values, Time now);

 private:
  WireCodec client_codec_;  // of what is forwarded
};

}  // namespace ringkv
