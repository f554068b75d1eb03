// Numbered keys with their hashes: "key:0", "key:1" and so on.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/ringlab/hashes.h"

namespace ringkv::ringlab {

struct KeySet {
  Hash hash;
  std::vector<std::string> names;
  std::vector<uint64_t> hashes;  // by key

  size_t size() const { return names.size(); }
};

KeySet numbered_keys(std::string_view prefix, uint64_t count, const Hash& hash);

}  // namespace ringkv::ringlab
