// open_rocksdb on a file system of the caller's choice: tests break one.
#pragma once

#include <rocksdb/env.h>

#include "storage/rocksdb_engine.h"

namespace ringkv {

// `env` outlives the engine.
Result<OpenedEngine> open_rocksdb_on(rocksdb::Env& env, const RocksdbOptions& options,
                                     OpenMode mode = OpenMode::kPlain);

}  // namespace ringkv
