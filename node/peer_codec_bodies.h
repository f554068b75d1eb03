// Each message's half of the codec: for a message M and its Protobuf body B (peer_wire.proto)
//
//   fill(M, B)            everything but the raw values, the request's number, the deadline and the lineage
//   append_values(M, …)   the raw values, where there are any
//   from_body(B, in)      the message again; what is wrong with it is told to `in`
//
// For node/peer_codec*.cc.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "gossip/greeting.h"
#include "node/frame.h"
#include "node/peer_message.h"
#include "node/wire_codec.h"
#include "ringkv/status.h"

namespace ringkv {

namespace peer_wire {
class Accept;
class Accepted;
class ForwardedReply;
class ForwardedRequest;
class HealthClaim;
class Hello;
class HintCovered;
class HintPut;
class JoinAnswer;
class JoinRequest;
class PeerState;
class Prepare;
class Probe;
class ProbeAck;
class ProbeRequest;
class Promise;
class RangesOffered;
class RangesTaken;
class ReplicaGet;
class ReplicaGetReply;
class ReplicaPut;
class ReplicaPutAck;
class ReplicaScan;
class ReplicaScanReply;
class RingChosen;
class RingWanted;
class RoundCompare;
class RoundDigests;
class RoundLeaves;
class RoundOpen;
class RoundSlice;
class RoundWalk;
class StateDeltas;
class StateDigests;
class Status;
class Welcome;
}  // namespace peer_wire

// Bounds on what is read. Names and addresses are longer than any that a node accepts as its own.
inline constexpr size_t kNameBytesMax = 64;
inline constexpr size_t kDigestBytesMax = 64;
inline constexpr size_t kStatusMessageBytesMax = 1024;

// What one message is read with: its raw values, and the first thing that was found wrong with it.
class PeerIncoming {
 public:
  // `collected`: the values of earlier frames, if there were any.
  PeerIncoming(std::string_view of_frame, std::string collected, WireCodec& client_codec)
      : collected_(std::move(collected)), client_codec_(client_codec) {
    if (!collected_.empty()) collected_.append(of_frame);
    values_ = collected_.empty() ? of_frame : std::string_view(collected_);
  }
  PeerIncoming(const PeerIncoming&) = delete;
  PeerIncoming& operator=(const PeerIncoming&) = delete;

  std::string take_values(uint64_t bytes);
  std::string take_all_values();  // without a copy where they came in parts
  std::string_view peek_values() const { return values_; }
  void drop_values() { values_ = {}; }  // they were read where they lie

  std::string text(const std::string& bytes, size_t bytes_max, std::string_view what);
  template <class Enum>
  Enum choice(uint32_t number, Enum last, std::string_view what) {
    if (number > static_cast<uint32_t>(last)) fail(what);
    return static_cast<Enum>(number <= static_cast<uint32_t>(last) ? number : 0);
  }
  Status status(const peer_wire::Status& body);
  // False, and told: more than there can be.
  bool count(int items, size_t items_max, std::string_view what);

  void fail(std::string_view what);
  // OK: nothing was wrong, and all values were taken.
  Status result() const;

  WireCodec& client_codec() { return client_codec_; }

 private:
  std::string collected_;
  std::string_view values_;
  WireCodec& client_codec_;
  std::string wrong_;
};

void fill_status(const Status& status, peer_wire::Status& body);
template <class Body>
void fill_status_of(const Status& status, Body& body) {
  if (!status.ok()) fill_status(status, *body.mutable_status());
}
template <class Body>
Status status_from(const Body& body, PeerIncoming& in) {
  return body.has_status() ? in.status(body.status()) : Status();
}
void fill(const PeerState& state, peer_wire::PeerState& body);
PeerState from_body(const peer_wire::PeerState& body, PeerIncoming& in);

template <class Message>
struct PeerBody;

#define RINGKV_PEER_MESSAGE(Message)                               \
  template <>                                                      \
  struct PeerBody<Message> {                                       \
    using Type = peer_wire::Message;                               \
    static constexpr FrameType kFrameType = FrameType::k##Message; \
  };                                                               \
  void fill(const Message& message, peer_wire::Message& body);     \
  Message from_body(const peer_wire::Message& body, PeerIncoming& in)

RINGKV_PEER_MESSAGE(Probe);
RINGKV_PEER_MESSAGE(ProbeAck);
RINGKV_PEER_MESSAGE(ProbeRequest);
RINGKV_PEER_MESSAGE(StateDigests);
RINGKV_PEER_MESSAGE(StateDeltas);
RINGKV_PEER_MESSAGE(RingWanted);
RINGKV_PEER_MESSAGE(RingChosen);
RINGKV_PEER_MESSAGE(Prepare);
RINGKV_PEER_MESSAGE(Promise);
RINGKV_PEER_MESSAGE(Accept);
RINGKV_PEER_MESSAGE(Accepted);
RINGKV_PEER_MESSAGE(ReplicaPut);
RINGKV_PEER_MESSAGE(ReplicaPutAck);
RINGKV_PEER_MESSAGE(ReplicaGet);
RINGKV_PEER_MESSAGE(ReplicaGetReply);
RINGKV_PEER_MESSAGE(ReplicaScan);
RINGKV_PEER_MESSAGE(ReplicaScanReply);
RINGKV_PEER_MESSAGE(ForwardedRequest);
RINGKV_PEER_MESSAGE(ForwardedReply);
RINGKV_PEER_MESSAGE(HintPut);
RINGKV_PEER_MESSAGE(HintCovered);
RINGKV_PEER_MESSAGE(RoundCompare);
RINGKV_PEER_MESSAGE(RoundDigests);
RINGKV_PEER_MESSAGE(RoundOpen);
RINGKV_PEER_MESSAGE(RoundLeaves);
RINGKV_PEER_MESSAGE(RoundWalk);
RINGKV_PEER_MESSAGE(RoundSlice);
RINGKV_PEER_MESSAGE(RangesOffered);
RINGKV_PEER_MESSAGE(RangesTaken);

#undef RINGKV_PEER_MESSAGE

// Most messages have no raw values.
template <class Message>
Status append_values(const Message&, WireCodec&, std::string&) {
  return {};
}
Status append_values(const RingChosen& chosen, WireCodec&, std::string& out);
Status append_values(const Promise& promise, WireCodec&, std::string& out);
Status append_values(const Accept& accept, WireCodec&, std::string& out);
Status append_values(const ReplicaPut& put, WireCodec&, std::string& out);
Status append_values(const ReplicaGetReply& reply, WireCodec&, std::string& out);
Status append_values(const ReplicaScanReply& reply, WireCodec&, std::string& out);
Status append_values(const ForwardedRequest& forwarded, WireCodec& client_codec, std::string& out);
Status append_values(const ForwardedReply& forwarded, WireCodec& client_codec, std::string& out);
Status append_values(const HintPut& put, WireCodec&, std::string& out);
Status append_values(const HintCovered& covered, WireCodec&, std::string& out);
Status append_values(const RoundDigests& digests, WireCodec&, std::string& out);
Status append_values(const RoundLeaves& leaves, WireCodec&, std::string& out);
Status append_values(const RoundWalk& walk, WireCodec&, std::string& out);
Status append_values(const RoundSlice& slice, WireCodec&, std::string& out);

}  // namespace ringkv
