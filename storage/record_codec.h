// Records as bytes: on disk, and, with their context filled, between replicas.
//
// (The format is drawn in record_codec.cc.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/token.h"
#include "ringkv/status.h"
#include "ringkv/store.h"
#include "storage/record.h"
#include "storage/record_hash.h"

namespace ringkv {

// What decoding accepts. A record past these can be encoded but never read again: whoever merges or stamps
// asks within_limits() first.
inline constexpr size_t kRecordVersionsMax = 1000;
inline constexpr size_t kContextActorsMax = 4096;

bool within_limits(const Record& record);

// All of a record but its values: enough to stamp, to compare and to keep leaves, and cheap to read.
struct RecordHead {
  CausalContext context;
  std::vector<Dot> dots;       // of the versions, in order
  Hash128 hash;                // as RecordHasher computes it; stored in the bytes
  uint64_t content_bytes = 0;  // as content_bytes() computes it; stored in the bytes
  // It may go some day by itself: no version is a value that stays. True for a record without versions. It
  // follows from the rest of the record, and takes no part in comparisons: a head may be made without it.
  bool transient = false;

  bool absent() const { return dots.empty() && context.vector.empty(); }

  friend bool operator==(const RecordHead& a, const RecordHead& b) {
    return a.context == b.context && a.dots == b.dots && a.hash == b.hash &&
           a.content_bytes == b.content_bytes;
  }
};

// All of a record but the bytes of its values; that they are there in whole has been checked.
struct RecordOutline {
  RecordHead head;
  std::vector<Version> versions;  // their values empty
};

// A record as it goes to the disk and to other nodes, encoded once. Its context is filled.
struct EncodedRecord {
  std::shared_ptr<const std::string> bytes;
  RecordHead head;
};

RecordHead head_of(const Record& record, const Hash128& hash, uint64_t content_bytes);

// Appends. `hash` and `content_bytes` are stored in front, so that they are computed once in a record's life.
void encode_record(const Record& record, const Hash128& hash, uint64_t content_bytes, std::string& out);

// Bytes from outside: refused when malformed, never trusted. CORRUPTION otherwise.
Result<Record> decode_record(std::string_view bytes);
Result<RecordHead> decode_record_head(std::string_view bytes);
Result<RecordOutline> decode_record_outline(std::string_view bytes);

// A client's context: opaque to it, bound to the key's token, with a checksum. INVALID_ARGUMENT when it is
// damaged, or was made for another key. (The format is drawn in client_context.cc.)
std::string encode_client_context(const CausalContext& context, Token token);
Result<CausalContext> decode_client_context(std::string_view bytes, Token token);

}  // namespace ringkv
