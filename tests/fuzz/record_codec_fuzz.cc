// libFuzzer: bytes that read as a record or as a client's context must be a sound one.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "storage/record_codec.h"

namespace ringkv {
namespace {

void read_as_record(std::string_view bytes) {
  const Result<RecordHead> head = decode_record_head(bytes);
  const Result<Record> record = decode_record(bytes);
  if (!record.ok()) return;
  CHECK(head.ok());
  CHECK(within_limits(*record));
  CHECK(head_of(*record, head->hash, head->content_bytes) == *head);
  CHECK(merge(*record, *record) == *record);

  std::string again;
  encode_record(*record, head->hash, head->content_bytes, again);
  const Result<Record> reread = decode_record(again);
  CHECK(reread.ok() && *reread == *record);
}

void read_as_client_context(std::string_view bytes) {
  constexpr Token kToken = 0;
  const Result<CausalContext> context = decode_client_context(bytes, kToken);
  if (!context.ok()) return;
  const Result<CausalContext> reread = decode_client_context(encode_client_context(*context, kToken), kToken);
  CHECK(reread.ok() && *reread == *context);
}

}  // namespace
}  // namespace ringkv

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  ringkv::read_as_record(bytes);
  ringkv::read_as_client_context(bytes);
  return 0;
}
