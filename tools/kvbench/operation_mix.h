// What a workload's requests do, in per cent of them.
#pragma once

#include <cstdint>

#include "tools/kvbench/settings.h"

namespace ringkv::tools {

enum class OperationKind : uint8_t {
  kRead,
  kUpdate,           // a blind put of a key that is there
  kInsert,           // a put of a key that isn't
  kReadModifyWrite,  // a get, and a put that replaces just what it saw: one operation, timed as one
};

struct OperationMix {
  uint32_t read_percent = 0;
  uint32_t update_percent = 0;
  uint32_t insert_percent = 0;
  uint32_t read_modify_write_percent = 0;

  // For a random number of any size.
  OperationKind kind_of(uint64_t roll) const;
};

OperationMix mix_of(Workload workload);

// Keys must be there before.
inline bool reads(const OperationMix& mix) { return mix.read_percent + mix.read_modify_write_percent > 0; }

}  // namespace ringkv::tools
