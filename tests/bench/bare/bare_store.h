// RocksDB as the bare programs open it.
#pragma once

#include <rocksdb/db.h>

#include <memory>
#include <string>

namespace ringkv::bare {

// Ends the program where it can't: nothing here goes on without.
std::unique_ptr<rocksdb::DB> open_store(const std::string& directory);

}  // namespace ringkv::bare
