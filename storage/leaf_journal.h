// How leaves stay exact through kill -9 without one digest write a record (which costs 30 to 41 % of all
// puts).
//
// Every batch carries, beside its data, one journal entry: the batch's number, who stamps and up to which
// counter, and the new value of each leaf that it touched. Entries live in a ring of slots (number mod
// slots). Every 16th batch also carries the page (all 256 leaves) of the partition that has waited longest
// since it was touched. Recovery reads the pages and the newer entries, and no data. At most `partitions`
// partitions wait, each no longer than partitions x 16 batches, which is why the ring has at least that many
// slots: a touched leaf whose entry was overwritten has been paged since.
//
// (Both formats are drawn in leaf_journal.cc.)
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "base/ids.h"
#include "storage/engine.h"
#include "storage/leaf_table.h"

namespace ringkv {

using BatchNumber = uint64_t;  // counts all batches of a store's life, over restarts; starts at 1

inline constexpr BatchNumber kBatchesPerPage = 16;
inline constexpr BatchNumber kJournalSlotsMin = 65536;

BatchNumber journal_slots(uint32_t partitions);

// What the newest batch on disk says.
struct JournalEnd {
  BatchNumber number = 0;  // 0: nothing was ever written
  Boot boot;               // the life that wrote it
  uint64_t counter = 0;    // the highest counter that this life had stamped by then
};

struct RecoveredLeaves {
  LeafTable leaves;
  JournalEnd end;
  std::vector<Partition> waiting;  // touched since their page, longest first
};

// Reads pages and entries. Blocks. CORRUPTION when either can't be what this code wrote.
Result<RecoveredLeaves> recover_leaves(Engine& engine, uint32_t partitions);

class LeafJournal {
 public:
  LeafJournal(LeafTable& leaves, const JournalEnd& end, std::vector<Partition> waiting);

  // The leaf changed in the batch that is being gathered.
  void touch(LeafId leaf);

  BatchNumber next_number() const { return last_number_ + 1; }

  // Adds the entry, and on its turn a page, to the batch that is about to be committed.
  void finish(Batch& batch, Boot boot, uint64_t counter);

 private:
  LeafTable& leaves_;
  BatchNumber slots_;
  BatchNumber last_number_;
  std::vector<LeafId> touched_;
  std::deque<Partition> waiting_;
  std::vector<bool> is_waiting_;
};

}  // namespace ringkv
