// Keys of the `data` family: token (8 bytes, big-endian), bucket, a zero byte, key. So a partition is one
// contiguous range, in token order: streamed and dropped sequentially. Bucket names have no zero byte.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/token.h"

namespace ringkv {

std::string storage_key(Token token, std::string_view bucket, std::string_view key);

struct StorageKeyParts {
  Token token = 0;
  std::string_view bucket;
  std::string_view key;
};
// Nothing when the bytes can't be a storage key.
std::optional<StorageKeyParts> parse_storage_key(std::string_view bytes);

// The lower end of a partition's range; the upper end is the next one's, or empty for the last.
std::string first_storage_key(Partition partition, uint32_t partitions);
std::string end_storage_key(Partition partition, uint32_t partitions);
// From one partition to another, both included; its upper end is never empty.
struct StorageKeyRange {
  std::string lower;
  std::string upper;
};
StorageKeyRange storage_key_range(Partition first, Partition last, uint32_t partitions);

}  // namespace ringkv
