// The hash by which replicas compare records without sending them: over the key, and in order of dot each
// version's dot, kind, time, expiry and value. Contexts, operation ids and sources are outside it, so it is
// the same whatever path a copy came by and however it was encoded; only where nothing but a context is left
// it is over that: others may hold what it supersedes. Keyed by the cluster's secret, so that nobody outside
// can make two contents that cancel each other out in a leaf (XOR of hashes).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/token.h"
#include "storage/record.h"

namespace ringkv {

struct Hash128 {
  uint64_t low = 0;
  uint64_t high = 0;

  Hash128& operator^=(const Hash128& other) {
    low ^= other.low;
    high ^= other.high;
    return *this;
  }
  friend bool operator==(const Hash128&, const Hash128&) = default;
};

class RecordHasher {
 public:
  explicit RecordHasher(std::string_view secret);  // 32 bytes, from the ring description

  // Zero for an absent key, which a leaf doesn't count.
  Hash128 hash(const KeyDigest& key, const Record& record) const;

 private:
  std::string expanded_secret_;
};

// What a leaf counts as the size of a record, the same on every replica: the bytes of its key and values; 0
// where there is no value, only tombstones or nothing: such a key is not counted.
uint64_t content_bytes(std::string_view key, const Record& record);

}  // namespace ringkv
