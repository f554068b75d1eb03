#include "base/bytes.h"
#include "base/crc32c.h"
#include "storage/record_codec.h"

// A client's context, format 1:
//
//   u8   format (1)
//   u64  token of the key
//   u64  highest time
//        actors (varint), then each: u64 node, u64 boot, counter (varint)   in order, each once
//   u32  CRC-32C of all before it
//
// The checksum finds damage, not intent: a client that makes up contexts can only hurt keys it may write.

namespace ringkv {
namespace {

constexpr uint8_t kFormat = 1;
constexpr size_t kChecksumBytes = 4;
constexpr size_t kEntryBytesMin = 17;

CausalContext read_context(ByteReader& reader) {
  CausalContext context;
  context.highest_time = reader.u64();
  const size_t count = reader.count(kEntryBytesMin);
  if (count > kContextActorsMax) reader.fail();
  Actor last;
  for (size_t i = 0; i < count && reader.ok(); ++i) {
    const NodeId node{reader.u64()};
    const Actor actor{node, Boot{reader.u64()}};
    const uint64_t counter = reader.varint();
    if (counter == 0 || (i > 0 && !(last < actor))) reader.fail();
    context.vector.raise(actor, counter);
    last = actor;
  }
  return context;
}

Status damaged() {
  return invalid_argument("the context is damaged: pass on the bytes of a get as they are, or none");
}

}  // namespace

std::string encode_client_context(const CausalContext& context, Token token) {
  std::string out;
  ByteWriter writer(out);
  writer.u8(kFormat);
  writer.u64(token);
  writer.u64(context.highest_time);
  writer.varint(context.vector.entries().size());
  for (const VersionVector::Entry& entry : context.vector.entries()) {
    writer.u64(entry.actor.node.value);
    writer.u64(entry.actor.boot.value);
    writer.varint(entry.counter);
  }
  writer.u32(crc32c(out));
  return out;
}

Result<CausalContext> decode_client_context(std::string_view bytes, Token token) {
  if (bytes.size() < kChecksumBytes) return damaged();
  const std::string_view summed = bytes.substr(0, bytes.size() - kChecksumBytes);
  ByteReader checksum(bytes.substr(summed.size()));
  if (checksum.u32() != crc32c(summed)) return damaged();

  ByteReader reader(summed);
  if (reader.u8() != kFormat) {
    return invalid_argument("the context was made by another version of ringkv: get the key again");
  }
  const Token made_for = reader.u64();
  CausalContext context = read_context(reader);
  if (!reader.finished()) return damaged();
  if (made_for != token) return invalid_argument("the context was made for another key");
  return context;
}

}  // namespace ringkv
