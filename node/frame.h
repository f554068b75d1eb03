// Messages on a byte stream:
//
//    0  u32  length         bytes after this field
//    4  u32  checksum       CRC-32C of everything after this field
//    8  u8   type
//    9  u8   zero, u16 zero
//   12  u32  message bytes
//   16  u64  request        the asker's number of the request; an answer carries it back
//   24  u64  epoch          the sender's ring epoch; between nodes its lineage is in the message
//   32       message        Protobuf
//            values         raw bytes, to the end; copied at most once
//
// Little-endian. Every length is checked against a bound before anything is allocated or awaited.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ringkv/status.h"

namespace ringkv {

inline constexpr size_t kFrameHeaderBytes = 32;
// The largest value, its key, and room for a context; larger answers travel in several frames.
inline constexpr size_t kFrameBytesMax = (size_t{16} << 20) + (size_t{1} << 20);
// From a connection that hasn't said who it is.
inline constexpr size_t kUnauthenticatedFrameBytesMax = 4096;

enum class FrameType : uint8_t {
  kHello = 1,
  kWelcome = 2,
  kRefused = 3,
  kClientRequest = 16,
  kClientReply = 17,
  kClientReplyValues = 18,  // values of a reply that is larger than a frame, ahead of it, with its number

  // Between nodes (node/peer_wire.proto).
  kPeerHello = 32,
  kPeerWelcome = 33,
  kPeerRefused = 34,
  kJoinRequest = 35,
  kJoinAnswer = 36,
  kPeerValues = 37,  // values of a message that is larger than a frame, ahead of it, in parts

  kProbe = 48,
  kProbeAck = 49,
  kProbeRequest = 50,
  kStateDigests = 51,
  kStateDeltas = 52,
  kRingWanted = 53,
  kRingChosen = 54,
  kPrepare = 55,
  kPromise = 56,
  kAccept = 57,
  kAccepted = 58,

  kReplicaPut = 64,
  kReplicaPutAck = 65,
  kReplicaGet = 66,
  kReplicaGetReply = 67,
  kReplicaScan = 68,
  kReplicaScanReply = 69,
  kForwardedRequest = 70,
  kForwardedReply = 71,
  kHintPut = 72,
  kHintCovered = 73,
  kRoundCompare = 74,
  kRoundDigests = 75,
  kRoundOpen = 76,
  kRoundLeaves = 77,
  kRoundWalk = 78,
  kRoundSlice = 79,
  kRangesOffered = 80,
  kRangesTaken = 81,
};

struct Frame {
  FrameType type{};
  uint64_t request = 0;
  uint64_t epoch = 0;
  std::string_view message;  // into the bytes that it was read from
  std::string_view values;
  size_t bytes = 0;  // all of it, as it lay on the stream
};

// The first whole frame of `available`, or nothing when it isn't all there yet. INVALID_ARGUMENT: this stream
// can't be used any more (wrong length or checksum), and says which.
Result<std::optional<Frame>> read_frame(std::string_view available, size_t frame_bytes_max);

// Writes a frame at the end of `out`: the constructor leaves room for the header; whoever encodes appends the
// message, calls begin_values(), appends the values; finish() fills in lengths and checksum.
class FrameWriter {
 public:
  FrameWriter(std::string& out, FrameType type, uint64_t request, uint64_t epoch);
  void begin_values();
  void finish();

 private:
  std::string& out_;
  const size_t start_;
  size_t values_start_ = 0;
};

}  // namespace ringkv
