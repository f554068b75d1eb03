// RocksDB in one process, without network or copies: threads that put or get one key after the other.
#pragma once

#include <string>

#include "tools/kvbench/report.h"
#include "tools/kvbench/settings.h"

namespace ringkv::bare {

tools::Measurement run_rocksdb_alone(const tools::BenchSettings& settings, uint32_t threads,
                                     const std::string& directory);

}  // namespace ringkv::bare
