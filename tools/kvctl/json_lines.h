// The lines that `dump` writes and `load` reads: {"key_b64": …, "value_b64": …}, or {"key_b64": …,
// "siblings_b64": […]} for a key with several values.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ringkv/status.h"

namespace ringkv::tools {

struct LoadEntry {
  std::string key;
  std::vector<std::string> values;  // at least one
};

// Fields that aren't named above are left alone.
Result<LoadEntry> parse_load_line(std::string_view line);

}  // namespace ringkv::tools
