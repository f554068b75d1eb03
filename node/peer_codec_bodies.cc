#include "node/peer_codec_bodies.h"

#include "base/text.h"
#include "node/peer_wire.pb.h"

namespace ringkv {

std::string PeerIncoming::take_values(uint64_t bytes) {
  if (bytes > values_.size()) return fail("length"), std::string();
  std::string taken(values_.substr(0, bytes));
  values_.remove_prefix(bytes);
  return taken;
}

std::string PeerIncoming::take_all_values() {
  const bool all_collected = !collected_.empty() && values_.size() == collected_.size();
  std::string taken = all_collected ? std::move(collected_) : std::string(values_);
  values_ = {};
  return taken;
}

std::string PeerIncoming::text(const std::string& bytes, size_t bytes_max, std::string_view what) {
  if (bytes.size() <= bytes_max) return bytes;
  fail(what);
  return {};
}

Status PeerIncoming::status(const peer_wire::Status& body) {
  const StatusCode code = choice(body.code(), StatusCode::kOutOfSpace, "status");
  return code == StatusCode::kOk ? Status()
                                 : Status(code, text(body.message(), kStatusMessageBytesMax, "status"));
}

bool PeerIncoming::count(int items, size_t items_max, std::string_view what) {
  if (static_cast<size_t>(items) <= items_max) return true;
  fail(what);
  return false;
}

void PeerIncoming::fail(std::string_view what) {
  if (wrong_.empty()) wrong_ = what;
}

Status PeerIncoming::result() const {
  if (!wrong_.empty()) return invalid_argument(cat("a message with a ", wrong_, " that can't be"));
  if (!values_.empty()) return invalid_argument(cat("a message with ", values_.size(), " bytes too many"));
  return {};
}

void fill_status(const Status& status, peer_wire::Status& body) {
  body.set_code(static_cast<uint32_t>(status.code()));
  body.set_message(status.message().substr(0, kStatusMessageBytesMax));
}

}  // namespace ringkv
