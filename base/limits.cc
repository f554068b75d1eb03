#include "base/limits.h"

#include "base/text.h"
#include "ringkv/store.h"

namespace ringkv {

Status check_key(std::string_view key) {
  if (key.empty()) return invalid_argument(cat("the key is empty; a key has 1 to ", kKeyBytesMax, " bytes"));
  if (key.size() > kKeyBytesMax)
    return too_large(cat("key ", display_key(key), ": a key has at most ", kKeyBytesMax, " bytes"));
  return {};
}

Status check_ttl(uint64_t ttl_ms) {
  if (ttl_ms <= kTtlMillisecondsMax) return {};
  return invalid_argument(cat("the ttl must be at most 100 years, not ", ttl_ms, " ms"));
}

Status check_value(std::string_view key, size_t bytes) {
  if (bytes <= kValueBytesMax) return {};
  return too_large(cat("key ", display_key(key), ": the value has ", bytes, " bytes; at most ",
                       kValueBytesMax, " (", human_bytes(kValueBytesMax), ")"));
}

}  // namespace ringkv
