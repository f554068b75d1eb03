// How RocksDB is set up for our load: small records, written in many places at once, read back by key,
// streamed by partition.
#pragma once

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/options.h>

#include <memory>
#include <vector>

#include "storage/rocksdb_engine.h"

namespace ringkv {

struct RocksdbTuning {
  std::shared_ptr<rocksdb::Cache> block_cache;  // memtables are charged to it
  rocksdb::DBOptions database;
  // RocksDB's own "default", which stays empty, then one for each Family in its order.
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
};

// The reason is RocksDB's own; it names the table file where a block is damaged.
Status rocksdb_failure(std::string_view what, const std::filesystem::path& path,
                       const rocksdb::Status& status);

RocksdbTuning tune_rocksdb(rocksdb::Env& env, const RocksdbOptions& options);

}  // namespace ringkv
