// Hints: records kept for a node that could not take them, by (intended node, key), one for each however
// often the key is written. On disk in Family::kHints, in the batches of the record store, so that a hint and
// the acknowledgement that rests on it have one order; under a byte budget for each intended node.
//
//   key:    u64 intended node, big-endian | storage key        value: u8 format (1) | encoded record
//
// Knows the newest state of a key as long as that is on its way to the disk; else it must be read. Counts are
// exact through kill -9: they are made anew at each start. Loop thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/ids.h"
#include "ringkv/status.h"
#include "storage/engine.h"
#include "storage/leaf_journal.h"

namespace ringkv {

class RecordStore;

struct HintCount {
  uint64_t hints = 0;
  uint64_t bytes = 0;  // of keys and records

  friend bool operator==(const HintCount&, const HintCount&) = default;
};
using HintCounts = std::map<NodeId, HintCount>;  // by intended node; none is empty

// Counts what is on disk. Blocks. A record that can't be read is set aside: counted, and left out.
struct RecoveredHints {
  HintCounts counts;
  uint64_t damaged = 0;
};
Result<RecoveredHints> recover_hints(Engine& engine);

class HintStore {
 public:
  // `store` gathers the batches; both outlive this.
  HintStore(Engine& engine, RecordStore& store, RecoveredHints recovered);

  // The newest encoded record of a hint; "" when there is none. Nothing: only the disk knows, by
  // read(hint_key()).
  Result<std::optional<std::string>> newest(NodeId intended, std::string_view storage_key) const;

  // Each takes the place of `before`, the newest ("" none).
  void stage(NodeId intended, std::string_view storage_key, std::string_view record, std::string_view before);
  void erase(NodeId intended, std::string_view storage_key, std::string_view before);

  void committed(BatchNumber batch);

  const HintCounts& counts() const { return counts_; }
  HintCount total() const;
  uint64_t damaged() const { return damaged_; }

  // ---- For workers
  static std::string hint_key(NodeId intended, std::string_view storage_key);

 private:
  struct Pinned {
    std::string record;  // "": erased
    BatchNumber batch = 0;
  };

  Engine& engine_;
  RecordStore& store_;
  HintCounts counts_;
  uint64_t damaged_ = 0;
  std::unordered_map<std::string, Pinned> pinned_;  // by hint key
};

// One bounded step of a walk over the hints for a node. Blocks: for a read worker.
struct HintStep {
  NodeId intended;
  std::string after;  // storage key; empty: from the start
  size_t hints_max = 256;
  size_t bytes_max = size_t{256} << 10;  // at least one hint comes
};
struct HintSlice {
  struct Hint {
    std::string storage_key;
    std::string record;  // encoded
  };
  std::vector<Hint> hints;
  bool at_end = false;
};
Result<HintSlice> hint_slice(Engine& engine, const HintStep& step);

// One hint; "" when there is none. Blocks.
Result<std::string> read_hint(Engine& engine, NodeId intended, std::string_view storage_key);

}  // namespace ringkv
