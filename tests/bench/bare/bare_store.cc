#include "tests/bench/bare/bare_store.h"

#include <rocksdb/cache.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>

#include <cstdio>
#include <cstdlib>

namespace ringkv::bare {

std::unique_ptr<rocksdb::DB> open_store(const std::string& directory) {
  constexpr size_t kCacheBytes = size_t{512} << 20;
  rocksdb::Options options;
  options.create_if_missing = true;
  options.max_background_jobs = 2;
  rocksdb::BlockBasedTableOptions table;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  table.block_cache = rocksdb::NewLRUCache(kCacheBytes);
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  rocksdb::DB* db = nullptr;
  const rocksdb::Status status = rocksdb::DB::Open(options, directory, &db);
  if (!status.ok()) {
    std::fprintf(stderr, "opening %s: %s\n", directory.c_str(), status.ToString().c_str());
    std::exit(1);
  }
  return std::unique_ptr<rocksdb::DB>(db);
}

}  // namespace ringkv::bare
