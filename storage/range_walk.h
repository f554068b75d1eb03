// One bounded step of a walk over some leaves of one partition, or over some of its keys, whatever their
// bucket: what a round lists and sends. Blocks on the disk: for a read worker.
#pragma once

#include <bitset>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/token.h"
#include "ringkv/status.h"
#include "storage/engine.h"
#include "storage/leaf_table.h"
#include "storage/record_codec.h"

namespace ringkv {

using LeafSet = std::bitset<kLeavesPerPartition>;

// The XOR of the hashes of all records in a leaf of the partition.
struct LeafHash {
  uint8_t leaf = 0;
  Hash128 hash;

  friend bool operator==(const LeafHash&, const LeafHash&) = default;
};

// What was found of such a leaf. Without a hash it is too large to be looked at as a whole.
struct LeafAnswer {
  uint8_t leaf = 0;
  std::optional<Hash128> hash;

  friend bool operator==(const LeafAnswer&, const LeafAnswer&) = default;
};

struct RangeStep {
  Partition partition = 0;
  uint32_t ring_partitions = 0;
  LeafSet leaves;                         // walked in token order
  std::string after;                      // storage key of the last record seen; empty: from the start
  std::vector<std::string> storage_keys;  // not empty: exactly these instead of a walk
  // Not empty: instead of a walk, of each of these leaves (in order) the records that, added to another
  // node's leaf with this hash, make it what it is here (storage/hash_subset.h). None where that can't be
  // told.
  std::vector<LeafHash> leaves_elsewhere;
  bool records = true;  // false: heads only
  // Of the answer; a record larger than that comes alone. Who sends or takes it does nothing else meanwhile.
  size_t bytes_max = size_t{256} << 10;
  size_t leaf_records_max = 64;  // of a leaf that is looked at as a whole; at most kSubsetMax
};

struct RangeEntry {
  std::string storage_key;
  RecordHead head;                            // its context as stored: it may be stripped
  std::shared_ptr<const std::string> record;  // encoded; nullptr where only heads were asked for
};

// Absent keys have no entry. A record without versions (only a context) has one.
struct RangeSlice {
  std::vector<RangeEntry> entries;
  std::string last;  // storage key of the last record looked at
  bool at_end = false;
  std::vector<LeafAnswer> answered;  // of `leaves_elsewhere`, as they are here
  LeafSet told;  // of those: the other leaf holds what is here but for the entries, and nothing else
};

// CORRUPTION names the key of a damaged record.
Result<RangeSlice> range_slice(Engine& engine, const RangeStep& step);

// The transient records: those that may go some day, since they have only tombstones,
// values that expire, or a context. From an index that may name others too; each entry is what is there now.
// A damaged record is left out: whoever reads it says so.
struct TransientStep {
  std::string after;  // storage key
  size_t records_max = 1'000;
};
struct TransientSlice {
  struct Entry {
    std::string storage_key;
    RecordOutline outline;  // as stored; empty: the key is absent
  };
  std::vector<Entry> entries;
  std::string last;
  bool at_end = false;
};
Result<TransientSlice> transient_slice(Engine& engine, const TransientStep& step);

// Of the index, in Family::kDigests: 't', then the storage key; its value is empty.
std::string transient_key(std::string_view storage_key);

}  // namespace ringkv
