// One pull from one source of all that two nodes share (or of one partition): down from one digest of
// everything, over groups of partitions and single partitions, to those that differ, which PartitionRounds
// pull. It ends at equality wherever it finds it, and raises the floors there.
//
// Partitions that differ are looked at again 100 ms later, leaf by leaf: most differ only by writes under
// way.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "replication/convergence_environment.h"
#include "replication/partition_round.h"

namespace ringkv {

class Pull {
 public:
  static constexpr size_t kPartitionsAtOnce = 32;
  static constexpr Duration kSecondLook = std::chrono::milliseconds(100);
  static constexpr Duration kPatience = std::chrono::seconds(5);

  // The environment is borrowed. `only`: this partition alone.
  Pull(ConvergenceEnvironment& environment, NodeId source, std::optional<Partition> only, Moment moment);

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

  NodeId source() const { return source_; }
  bool is_of_all() const { return !only_; }
  Time began() const { return began_; }
  bool ended() const { return stage_ == Stage::kEnded; }
  const Status& status() const { return status_; }  // of one that has ended
  const PartitionRound::Counts& counts() const { return counts_; }
  uint64_t partitions() const { return shared_.size(); }
  uint64_t differing() const { return differing_; }  // partitions, at the first look
  bool was_equal() const { return differing_ == 0; }
  uint64_t source_counter() const { return source_counter_; }
  const Actor& source_life() const { return source_life_; }

 private:
  enum class Stage : uint8_t { kPair, kGroups, kPartitions, kPause, kPulling, kEnded };

  void ask(DigestLevel level, std::vector<uint32_t> ids, Moment moment, MessageOutbox& outbox);
  void compare(const RoundDigests& digests, Moment moment, MessageOutbox& outbox);
  void found_equal(const std::vector<Partition>& partitions, const Floor& lives);
  void ask_next_partitions(Moment moment, MessageOutbox& outbox);
  void pull_on(Moment moment, MessageOutbox& outbox);
  void settle(Moment moment, MessageOutbox& outbox);
  template <class Offer>
  bool offer(Moment moment, MessageOutbox& outbox, Offer offer);

  ConvergenceEnvironment& environment_;
  const NodeId source_;
  const std::optional<Partition> only_;
  const Time began_;
  const uint64_t epoch_;
  std::vector<Partition> shared_;

  Stage stage_ = Stage::kPair;
  RequestNumber number_ = 0;  // of the question under way
  Time asked_at_;
  Time pause_until_;
  std::vector<Partition> differing_groups_;  // partitions to be compared one by one
  std::deque<Partition> to_pull_;
  std::map<RequestNumber, PartitionRound> rounds_;
  uint64_t differing_ = 0;
  uint64_t source_counter_ = 0;
  Actor source_life_;
  PartitionRound::Counts counts_;
  Status status_;
};

}  // namespace ringkv
