// Takes table files that can't be read out of a RocksDB that nobody has open, so that the rest can be served
// and what is missing be fetched from other nodes. RocksDB itself would answer CORRUPTION for ever, and
// refuse to compact past the damage.
//
// Every live table file is read in whole and its checksums compared. One that is damaged, has another size
// than RocksDB wrote, or is gone, is removed from the list of live files (as ldb's unsafe_remove_sst_file
// does; RepairDB would put every table into level 0, where an old value may hide a new one) and moved:
//
//   DIR/damaged/000012.sst  as it was found
//   DIR/damaged/NOTE        what was found, written before anything else is changed and kept until the
//                           database itself remembers it: a start after kill -9 goes on from there
//
// All else stays, the log too. Of a key in the lost range an older value may be back, or one that was erased.
#pragma once

#include <rocksdb/env.h>

#include <filesystem>

#include "storage/lost_ranges.h"
#include "storage/rocksdb_tuning.h"

namespace ringkv {

class SetAside {
 public:
  // `env` and `tuning` outlive it. `path`: the db/ of a data directory.
  SetAside(rocksdb::Env& env, std::filesystem::path path, const RocksdbTuning& tuning);

  // With kPlain only finishes what an earlier start had noted. What is lost is to be remembered in the
  // database next. CORRUPTION, and nothing is changed, when a table of Family::kMeta is damaged. Blocks.
  Result<LostRanges> run(OpenMode mode);

  Status on_remembered();

 private:
  struct Table {
    uint64_t number = 0;
    uint64_t bytes = 0;
    std::string name;  // "000012.sst"
    OpenedEngine::LostRange range;
  };

  Result<std::vector<Table>> live_tables() const;
  Result<LostRanges> judge(const std::vector<Table>& live) const;
  std::string damage_of(const Table& table) const;  // "": none that we know of
  Status remove(const std::vector<Table>& live, const LostRanges& lost);
  Status remove_from_manifest(const Table& table) const;

  Result<LostRanges> read_note() const;
  Status write_note(const LostRanges& lost) const;
  Status sync(const std::filesystem::path& directory) const;

  rocksdb::Env& env_;
  const std::filesystem::path path_;
  const std::filesystem::path damaged_;
  const RocksdbTuning& tuning_;
  bool noted_ = false;
};

}  // namespace ringkv
