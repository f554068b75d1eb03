// Computes leaves anew from data, partition by partition, slowly: catches bit rot in records that nobody
// reads, and our own mistakes. A leaf that doesn't fit the data is corrected and counted; a record that can't
// be read makes the store reopen and set the damaged file aside. A record whose content doesn't have the hash
// that is stored with it is named, and left.
//
// Without a lock: the leaves are noted, what is staged by then is waited for, and the records are read.
// A leaf that hasn't changed by then must be the one that its records give. One that has changed is looked at
// again, a few times; so is one that seems wrong, since a change may have been undone while the records were
// read: it is corrected when two looks in a row find the same.
//
// One read is under way at a time, and a tick reads no more than a part of what a disk can do, so that reads
// of clients go on.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "replication/convergence_environment.h"

namespace ringkv {

class Scrubber {
 public:
  explicit Scrubber(ConvergenceEnvironment& environment) : environment_(environment) {}

  void tick(Moment moment, MessageOutbox& outbox);
  void on_committed(BatchNumber batch, Moment moment, MessageOutbox& outbox);
  bool on(RangeRead& read, Moment moment, MessageOutbox& outbox);  // false: another's
  void on(const Arrival& arrival, const ClientScrub& scrub, MessageOutbox& outbox);
  void fail_all(const Status& why, MessageOutbox& outbox);

 private:
  // A look at some leaves of one partition.
  struct Look {
    Partition partition = 0;
    int number = 1;
    LeafSet leaves;
    LeafPage noted{};          // as they were when it began
    LeafPage found{};          // of the records read so far
    LeafSet suspected;         // by the look before,
    LeafPage found_before{};   // which found this
    BatchNumber awaited = 0;   // to be committed first; 0: it reads
    std::string after;         // storage key of the last record read
    RequestNumber ticket = 0;  // of the read under way; 0: none
  };

  // Who waits for a scrub of all partitions: from the next one on, once round.
  struct Waiting {
    Requester requester;
    Time deadline;
    uint32_t partitions_left = 0;
    ScrubReport report = {};
    bool begun = false;
  };

  void begin_partition(MessageOutbox& outbox);
  void begin_look(MessageOutbox& outbox);
  void read_on(MessageOutbox& outbox);
  void take(const RangeEntry& entry);
  void check_content(const RangeEntry& entry);
  void end_look(MessageOutbox& outbox);
  void end_partition(MessageOutbox& outbox);
  LeafId leaf_id(uint32_t leaf) const { return look_->partition * kLeavesPerPartition + leaf; }
  void report_problem(const std::string& problem);
  template <class Change>
  void change_reports(Change change) {
    for (Waiting& waiting : waiting_) {
      if (waiting.begun) change(waiting.report);
    }
  }
  void drop_late(Time now, MessageOutbox& outbox);

  ConvergenceEnvironment& environment_;
  std::optional<Look> look_;
  std::deque<Waiting> waiting_;
  std::optional<Partition> next_;  // not before the first tick
  Time due_{};                     // of the next partition, where nobody waits
  // Of this tick:
  uint32_t reads_left_ = 0;
  size_t bytes_left_ = 0;
};

}  // namespace ringkv
