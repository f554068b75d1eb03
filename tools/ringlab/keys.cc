#include "tools/ringlab/keys.h"

namespace ringkv::ringlab {

KeySet numbered_keys(std::string_view prefix, uint64_t count, const Hash& hash) {
  KeySet keys{.hash = hash, .names = {}, .hashes = {}};
  keys.names.reserve(count);
  keys.hashes.reserve(count);
  for (uint64_t number = 0; number < count; ++number) {
    keys.names.push_back(std::string(prefix) + std::to_string(number));
    keys.hashes.push_back(hash(keys.names.back()));
  }
  return keys;
}

}  // namespace ringkv::ringlab
