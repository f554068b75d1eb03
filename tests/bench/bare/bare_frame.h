// What bare nodes and their clients send each other:
//
//   length of what follows (4 bytes)   type (1)   id (8)   body
//
// in the byte order of the machine: all are on one. Keys are 16 bytes.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace ringkv::bare {

enum class FrameType : uint8_t { kPut = 1, kGet, kReplicaPut, kReplicaGet, kAck, kValue };

inline constexpr size_t kKeyBytes = 16;
inline constexpr size_t kHeadBytes = 13;

struct Frame {
  FrameType type;
  uint64_t id;
  std::string_view body;
};

inline void append_frame(std::string& out, const Frame& frame) {
  const auto length = static_cast<uint32_t>(frame.body.size() + kHeadBytes - sizeof(uint32_t));
  char head[kHeadBytes];
  std::memcpy(head, &length, sizeof length);
  std::memcpy(head + 4, &frame.type, sizeof frame.type);
  std::memcpy(head + 5, &frame.id, sizeof frame.id);
  out.append(head, sizeof head).append(frame.body);
}

// Takes whole frames off the front.
template <class OnFrame>
void take_frames(std::string& in, OnFrame on_frame) {
  size_t at = 0;
  while (in.size() - at >= kHeadBytes) {
    uint32_t length = 0;
    Frame frame{};
    std::memcpy(&length, in.data() + at, sizeof length);
    if (in.size() - at < sizeof length + length) break;
    std::memcpy(&frame.type, in.data() + at + 4, sizeof frame.type);
    std::memcpy(&frame.id, in.data() + at + 5, sizeof frame.id);
    frame.body = std::string_view(in).substr(at + kHeadBytes, length + sizeof length - kHeadBytes);
    on_frame(frame);
    at += sizeof length + length;
  }
  in.erase(0, at);
}

}  // namespace ringkv::bare
