// Sizes that a client's library and a node refuse alike, with the same words.
#pragma once

#include <string_view>

#include "ringkv/status.h"

namespace ringkv {

// INVALID_ARGUMENT: empty; TOO_LARGE: more than kKeyBytesMax.
Status check_key(std::string_view key);

// TOO_LARGE: more than kValueBytesMax.
Status check_value(std::string_view key, size_t bytes);

}  // namespace ringkv
