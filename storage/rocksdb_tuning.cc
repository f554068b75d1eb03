#include "storage/rocksdb_tuning.h"

#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>
#include <rocksdb/write_buffer_manager.h>

#include <algorithm>

#include "base/text.h"

namespace ringkv {
namespace {

constexpr uint64_t kMiB = 1ULL << 20;
constexpr uint64_t kMemtableBytesMin = 8 * kMiB;
// Below 32 MiB flushes cost a third of all puts; above 64 MiB nothing is gained.
constexpr uint64_t kMemtableBytesMax = 64 * kMiB;

std::shared_ptr<rocksdb::TableFactory> table_factory(const std::shared_ptr<rocksdb::Cache>& cache) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = cache;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  table.whole_key_filtering = true;
  // Indexes and filters count under the memory budget like everything else.
  table.cache_index_and_filter_blocks = true;
  table.cache_index_and_filter_blocks_with_high_priority = true;
  table.pin_l0_filter_and_index_blocks_in_cache = true;
  return std::shared_ptr<rocksdb::TableFactory>(rocksdb::NewBlockBasedTableFactory(table));
}

rocksdb::ColumnFamilyOptions family_options(uint64_t memtable_bytes,
                                            std::shared_ptr<rocksdb::TableFactory> table) {
  rocksdb::ColumnFamilyOptions family;
  family.write_buffer_size = memtable_bytes;
  family.table_factory = std::move(table);
  family.compression = rocksdb::kLZ4Compression;
  family.bottommost_compression = rocksdb::kZSTD;
  family.level_compaction_dynamic_level_bytes = true;
  return family;
}

rocksdb::DBOptions database_options(rocksdb::Env& env) {
  rocksdb::DBOptions database;
  database.env = &env;
  database.create_if_missing = true;
  database.create_missing_column_families = true;
  database.max_background_jobs = 2;
  database.max_open_files = 512;
  database.bytes_per_sync = kMiB;
  // All families leave the log together. Otherwise a rarely flushed family keeps an old log alive, and damage
  // in it would lie behind what the other families have in table files: RocksDB could not open at all.
  database.atomic_flush = true;
  // A failure fences the store, which is then reopened: nothing may heal behind its back.
  database.max_bgerror_resume_count = 0;
  database.max_log_file_size = kMiB;
  database.keep_log_file_num = 3;
  database.max_manifest_file_size = 16 * kMiB;
  database.stats_dump_period_sec = 0;
  database.stats_persist_period_sec = 0;
  return database;
}

}  // namespace

Status rocksdb_failure(std::string_view what, const std::filesystem::path& path,
                       const rocksdb::Status& status) {
  std::string message = cat(what, " ", path.string(), ": ", status.ToString());
  if (status.IsNoSpace()) return out_of_space(std::move(message));
  if (status.IsCorruption()) return corruption(std::move(message));
  return unavailable(std::move(message));
}

RocksdbTuning tune_rocksdb(rocksdb::Env& env, const RocksdbOptions& options) {
  const uint64_t memtable_bytes = std::clamp(options.memory_bytes / 4, kMemtableBytesMin, kMemtableBytesMax);
  RocksdbTuning tuning;
  // Few shards, for few readers: memtables are charged to the cache in pieces of 256 KiB, and a small shard
  // that got some of them would keep no block.
  constexpr int kShardBits = 2;
  tuning.block_cache =
      rocksdb::NewLRUCache(std::max(options.memory_bytes, 2 * kMemtableBytesMin), kShardBits);
  tuning.database = database_options(env);
  // One memtable fills while another is flushed.
  tuning.database.write_buffer_manager =
      std::make_shared<rocksdb::WriteBufferManager>(2 * memtable_bytes, tuning.block_cache);

  const auto family = family_options(memtable_bytes, table_factory(tuning.block_cache));
  auto data = family;
  data.memtable_prefix_bloom_size_ratio = 0.1;  // most puts look for a key that isn't there
  data.memtable_whole_key_filtering = true;
  tuning.families = {{rocksdb::kDefaultColumnFamilyName, family},
                     {"data", data},
                     {"digests", family},
                     {"hints", family},
                     {"meta", family}};
  return tuning;
}

}  // namespace ringkv
