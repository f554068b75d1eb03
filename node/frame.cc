#include "node/frame.h"

#include <cstring>

#include "base/bytes.h"
#include "base/check.h"
#include "base/crc32c.h"
#include "base/text.h"

namespace ringkv {
namespace {

constexpr size_t kLengthBytes = 4;
constexpr size_t kChecksumEnd = 8;
constexpr size_t kMessageBytesAt = 12;

void put_u32(std::string& out, size_t at, size_t value) {
  const auto narrow = static_cast<uint32_t>(value);
  std::memcpy(out.data() + at, &narrow, sizeof narrow);
}

}  // namespace

Result<std::optional<Frame>> read_frame(std::string_view available, size_t frame_bytes_max) {
  const std::optional<Frame> not_yet;
  if (available.size() < kLengthBytes) return not_yet;
  ByteReader header(available.substr(0, kFrameHeaderBytes));
  const size_t bytes = kLengthBytes + header.u32();
  if (bytes < kFrameHeaderBytes || bytes > frame_bytes_max)
    return invalid_argument(cat("a frame of ", bytes, " bytes; ", kFrameHeaderBytes, " to ", frame_bytes_max,
                                " are possible here"));
  if (available.size() < kFrameHeaderBytes) return not_yet;

  const uint32_t checksum = header.u32();
  Frame frame;
  frame.type = static_cast<FrameType>(header.u8());
  const bool reserved_zero = header.bytes(3) == std::string_view("\0\0\0", 3);
  const size_t message_bytes = header.u32();
  frame.request = header.u64();
  frame.epoch = header.u64();
  frame.bytes = bytes;
  if (!reserved_zero) return invalid_argument("a frame whose reserved bytes aren't zero");
  if (message_bytes > bytes - kFrameHeaderBytes)
    return invalid_argument(cat("a frame of ", bytes, " bytes with a message of ", message_bytes));
  if (available.size() < bytes) return not_yet;

  if (crc32c(available.substr(kChecksumEnd, bytes - kChecksumEnd)) != checksum)
    return invalid_argument("a frame with a wrong checksum");
  frame.message = available.substr(kFrameHeaderBytes, message_bytes);
  frame.values =
      available.substr(kFrameHeaderBytes + message_bytes, bytes - kFrameHeaderBytes - message_bytes);
  return std::optional<Frame>(frame);
}

FrameWriter::FrameWriter(std::string& out, FrameType type, uint64_t request, uint64_t epoch)
    : out_(out), start_(out.size()) {
  ByteWriter header(out_);
  header.u64(0);  // length and checksum
  header.u32(static_cast<uint8_t>(type));
  header.u32(0);  // message bytes
  header.u64(request);
  header.u64(epoch);
}

void FrameWriter::begin_values() { values_start_ = out_.size(); }

void FrameWriter::finish() {
  if (values_start_ == 0) values_start_ = out_.size();
  CHECK(out_.size() - start_ <= UINT32_MAX);
  put_u32(out_, start_, out_.size() - start_ - kLengthBytes);
  put_u32(out_, start_ + kMessageBytesAt, values_start_ - start_ - kFrameHeaderBytes);
  const uint32_t checksum = crc32c(std::string_view(out_).substr(start_ + kChecksumEnd));
  put_u32(out_, start_ + kLengthBytes, checksum);
}

}  // namespace ringkv
