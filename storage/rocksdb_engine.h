// The engine of a real node: RocksDB, one column family for each Family.
#pragma once

#include <cstdint>
#include <filesystem>

#include "storage/engine.h"

namespace ringkv {

struct RocksdbOptions {
  std::filesystem::path path;            // the db/ of a data directory; made when missing
  uint64_t memory_bytes = 256ULL << 20;  // block cache and memtables together
  bool may_create = true;                // false: there must be one, else CORRUPTION
};

// Opens, and first replays the log. Where the log is damaged, what was written before the damage is kept,
// flushed to table files and synced before this returns, and `log_damage` says which file and where.
// CORRUPTION when anything else is damaged, or when the database is gone or has lost its CURRENT file,
// OUT_OF_SPACE, or UNAVAILABLE. Blocks; any thread.
//
// With kSetDamagedAside it first reads every table file, and moves those that are damaged or gone out of the
// database, to damaged/ beside it; everything else stays (storage/rocksdb_set_aside.h).
Result<OpenedEngine> open_rocksdb(const RocksdbOptions& options, OpenMode mode = OpenMode::kPlain);

}  // namespace ringkv
