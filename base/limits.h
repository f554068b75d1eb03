// Sizes that a client's library and a node refuse alike, with the same words.
#pragma once

#include <cstdint>
#include <string_view>

#include "ringkv/status.h"

namespace ringkv {

// INVALID_ARGUMENT: empty; TOO_LARGE: more than kKeyBytesMax.
Status check_key(std::string_view key);

// A century: longer ones are mistakes, and near the end of their type they would wrap around.
inline constexpr uint64_t kTtlMillisecondsMax = uint64_t{100} * 366 * 24 * 3600 * 1000;

// INVALID_ARGUMENT: more than kTtlMillisecondsMax. 0 is none.
Status check_ttl(uint64_t ttl_ms);

// TOO_LARGE: more than kValueBytesMax.
Status check_value(std::string_view key, size_t bytes);

}  // namespace ringkv
