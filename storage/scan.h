// One bounded step of a walk over a store's records in token order, partition by partition. Blocks on the
// disk: for a read worker.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/token.h"
#include "ringkv/status.h"
#include "storage/engine.h"
#include "storage/record.h"

namespace ringkv {

struct ScanStep {
  std::string bucket;
  std::string prefix;
  std::string after;                  // storage key of the last record seen; empty: from the start
  std::vector<Partition> partitions;  // in order; records of others aren't looked at
  uint32_t ring_partitions = 0;
  size_t records_max = 0;  // of the answer
  bool values = false;     // false: they are left out of the records, which still tell who lives
};

struct ScanRecord {
  std::string storage_key;
  std::string bytes;      // encoded
  bool stripped = false;  // its context must be filled before it leaves the node
};

struct ScanSlice {
  std::vector<ScanRecord> records;  // deleted and expired ones too: they replace what others hold
  std::string last;                 // storage key of the last record looked at
  bool at_end = false;              // there is none behind it in these partitions
};

// Ends after records_max records, about 1 MiB of answer, or 20,000 records or 16 MiB looked at, whichever
// comes first, so that no step takes long, however few records match. CORRUPTION names the key of a damaged
// record.
Result<ScanSlice> scan_slice(Engine& engine, const ScanStep& step);

// The distinct live values of a record, in order of dot.
std::vector<std::string> live_values(Record record, uint64_t now_ms);

}  // namespace ringkv
