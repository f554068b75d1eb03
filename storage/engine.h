// Ordered bytes on a disk: what RecordStore stands on. RocksdbEngine is the real one; MemoryEngine, for tests
// and simulation, can fail its n-th call and forget what was not synced. One suite of tests runs over both.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ringkv/status.h"

namespace ringkv {

enum class Family : uint8_t { kData, kDigests, kHints, kMeta };
inline constexpr int kFamilies = 4;

// Writes that become visible and durable together or not at all.
class Batch {
 public:
  virtual ~Batch() = default;
  virtual void put(Family family, std::string_view key, std::string_view value) = 0;
  virtual void erase(Family family, std::string_view key) = 0;
  // All keys in [lower, upper) that were put before, in this batch too.
  virtual void erase_range(Family family, std::string_view lower, std::string_view upper) = 0;
  virtual size_t bytes() const = 0;
  virtual bool empty() const = 0;
};

// Walks one family in key order, on a snapshot. One thread at a time; never outlives its engine.
class Cursor {
 public:
  virtual ~Cursor() = default;
  virtual bool valid() const = 0;
  virtual std::string_view key() const = 0;    // until it is moved
  virtual std::string_view value() const = 0;  // until it is moved
  virtual void next() = 0;
  // On to the first entry whose key isn't below `from`, which lies above key(). While valid().
  virtual void skip_to(std::string_view from) = 0;
  virtual Status status() const = 0;  // why valid() became false: ok at the end of the range
};

enum class Lookup : uint8_t { kFound, kAbsent, kWouldBlock };

class Engine {
 public:
  virtual ~Engine() = default;

  virtual std::unique_ptr<Batch> new_batch() = 0;

  // Appends to the log, and with `sync` waits until it is on disk. One caller at a time (the commit lane).
  // The batch is empty afterwards, for reuse. OUT_OF_SPACE, CORRUPTION, or UNAVAILABLE for any other reason.
  // After a failure the engine refuses further writes: what reached the disk is known only after a reopen.
  virtual Status write(Batch& batch, bool sync) = 0;

  // Any thread. May wait for the disk. kFound or kAbsent. CORRUPTION names the damaged file.
  virtual Result<Lookup> get(Family family, std::string_view key, std::string& value) = 0;

  // Never waits for the disk: kWouldBlock where it would have to. For the loop.
  virtual Result<Lookup> get_cached(Family family, std::string_view key, std::string& value) = 0;

  // [lower, upper); an empty upper is the end of the family. May wait for the disk.
  virtual std::unique_ptr<Cursor> seek(Family family, std::string_view lower, std::string_view upper) = 0;

  // Everything written so far into table files, synced.
  virtual Status flush() = 0;

  // What was erased in [lower, upper) gives its disk back. Takes as long as rewriting the range; any thread
  // but the loop's.
  virtual Status reclaim(Family family, std::string_view lower, std::string_view upper) = 0;
  // The engine is to be closed: what is reclaimed ends soon, with UNAVAILABLE, and so does whatever would be
  // begun. Any thread.
  virtual void stop_reclaiming() = 0;

  virtual uint64_t disk_free_bytes() const = 0;
  virtual uint64_t disk_size_bytes() const = 0;

  // Figures for `stats`, by name.
  virtual std::map<std::string, uint64_t> statistics() const = 0;
};

// What opening found. `log_damage` is empty when the log was whole (a tail torn by kill -9 counts as whole:
// nothing in it was acknowledged as synced); else it says which file and what was dropped.
struct OpenedEngine {
  std::unique_ptr<Engine> engine;
  std::string log_damage;
  // Table files that couldn't be read were set aside; what they held may be lost, and of their keys older
  // values may be back. Told again by every open until Family::kMeta has no kLostRangesKey
  // (storage/lost_ranges.h) any more. Never of Family::kMeta itself, without which there is no node: then
  // opening fails.
  struct LostRange {
    Family family = Family::kData;
    std::string first;  // keys, both included
    std::string last;
    std::string file;  // where it is now
    std::string why;   // what is wrong with it

    friend bool operator==(const LostRange&, const LostRange&) = default;
  };
  std::vector<LostRange> lost;
};

enum class OpenMode : uint8_t {
  kPlain,
  // A file was found damaged: all table files are checked first, and those that can't be read are set aside.
  kSetDamagedAside,
};

// Opens the engine of one node, again after it was fenced. Blocks. With kSetDamagedAside CORRUPTION says what
// no setting aside helps against.
using EngineOpener = std::function<Result<OpenedEngine>(OpenMode)>;

}  // namespace ringkv
