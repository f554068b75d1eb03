// libFuzzer: any bytes as what another node says, of any type, behind a right checksum: first byte the type,
// second how much of the rest is values, third how much of those came ahead in parts. What decodes encodes
// again to what decodes again.
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "node/peer_codec.h"

namespace ringkv {
namespace {

constexpr Time kNow{std::chrono::hours(1)};

Frame whole_frame(const std::string& bytes) {
  const auto frame = read_frame(bytes, kFrameBytesMax);
  CHECK(frame.ok() && frame->has_value() && (*frame)->bytes == bytes.size());
  return **frame;
}

void read_as_message(PeerCodec& codec, const Frame& frame, std::string earlier_values) {
  const Result<ReceivedPeerMessage> received = codec.decode(frame, std::move(earlier_values), kNow);
  if (!received.ok()) return;
  std::string bytes, again;
  if (!codec.encode(received->message, received->ring, kNow, bytes).ok()) return;
  const Result<ReceivedPeerMessage> reread = codec.decode(whole_frame(bytes), {}, kNow);
  CHECK(reread.ok() && reread->message.index() == received->message.index());
  CHECK(codec.encode(reread->message, reread->ring, kNow, again).ok());
  CHECK(again == bytes);
}

void read_as_greeting(PeerCodec& codec, const Frame& frame, std::string earlier_values) {
  std::string bytes;
  if (const Result<PeerHello> hello = codec.decode_hello(frame); hello.ok()) {
    codec.encode(*hello, bytes);
    CHECK(bytes.size() <= kUnauthenticatedFrameBytesMax && codec.decode_hello(whole_frame(bytes)).ok());
  }
  bytes.clear();
  if (const Result<PeerWelcome> welcome = codec.decode_welcome(frame); welcome.ok()) {
    codec.encode(*welcome, bytes);
    CHECK(bytes.size() <= kUnauthenticatedFrameBytesMax && codec.decode_welcome(whole_frame(bytes)).ok());
  }
  bytes.clear();
  if (const Result<JoinRequest> request = codec.decode_join(frame); request.ok()) {
    codec.encode(*request, bytes);
    CHECK(bytes.size() <= kUnauthenticatedFrameBytesMax && codec.decode_join(whole_frame(bytes)).ok());
  }
  bytes.clear();
  if (const auto answer = codec.decode_join_answer(frame, std::move(earlier_values)); answer.ok()) {
    codec.encode(*answer, bytes);
    CHECK(codec.decode_join_answer(whole_frame(bytes), {}).ok());
  }
}

}  // namespace
}  // namespace ringkv

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 3) return 0;
  const std::string_view body(reinterpret_cast<const char*>(data) + 3, size - 3);
  const size_t message_bytes = body.size() - body.size() * data[1] / 256;
  const std::string_view values = body.substr(message_bytes);
  const size_t earlier_bytes = values.size() * data[2] / 256;
  ringkv::Frame frame;
  frame.type = static_cast<ringkv::FrameType>(data[0]);
  frame.request = size;
  frame.epoch = data[2];
  frame.message = body.substr(0, message_bytes);
  frame.values = values.substr(earlier_bytes);

  static ringkv::PeerCodec codec;
  ringkv::read_as_message(codec, frame, std::string(values.substr(0, earlier_bytes)));
  ringkv::read_as_greeting(codec, frame, std::string(values.substr(0, earlier_bytes)));
  return 0;
}
