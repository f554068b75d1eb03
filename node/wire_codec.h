// Messages to frames and back (wire.proto). Bytes from outside are never trusted: what is malformed, too long
// or unknown is refused with a Status that says which field; the connection ends, the process doesn't.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/client_message.h"
#include "base/ids.h"
#include "node/frame.h"
#include "ringkv/status.h"

namespace ringkv {

inline constexpr uint32_t kProtocolVersion = 2;
// A whole record, and room for what describes it.
inline constexpr size_t kReplyBytesMax = size_t{80} << 20;

// First message of a client.
struct Hello {
  uint32_t protocol = kProtocolVersion;
  uint64_t client = 0;  // random bits: the client of its operation ids
};

// The answer of a node that serves it.
struct Welcome {
  uint32_t protocol = kProtocolVersion;
  ClusterId cluster;
  NodeId node;
  std::string name;
  Boot boot;
};

// Keeps one message object of each type for reuse, so one a loop.
class WireCodec {
 public:
  WireCodec();
  ~WireCodec();
  WireCodec(const WireCodec&) = delete;
  WireCodec& operator=(const WireCodec&) = delete;

  void encode(const Hello& hello, std::string& out);
  void encode(const Welcome& welcome, uint64_t epoch, std::string& out);
  void encode_refusal(const Status& why, std::string& out);
  // TOO_LARGE: doesn't fit in a frame, and nothing was written.
  Status encode(const ClientRequest& request, uint64_t request_number, uint64_t epoch, std::string& out);
  // One frame, or several of at most kFrameBytesMax whose last is the kClientReply. What is larger than
  // kReplyBytesMax becomes a TOO_LARGE.
  void encode(const ClientReply& reply, uint64_t request_number, std::string& out);

  Result<Hello> decode_hello(const Frame& frame);
  Result<Welcome> decode_welcome(const Frame& frame);  // a refusal is its status
  Result<ClientRequest> decode_client_request(const Frame& frame);
  // `earlier_values`: of the kClientReplyValues frames with the same number, one after another.
  Result<ClientReply> decode_client_reply(const Frame& frame, std::string_view earlier_values = {});

 private:
  struct Messages;
  std::unique_ptr<Messages> messages_;
};

}  // namespace ringkv
