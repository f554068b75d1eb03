// The bare nodes' clients, for kvbench's load over sockets: a request's id is its slot.
#pragma once

#include <cstdio>

#include "tests/bench/bare/bare_frame.h"
#include "tools/kvbench/compare/protocol.h"

namespace ringkv::bare {

class BareProtocol final : public tools::Protocol {
 public:
  // Neighbouring numbers lie anywhere, as hashed keys do.
  std::string key_of(uint64_t number) const override {
    char key[kKeyBytes + 1];
    std::snprintf(key, sizeof key, "%016llx", static_cast<unsigned long long>(number * 0x9E3779B97F4A7C15));
    return key;
  }

  void put(uint32_t slot, std::string_view key, std::string_view value, std::string& out) override {
    body_.assign(key).append(value);
    append_frame(out, {FrameType::kPut, slot, body_});
  }
  void get(uint32_t slot, std::string_view key, std::string& out) override {
    append_frame(out, {FrameType::kGet, slot, key});
  }

  bool receive(std::string& in, std::string& /*out*/, std::vector<Ended>& ended) override {
    bool right = true;
    take_frames(in, [&](const Frame& frame) {
      right = right && (frame.type == FrameType::kAck || frame.type == FrameType::kValue);
      ended.push_back({.slot = static_cast<uint32_t>(frame.id),
                       .found = frame.type == FrameType::kAck || !frame.body.empty()});
    });
    return right;
  }

 private:
  std::string body_;
};

}  // namespace ringkv::bare
