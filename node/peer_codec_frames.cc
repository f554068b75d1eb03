#include "node/peer_codec_frames.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "node/peer_codec.h"

namespace ringkv {
namespace {

constexpr size_t kPartBytes = size_t{8} << 20;

}  // namespace

PeerFrameWriter::PeerFrameWriter(std::string& out, FrameType type, uint64_t request, uint64_t epoch)
    : out_(out),
      start_(out.size()),
      type_(type),
      request_(request),
      epoch_(epoch),
      frame_(out, type, request, epoch) {}

void PeerFrameWriter::begin_values() {
  values_start_ = out_.size();
  frame_.begin_values();
}

void PeerFrameWriter::undo() { out_.resize(start_); }

Status PeerFrameWriter::finish() {
  const size_t bytes = out_.size() - start_;
  const size_t body_bytes = values_start_ - start_ - kFrameHeaderBytes;
  if (bytes > kPeerMessageBytesMax || body_bytes > kPeerBodyBytesMax) {
    undo();
    return too_large(cat("a message of ", bytes, " bytes to another node; at most ", kPeerMessageBytesMax,
                         " are possible, and ", kPeerBodyBytesMax, " without records; this has ",
                         body_bytes));
  }
  if (bytes <= kFrameBytesMax) {
    frame_.finish();
  } else {
    split();
  }
  return {};
}

// The only messages whose values are copied once more: they are rare.
void PeerFrameWriter::split() {
  const std::string_view whole = std::string_view(out_).substr(start_);
  const std::string_view body = whole.substr(kFrameHeaderBytes, values_start_ - start_ - kFrameHeaderBytes);
  std::string_view values = whole.substr(values_start_ - start_);
  std::string frames;
  frames.reserve(whole.size() + (whole.size() / kPartBytes + 1) * kFrameHeaderBytes);
  while (kFrameHeaderBytes + body.size() + values.size() > kFrameBytesMax) {
    FrameWriter part(frames, FrameType::kPeerValues, request_, epoch_);
    part.begin_values();
    const size_t part_bytes = std::min(values.size(), kPartBytes);
    frames.append(values.substr(0, part_bytes));
    values.remove_prefix(part_bytes);
    part.finish();
  }
  FrameWriter last(frames, type_, request_, epoch_);
  frames.append(body);
  last.begin_values();
  frames.append(values);
  last.finish();
  if (start_ == 0) {
    out_ = std::move(frames);
  } else {
    out_.replace(start_, std::string::npos, frames);
  }
}

Status check_peer_body(const Frame& frame, FrameType type) {
  if (frame.type != type) {
    return invalid_argument(cat("a frame of type ", static_cast<int>(frame.type), " where type ",
                                static_cast<int>(type), " was expected"));
  }
  if (frame.message.size() > kPeerBodyBytesMax)
    return invalid_argument(cat("a message of ", frame.message.size(), " bytes without its values; at most ",
                                kPeerBodyBytesMax, " are possible"));
  return {};
}

Status malformed_peer_body(FrameType type) {
  return invalid_argument(cat("a malformed message of type ", static_cast<int>(type)));
}

}  // namespace ringkv
