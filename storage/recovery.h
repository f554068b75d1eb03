// What a start finds on its disk, and how it draws a line under the life before: a new boot is drawn, the
// earlier one is closed at the counter that the log proves, and nothing is acknowledged before both are on
// disk.
//
// The store's own past boots are a floor: all that they stamped is merged here, up to the counter in the last
// batch that survived, because the log is recovered as a prefix. (What a lost tail held beyond it, others may
// hold; the floor doesn't claim it, and no later life repeats it: the new boot is a new actor.)
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "storage/engine.h"
#include "storage/floor_table.h"
#include "storage/leaf_journal.h"
#include "storage/record.h"

namespace ringkv {

struct RecoveredStore {
  RecoveredLeaves leaves;
  Actor actor;                    // this life
  Floor past_boots;               // this node's earlier lives that stamped something, at their last counters
  std::vector<Boot> known_boots;  // all earlier lives that this directory remembers, latest last
  FloorTable floors;
};

// Blocks: reads pages and journal, no data. The engine must not be written by anybody else.
Result<RecoveredStore> recover_store(Engine& engine, uint32_t partitions, const Actor& actor);

// After damaged files were set aside: what is derived from the records is made anew from those that are left
// (leaves, the index of transient ones), and `lost` partitions claim nothing any more. May be repeated after
// a crash. Blocks; reads all data.
Status rebuild_derived(Engine& engine, uint32_t partitions, const std::vector<Partition>& lost);

// What the own earlier lives and closed ones have stamped is taken for merged in these partitions alone (in
// order), and no longer everywhere. No record's context may be stripped. Blocks.
Status limit_claims(Engine& engine, RecoveredStore& recovered, const std::vector<Partition>& partitions);

// What else a node keeps of itself beside its records, by name; "" when there is none. write_meta syncs.
inline constexpr std::string_view kRingKey = "ring";              // the newest ring description
inline constexpr std::string_view kGenerationKey = "generation";  // of the last start, in decimal digits
inline constexpr std::string_view kIncompleteKey =
    "incomplete";  // partitions that aren't whole (replication/wholeness.h)
Result<std::string> read_meta(Engine& engine, std::string_view key);
Status write_meta(Engine& engine, std::string_view key, std::string_view value);

}  // namespace ringkv
