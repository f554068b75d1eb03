// Numbers as people write them in a list: "12,90-95".
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "ringkv/status.h"

namespace ringkv::simulation {

using Numbers = std::set<uint64_t>;

std::string text_of(const Numbers& numbers);

// INVALID_ARGUMENT names the word that is no number and no range. Empty: none.
Result<Numbers> numbers_from(std::string_view text);

}  // namespace ringkv::simulation
