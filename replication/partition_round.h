// One partition pulled from one source: from the source's leaves to the floor that is raised afterwards
// ("Rounds and floors" in ARCHITECTURE.md).
//
// Leaves that differ are pulled some at a time, so that what is held stays small. Where a leaf is empty here,
// or little of it is there, the source sends its records at once; else keys and dots come first, and then
// what is lacking. What this node has and the source doesn't list is superseded as far as the source's floor
// covers it.
//
// Everything that is pulled ends in a ReplicaPut to the own replica. When all of them are acknowledged, this
// node has all that the source had when its leaves were read, and its floor may say so.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "replication/convergence_environment.h"

namespace ringkv {

class PartitionRound {
 public:
  // `number` names it in its messages. The environment is borrowed.
  PartitionRound(ConvergenceEnvironment& environment, RequestNumber number, NodeId source,
                 Partition partition)
      : environment_(environment), number_(number), source_(source), partition_(partition) {}

  void start(Moment moment, MessageOutbox& outbox);
  void on(RoundLeaves leaves, Moment moment, MessageOutbox& outbox);
  void on(RoundSlice slice, Moment moment, MessageOutbox& outbox);
  bool on(RangeRead& read, Moment moment, MessageOutbox& outbox);           // false: another's
  bool on(const ReplicaPutAck& ack, Moment moment, MessageOutbox& outbox);  // false: another's
  void on_committed(BatchNumber batch, MessageOutbox& outbox);

  // Something has been silent for too long.
  void give_up_if_silent(Time now);

  bool ended() const { return ended_; }
  const Status& status() const { return status_; }  // of one that has ended

  struct Counts {
    uint64_t differences = 0;  // keys of which something was lacking
    uint64_t keys = 0;         // records that came
    uint64_t bytes = 0;
  };
  const Counts& counts() const { return counts_; }
  Partition partition() const { return partition_; }

 private:
  // What is held here of a key of the leaves that are being pulled.
  struct Own {
    std::vector<Dot> dots;
    CausalContext context;
    bool transient = false;
    bool listed = false;  // by the source
  };

  void next_leaves(Moment moment, MessageOutbox& outbox);
  void list_own(MessageOutbox& outbox);
  void read_own(MessageOutbox& outbox);
  void walk(MessageOutbox& outbox);
  void fetch(MessageOutbox& outbox);
  void take(RoundSlice& slice, Moment moment, MessageOutbox& outbox);
  bool is_lacking(const RoundSlice::Entry& entry, const Own* own) const;
  bool is_superseded(const RoundSlice& slice, const RoundSlice::Entry& entry, const Own* own) const;
  void drop_unlisted(Moment moment, MessageOutbox& outbox);
  void put(std::string_view storage_key, SharedBytes record, std::shared_ptr<const Floor> floor,
           Moment moment, MessageOutbox& outbox);
  void advance(Moment moment, MessageOutbox& outbox);
  void finish();
  void fail(Status why);

  ConvergenceEnvironment& environment_;
  const RequestNumber number_;
  const NodeId source_;
  const Partition partition_;

  Floor floor_;  // of the source when its leaves were read
  CausalContext erased_;
  std::map<uint32_t, Leaf> theirs_;  // of leaves that differ
  std::deque<uint32_t> to_pull_;     // leaves that differ
  bool opened_ = false;

  // Of the leaves that are being pulled.
  LeafSet with_records_;
  LeafSet keys_only_;
  LeafSet own_leaves_;
  std::map<std::string, Own, std::less<>> own_;
  bool own_listed_ = true;
  std::string own_position_;
  uint64_t own_ticket_ = 0;        // of the read under way
  BatchNumber own_waits_for_ = 0;  // commit before it is read
  enum class Walk : uint8_t { kNone, kWithRecords, kKeysOnly, kFetch };
  Walk walk_ = Walk::kNone;  // under way
  std::string walk_position_;
  bool walk_goes_on_ = false;  // behind that
  std::vector<std::string> to_fetch_;
  Floor first_floor_;  // of the first slice: what it covers and isn't listed is superseded
  std::vector<Actor> first_closed_;
  bool has_first_floor_ = false;

  std::map<RequestNumber, Time> puts_;  // that aren't acknowledged yet: until when
  Time heard_at_;
  bool ended_ = false;
  Status status_;
  Counts counts_;
};

}  // namespace ringkv
