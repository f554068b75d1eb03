// One pull from one source of all that two nodes share (or of one partition): down from one digest of
// everything, over groups of partitions and single partitions, to those that differ, which PartitionRounds
// pull. It ends at equality wherever it finds it, and raises the floors there.
//
// A partition that fails doesn't hold up the others, unless there is no use in going on: the source is
// silent, or the own disk is full. A pull in which one failed has failed.
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <optional>
#include <set>
#include <vector>

#include "replication/convergence_environment.h"
#include "replication/partition_round.h"

namespace ringkv {

// What all pulls of a node have open at this moment: no partition from two sources at once, or both would
// send the same.
struct OpenPartitions {
  static constexpr size_t kMax = 48;

  size_t count = 0;           // but for those that pause
  std::set<Partition> taken;  // those too
};

class Pull {
 public:
  static constexpr size_t kPartitionsAtOnce = 16;
  static constexpr size_t kPausedMax = 4096;
  static constexpr Duration kPatience = std::chrono::seconds(5);
  // Where the source has another ring: it takes a moment until all have the same.
  static constexpr Duration kEpochPause = std::chrono::milliseconds(200);
  static constexpr uint32_t kEpochTries = 25;

  // Environment and counter are borrowed. `named` (in order): these partitions alone; none: all that both
  // own.
  Pull(ConvergenceEnvironment& environment, OpenPartitions& open, NodeId source, std::vector<Partition> named,
       Moment moment);
  ~Pull() { close_all(); }
  Pull(const Pull&) = delete;
  Pull& operator=(const Pull&) = delete;

  void start(Moment moment, MessageOutbox& outbox);
  void tick(Moment moment, MessageOutbox& outbox);
  // Each false: another's.
  bool on(RoundDigests& digests, Moment moment, MessageOutbox& outbox);
  bool on(RoundLeaves& leaves, Moment moment, MessageOutbox& outbox);
  bool on(RoundSlice& slice, Moment moment, MessageOutbox& outbox);
  bool on(RangeRead& read, Moment moment, MessageOutbox& outbox);
  bool on(const ReplicaPutAck& ack, Moment moment, MessageOutbox& outbox);
  void on_committed(BatchNumber batch, MessageOutbox& outbox);
  void fail(Status why);
  // What it has found doesn't count any more, and it could begin anew.
  void make_void(Status why);

  NodeId source() const { return source_; }
  const std::vector<Partition>& named() const { return named_; }
  bool is_of_all() const { return named_.empty(); }
  Time began() const { return began_; }
  bool ended() const { return stage_ == Stage::kEnded; }
  const Status& status() const { return status_; }  // of one that has ended
  bool is_void() const { return void_; }
  const PartitionRound::Counts& counts() const { return counts_; }
  uint64_t partitions() const { return shared_.size(); }
  uint64_t differing() const { return differing_; }  // partitions, at the first look
  uint64_t to_do() const { return to_pull_.size() + rounds_.size() + paused_.size(); }  // of those
  bool was_equal() const { return was_equal_; }  // at the first message
  // Those that are through, when it has ended; in any order.
  const std::vector<Partition>& pulled() const { return pulled_; }
  uint64_t source_counter() const { return source_counter_; }
  const Actor& source_life() const { return source_life_; }

 private:
  enum class Stage : uint8_t { kComparing, kPulling, kEnded };

  void ask(DigestLevel level, std::vector<uint32_t> ids, Moment moment, MessageOutbox& outbox);
  void wait_for_epoch(uint64_t theirs, Time now);
  void compare(const RoundDigests& digests, Moment moment, MessageOutbox& outbox);
  void compare_groups(const RoundDigests& digests);
  void compare_partitions(const RoundDigests& digests);
  void ask_next_partitions(Moment moment, MessageOutbox& outbox);
  void found_equal(std::vector<Partition> partitions, const Floor& lives);
  void pull_on(Moment moment, MessageOutbox& outbox);
  bool take_next();
  void close_all();
  void settle(Moment moment, MessageOutbox& outbox);
  void take(const PartitionRound& round);
  template <class Offer>
  bool offer(Moment moment, MessageOutbox& outbox, Offer offer);

  ConvergenceEnvironment& environment_;
  OpenPartitions& open_;
  const NodeId source_;
  const std::vector<Partition> named_;
  const Time began_;
  const uint64_t epoch_;
  std::vector<Partition> shared_;
  std::set<Partition> source_incomplete_;  // of those the source isn't whole, or wasn't at some moment

  Stage stage_ = Stage::kComparing;
  RequestNumber question_ = 0;  // under way; 0: none
  Time asked_at_;
  std::optional<Time> begin_again_at_;
  uint32_t epoch_tries_ = 0;
  std::deque<Partition> to_compare_;  // one by one
  std::vector<Partition> asked_;      // of those, in the question under way
  std::vector<Partition> equal_;
  std::optional<Floor> lives_;  // of the source, of the earliest moment at which one was found equal
  std::deque<Partition> to_pull_;
  std::list<PartitionRound> rounds_;
  std::deque<PartitionRound> paused_;  // in the order in which they go on

  std::vector<Partition> pulled_;
  uint64_t differing_ = 0;
  bool was_equal_ = false;
  uint64_t source_counter_ = 0;
  Actor source_life_;
  PartitionRound::Counts counts_;
  Status status_;
  bool void_ = false;
};

}  // namespace ringkv
