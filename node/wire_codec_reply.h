// Replies to frames and back: WireCodec's larger half.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/client_message.h"
#include "node/frame.h"
#include "ringkv/status.h"

namespace ringkv {

class WireReplyCodec {
 public:
  WireReplyCodec();
  ~WireReplyCodec();
  WireReplyCodec(const WireReplyCodec&) = delete;
  WireReplyCodec& operator=(const WireReplyCodec&) = delete;

  // See WireCodec.
  void encode(const ClientReply& reply, uint64_t request_number, std::string& out);
  Result<ClientReply> decode(const Frame& frame, std::string_view earlier_values);

 private:
  struct Message;
  std::unique_ptr<Message> message_;
};

}  // namespace ringkv
