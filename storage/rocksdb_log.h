// Tells a torn log from a damaged one, which RocksDB can't: where a record reaches past the end of the file,
// it sees a process that died while writing, though it may be a damaged length that hides acknowledged
// writes.
#pragma once

#include <filesystem>
#include <string>

namespace ringkv {

enum class LogVerdict {
  kWhole,    // every record is intact
  kTorn,     // the newest log ends within a record, as kill -9 leaves it: nothing synced was lost
  kDamaged,  // anything else
};

struct JudgedLogs {
  LogVerdict verdict = LogVerdict::kWhole;
  std::string damage;  // for kDamaged: file, place and fault, for people
};

// Reads the logs in a RocksDB directory that no process has open, in order, up to the first fault. Blocks.
JudgedLogs judge_logs(const std::filesystem::path& directory);

}  // namespace ringkv
