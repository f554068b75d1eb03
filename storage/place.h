// Where a key lives: computed once a request, by its coordinator.
#pragma once

#include <string>
#include <string_view>

#include "base/token.h"
#include "storage/leaf_table.h"

namespace ringkv {

struct Place {
  KeyDigest digest;      // for the ring and the record's hash
  KeyIdentity identity;  // for whatever is kept by key
  Token token = 0;
  Partition partition = 0;
  LeafId leaf = 0;
  std::string storage_key;
};

// How tokens are made and how many partitions they fall into: of the ring.
struct Placement {
  uint32_t partitions = 0;
  TokenFunction token = &token_of;
};

Place place_of(const Placement& placement, std::string_view bucket, std::string_view key);

}  // namespace ringkv
