// libFuzzer: any bytes as a message of any type, behind a right checksum: first byte the type, second how
// much of the rest is values. What decodes encodes again to what decodes again.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "node/wire_codec.h"

namespace {

ringkv::Frame whole_frame(const std::string& bytes) {
  const auto frame = ringkv::read_frame(bytes, ringkv::kFrameBytesMax);
  if (!frame.ok() || !frame->has_value()) std::abort();
  return **frame;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const std::string_view body(reinterpret_cast<const char*>(data) + 2, size - 2);
  const size_t message_bytes = body.size() - body.size() * data[1] / 256;
  ringkv::Frame frame;
  frame.type = static_cast<ringkv::FrameType>(data[0]);
  frame.message = body.substr(0, message_bytes);
  frame.values = body.substr(message_bytes);

  ringkv::WireCodec codec;
  (void)codec.decode_hello(frame);
  (void)codec.decode_welcome(frame);
  std::string bytes;
  const auto request = codec.decode_client_request(frame);
  if (request.ok() && codec.encode(*request, 1, 1, bytes).ok() &&
      !codec.decode_client_request(whole_frame(bytes)).ok())
    std::abort();
  bytes.clear();
  const auto reply = codec.decode_client_reply(frame);
  if (reply.ok()) {
    codec.encode(*reply, 1, bytes);
    if (!codec.decode_client_reply(whole_frame(bytes)).ok()) std::abort();
  }
  return 0;
}
