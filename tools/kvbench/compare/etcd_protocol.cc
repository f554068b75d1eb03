#include "tools/kvbench/compare/etcd_protocol.h"

#include <utility>

namespace ringkv::tools {
namespace {

// A frame of HTTP/2 (RFC 9113, section 4.1):
//   length (3 bytes)  type (1)  flags (1)  stream (4)  payload
constexpr size_t kHeadBytes = 9;
constexpr size_t kPayloadBytesMax = size_t{1} << 24;

enum Type : uint8_t {
  kData = 0,
  kHeaders = 1,
  kReset = 3,
  kSettings = 4,
  kPing = 6,
  kGoAway = 7,
  kWindowUpdate = 8
};
constexpr uint8_t kEndStream = 1;
constexpr uint8_t kAck = 1;
constexpr uint8_t kEndHeaders = 4;

// What we take is never held back: as large a window as there is, for each stream and for all.
constexpr uint32_t kWindowMax = 0x7FFFFFFF;
constexpr uint32_t kFirstWindow = 65'535;
constexpr uint8_t kInitialWindowSetting = 4;

void append_number(std::string& out, uint64_t number, int bytes) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8)
    out.push_back(static_cast<char>(number >> shift & 0xFF));
}

uint32_t number_at(std::string_view bytes, size_t at, size_t count) {
  uint32_t number = 0;
  for (size_t i = 0; i < count; ++i) number = number << 8 | static_cast<uint8_t>(bytes[at + i]);
  return number;
}

void append_frame(std::string& out, Type type, uint8_t flags, uint32_t stream, std::string_view payload) {
  append_number(out, payload.size(), 3);
  out.push_back(static_cast<char>(type));
  out.push_back(static_cast<char>(flags));
  append_number(out, stream, 4);
  out.append(payload);
}

// Literal headers that enter no table (RFC 7541, section 6.2.2), so that nothing is to be remembered.
void append_text(std::string& block, std::string_view text) {
  block.push_back(static_cast<char>(text.size()));  // below 127: one byte
  block.append(text);
}

std::string headers_for(std::string_view path) {
  std::string block = "\x83\x86";  // :method POST, :scheme http
  block.push_back('\x04');         // :path
  append_text(block, path);
  block.push_back('\x01');  // :authority
  append_text(block, "localhost");
  block.append("\x0F\x10");  // content-type
  append_text(block, "application/grpc");
  block.push_back('\0');
  append_text(block, "te");
  append_text(block, "trailers");
  return block;
}

// A field of a Protobuf message that holds bytes.
void append_bytes_field(std::string& message, char tag, std::string_view bytes) {
  message.push_back(tag);
  size_t size = bytes.size();
  for (; size >= 0x80; size >>= 7) message.push_back(static_cast<char>(size | 0x80));
  message.push_back(static_cast<char>(size));
  message.append(bytes);
}

constexpr char kKeyField = 0x0A;
constexpr char kValueField = 0x12;
constexpr size_t kMessageHeadBytes = 5;  // not compressed, length in 4 bytes

// A RangeResponse is a header, then the pairs (field 2) that were found.
bool has_pair(std::string_view answer) {
  const size_t at = kMessageHeadBytes;
  if (answer.size() < at + 2 || answer[at] != 0x0A) return false;
  const size_t behind = at + 2 + static_cast<uint8_t>(answer[at + 1]);  // the header is short
  return behind < answer.size() && answer[behind] == 0x12;
}

constexpr std::string_view kPutPath = "/etcdserverpb.KV/Put";
constexpr std::string_view kRangePath = "/etcdserverpb.KV/Range";

}  // namespace

struct EtcdProtocol::Frame {
  uint8_t type;
  uint8_t flags;
  uint32_t stream;
  std::string_view payload;
};

