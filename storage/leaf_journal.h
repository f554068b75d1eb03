// How leaves stay exact through kill -9 without one digest write a record (which costs 30 to 41 % of all
// puts).
//
// Every batch carries, beside its data, one journal entry: who stamps and up to which counter, and the new
// value of each leaf that it touched. Every so often it also carries the page (all 256 leaves) of the
// partition that has waited longest since it was touched, and then entries that no waiting partition needs
// any more are erased. Recovery reads the pages and the entries that are needed, and no data.
//
// A page falls due every 16 batches, and every 1,024 touched leaves if these come sooner. So at most
// `partitions` partitions wait, none longer than partitions x 16 batches or partitions x 1,024 leaf values:
// that bounds the entries on disk and what recovery reads, however large the batches are. (A leaf value
// takes some 23 bytes: with 4,096 partitions at most 100 MB.)
//
// (Both formats are drawn in leaf_journal.cc.)
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "base/ids.h"
#include "storage/engine.h"
#include "storage/leaf_table.h"

namespace ringkv {

using BatchNumber = uint64_t;  // counts all batches of a store's life, over restarts; starts at 1

inline constexpr uint64_t kBatchesPerPage = 16;
inline constexpr uint64_t kTouchesPerPage = 1024;
inline constexpr uint64_t kErasesPerBatchMax = 8;  // no batch pays for a long wait that ended with it

// Who wrote a batch, and how far it had come.
struct Stamper {
  Boot boot;                  // the life that wrote it
  uint64_t counter = 0;       // the highest counter that this life had stamped by then
  uint64_t highest_time = 0;  // the highest hybrid time that this store had stamped or merged by then

  friend bool operator==(const Stamper&, const Stamper&) = default;
};

// The newest batch on disk.
struct JournalEnd {
  BatchNumber number = 0;  // 0: nothing was ever written
  BatchNumber oldest = 1;  // the oldest entry that was not erased
  Stamper stamper;
};

// A partition with leaves newer than its page.
struct WaitingPartition {
  Partition partition = 0;
  BatchNumber since = 0;  // the first batch that touched it after its page

  friend bool operator==(const WaitingPartition&, const WaitingPartition&) = default;
};

struct RecoveredLeaves {
  LeafTable leaves;
  JournalEnd end;
  std::vector<WaitingPartition> waiting;  // longest first
};

// Reads pages and entries. Blocks. CORRUPTION when either can't be what this code wrote, or an entry that is
// needed is missing.
Result<RecoveredLeaves> recover_leaves(Engine& engine, uint32_t partitions);

// Puts these leaves in the place of all that is on disk; the newest batch stays the newest, if its entry can
// be read. May be repeated after a crash. Blocks.
Status rewrite_leaves(Engine& engine, const LeafTable& leaves);

// Loop thread. A batch that was finished must be committed before the next one is, or the store reopened: its
// number is taken.
class LeafJournal {
 public:
  // `leaves` outlives the journal.
  LeafJournal(LeafTable& leaves, const JournalEnd& end, const std::vector<WaitingPartition>& waiting);

  // The leaf changed in the batch that is being gathered.
  void touch(LeafId leaf);

  BatchNumber next_number() const { return last_number_ + 1; }

  // Adds to the batch that is about to be committed: the entry, with the touched leaves as they are now, the
  // pages that are due, and erasures.
  void finish(Batch& batch, const Stamper& stamper);

 private:
  void sort_touched();
  void await_pages();
  void put_due_pages(Batch& batch);
  void put_page(Batch& batch, Partition partition);
  void erase_unneeded(Batch& batch, BatchNumber needed_from);
  void put_entry(Batch& batch, BatchNumber needed_from, const Stamper& stamper);

  LeafTable& leaves_;
  BatchNumber last_number_;
  BatchNumber oldest_;
  std::vector<LeafId> touched_;
  std::deque<WaitingPartition> waiting_;  // longest first
  std::vector<bool> is_waiting_;
  // Towards the next page, which falls due at kTouchesPerPage. What the life before had is unknown: a life
  // begins with a page due, so that the bounds hold over lives of few batches too.
  uint64_t touches_ = kTouchesPerPage;
  std::string buffer_;
};

}  // namespace ringkv
