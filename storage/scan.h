// One bounded step of a walk over a store's records in token order. Blocks on the disk: for a read worker.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ringkv/status.h"
#include "ringkv/store.h"
#include "storage/engine.h"
#include "storage/record.h"

namespace ringkv {

struct ScanStep {
  std::string bucket;
  std::string prefix;
  std::string after;       // storage key of the last record seen; empty: from the start
  size_t entries_max = 0;  // of the answer
  bool values = false;
  uint64_t now_ms = 0;  // what has expired by then is not shown
};

struct ScanSlice {
  std::vector<ScanEntry> entries;
  std::string last;     // storage key of the last record looked at
  bool at_end = false;  // there is none behind it
};

// Ends after entries_max entries, about 1 MiB of answer, or 20,000 records or 16 MiB looked at, whichever
// comes first, so that no step takes long, however few records match. CORRUPTION names the key of a damaged
// record.
Result<ScanSlice> scan_slice(Engine& engine, const ScanStep& step);

// The distinct live values of a record, in order of dot.

std::vector<std::string> live_values(Record record, uint64_t now_ms);

}  // namespace ringkv