void EtcdProtocol::open(std::string& out) {
  out.append("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
  std::string settings;
  append_number(settings, kInitialWindowSetting, 2);
  append_number(settings, kWindowMax, 4);
  append_frame(out, kSettings, 0, 0, settings);
  std::string more;
  append_number(more, kWindowMax - kFirstWindow, 4);
  append_frame(out, kWindowUpdate, 0, 0, more);
}

void EtcdProtocol::put(uint32_t slot, std::string_view key, std::string_view value, std::string& out) {
  std::string message;
  append_bytes_field(message, kKeyField, key);
  append_bytes_field(message, kValueField, value);
  call({.slot = slot, .get = false, .answer = {}}, kPutPath, message, out);
}

// Linearizable, as etcd does it when nothing else is asked for: what quorum reads are compared with.
void EtcdProtocol::get(uint32_t slot, std::string_view key, std::string& out) {
  std::string message;
  append_bytes_field(message, kKeyField, key);
  call({.slot = slot, .get = true, .answer = {}}, kRangePath, message, out);
}

void EtcdProtocol::call(const Stream& under_way, std::string_view method, const std::string& message,
                        std::string& out) {
  const uint32_t stream = std::exchange(next_stream_, next_stream_ + 2);
  streams_.emplace(stream, under_way);
  std::string data(1, '\0');
  append_number(data, message.size(), 4);
  data.append(message);
  Waiting call{.frames = {}, .data_bytes = static_cast<int64_t>(data.size())};
  append_frame(call.frames, kHeaders, kEndHeaders, stream, headers_for(method));
  append_frame(call.frames, kData, kEndStream, stream, data);
  waiting_.push_back(std::move(call));
  send_waiting(out);
}

void EtcdProtocol::send_waiting(std::string& out) {
  while (!waiting_.empty() && waiting_.front().data_bytes <= window_) {
    window_ -= waiting_.front().data_bytes;
    out.append(waiting_.front().frames);
    waiting_.pop_front();
  }
}

bool EtcdProtocol::receive(std::string& in, std::string& out, std::vector<Ended>& ended) {
  const std::string_view bytes = in;
  size_t at = 0;
  while (bytes.size() - at >= kHeadBytes) {
    const size_t length = number_at(bytes, at, 3);
    if (length >= kPayloadBytesMax) return false;
    if (bytes.size() - at < kHeadBytes + length) break;
    const Frame frame{.type = static_cast<uint8_t>(bytes[at + 3]),
                      .flags = static_cast<uint8_t>(bytes[at + 4]),
                      .stream = number_at(bytes, at + 5, 4) & kWindowMax,
                      .payload = bytes.substr(at + kHeadBytes, length)};
    if (!on_frame(frame, out, ended)) return false;
    at += kHeadBytes + length;
  }
  in.erase(0, at);
  return true;
}

bool EtcdProtocol::on_frame(const Frame& frame, std::string& out, std::vector<Ended>& ended) {
  switch (frame.type) {
    case kSettings:
      if ((frame.flags & kAck) == 0) append_frame(out, kSettings, kAck, 0, "");
      return true;
    case kPing:
      if ((frame.flags & kAck) == 0) append_frame(out, kPing, kAck, 0, frame.payload);
      return true;
    case kWindowUpdate:
      if (frame.payload.size() != 4) return false;
      if (frame.stream == 0) window_ += number_at(frame.payload, 0, 4) & kWindowMax;
      send_waiting(out);
      return true;
    case kData: {
      const auto stream = streams_.find(frame.stream);
      if (stream == streams_.end()) return false;
      stream->second.answer.append(frame.payload);
      break;
    }
    case kReset:
      on_end(frame.stream, true, ended);
      return true;
    case kGoAway:
      return false;
    default:
      break;
  }
  if (frame.type <= kHeaders && (frame.flags & kEndStream) != 0) on_end(frame.stream, false, ended);
  return true;
}

// An error is trailers alone: an answer that has a message was a success.
void EtcdProtocol::on_end(uint32_t stream, bool reset, std::vector<Ended>& ended) {
  const auto at = streams_.find(stream);
  if (at == streams_.end()) return;
  const std::string& answer = at->second.answer;
  ended.push_back({.slot = at->second.slot,
                   .ok = !reset && answer.size() > kMessageHeadBytes,
                   .found = !at->second.get || has_pair(answer)});
  streams_.erase(at);
}

}  // namespace ringkv::tools
