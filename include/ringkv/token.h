// Where a key lies on the ring, for programs that place, partition or check by themselves.
#pragma once

#include <cstdint>
#include <string_view>

namespace ringkv {

// The first 8 bytes, big-endian, of SHA-1 (Dynamo paper, section 4.2, with SHA-1): of the key alone in the
// default bucket, else of the bucket's name, a zero byte, the key. Its top bits are the key's partition.
uint64_t token_of_key(std::string_view key, std::string_view bucket = "");

}  // namespace ringkv
