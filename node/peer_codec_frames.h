// One message written as one frame, or, where it is larger, as several. For node/peer_codec*.cc.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "node/frame.h"
#include "ringkv/status.h"

namespace ringkv {

// Of the Protobuf part alone: room for all members' states, and for a list of all partitions; what a parser
// makes of it stays within some tens of MiB.
inline constexpr size_t kPeerBodyBytesMax = size_t{1} << 20;

// As FrameWriter: the body is appended, begin_values() called, the values appended.
class PeerFrameWriter {
 public:
  PeerFrameWriter(std::string& out, FrameType type, uint64_t request, uint64_t epoch);
  void begin_values();
  // TOO_LARGE: `out` is again as it was.
  Status finish();
  void undo();

 private:
  void split();

  std::string& out_;
  const size_t start_;
  const FrameType type_;
  const uint64_t request_;
  const uint64_t epoch_;
  FrameWriter frame_;
  size_t values_start_ = 0;
};

// OK, or why the frame isn't one whose body may be parsed.
Status check_peer_body(const Frame& frame, FrameType type);

Status malformed_peer_body(FrameType type);

template <class Body>
Status parse_peer_body(const Frame& frame, FrameType type, Body& body) {
  Status checked = check_peer_body(frame, type);
  if (!checked.ok()) return checked;
  if (!body.ParseFromArray(frame.message.data(), static_cast<int>(frame.message.size())))
    return malformed_peer_body(type);
  return {};
}

}  // namespace ringkv
