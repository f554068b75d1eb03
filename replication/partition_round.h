// One partition pulled from one source: from the source's leaves to the floor that is raised afterwards
// ("Rounds and floors" in ARCHITECTURE.md).
//
// Where few leaves differ, it pauses: if a leaf here becomes what the source's was, the difference was only a
// write under way. Leaves that differ still are pulled some at a time, so that what is held stays small. Of
// small ones, and of those that are empty here, the source sends the records at once; else keys and dots come
// first, and then what is lacking. But first of all it is asked for whole keys that are lacking, which it can
// tell by the hashes of the leaves here; and where there is more here, this node tells by the source's hashes
// what the source hasn't. Often nothing differs afterwards, and nothing need be listed. What this node has
// and the source doesn't list is superseded as far as the source's floor covers it (round_difference.h
// decides).
//
// Everything that is pulled ends in a ReplicaPut to the own replica. When all of them are acknowledged, this
// node has all that the source had when its leaves were read, and its floor may say so.
//
// Each question has a number of its own, so that an answer that comes twice passes for no other's.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "replication/convergence_environment.h"
#include "replication/round_difference.h"

namespace ringkv {

class PartitionRound {
 public:
  static constexpr Duration kSecondLook = std::chrono::milliseconds(100);
  static constexpr Duration kPatience = std::chrono::seconds(10);

  // The environment is borrowed.
  PartitionRound(ConvergenceEnvironment& environment, NodeId source, Partition partition)
      : environment_(environment), source_(source), partition_(partition) {}

  void start(Moment moment, MessageOutbox& outbox);
  // Each false: another's.
  bool on(RoundLeaves& leaves, Moment moment, MessageOutbox& outbox);
  bool on(RoundSlice& slice, Moment moment, MessageOutbox& outbox);
  bool on(RangeRead& read, Moment moment, MessageOutbox& outbox);
  bool on(const ReplicaPutAck& ack, Moment moment, MessageOutbox& outbox);
  void on_committed(BatchNumber batch, MessageOutbox& outbox);
  // Asks again where the source was busy; gives up what has been silent for too long.
  void tick(Moment moment, MessageOutbox& outbox);

  // Until resume(), which is due at pauses_until(): there is nothing to wait for from anybody.
  bool pauses() const { return pauses_until_.has_value(); }
  Time pauses_until() const { return *pauses_until_; }
  void resume(Moment moment, MessageOutbox& outbox);

  bool ended() const { return ended_; }
  // Nobody waits for its answers any more.
  void give_up();
  const Status& status() const { return status_; }  // of one that has ended

  struct Counts {
    uint64_t differences = 0;  // keys of which something was lacking, or was gone there
    uint64_t keys = 0;         // records that came and were lacking
    uint64_t bytes = 0;
  };
  const Counts& counts() const { return counts_; }
  bool source_is_whole() const { return source_is_whole_; }  // there, when its leaves were read
  Partition partition() const { return partition_; }

 private:
  enum class Walk : uint8_t { kNone, kLacking, kWithRecords, kKeysOnly, kFetch };
  struct Held {
    OwnKey own;
    bool listed = false;  // by the source
  };

  Leaf own_leaf(uint32_t leaf) const;
  void begin_pull(Moment moment, MessageOutbox& outbox);
  void pull_leaves(Moment moment, MessageOutbox& outbox);
  void list_own(MessageOutbox& outbox);
  RangeStep own_step() const;
  void read_own(MessageOutbox& outbox);
  void advance(Moment moment, MessageOutbox& outbox);
  void begin(Walk walk, MessageOutbox& outbox);
  bool must_wait(Time now);
  void ask(MessageOutbox& outbox);
  void settle(const RoundSlice& slice);
  void take(RoundSlice& slice, Moment moment, MessageOutbox& outbox);
  void take(RoundSlice::Entry& entry, const std::shared_ptr<const Floor>& floor, const SourceClaims& claims,
            Moment moment, MessageOutbox& outbox);
  void take_bare(RoundSlice::Entry& entry, const OwnKey* own, const std::shared_ptr<const Floor>& floor,
                 const SourceClaims& claims, Moment moment, MessageOutbox& outbox);
  void count_difference();
  void count_received(size_t bytes);
  void go_behind(RoundSlice& slice);
  void note_answered(const RoundSlice& slice);
  void keep_own(RangeSlice& slice);
  void drop_equal_leaves();
  void drop_unlisted(Moment moment, MessageOutbox& outbox);
  void put(std::string_view storage_key, SharedBytes record, std::shared_ptr<const Floor> floor,
           Moment moment, MessageOutbox& outbox);
  void finish();
  void fail(Status why);

  ConvergenceEnvironment& environment_;
  const NodeId source_;
  const Partition partition_;

  RequestNumber question_ = 0;  // under way; 0: none
  uint64_t reserved_ = 0;       // of the pace, for its answer
  std::optional<Time> ask_again_at_;
  SourceClaims claims_;  // when its leaves were read
  bool source_is_whole_ = false;
  CausalContext erased_;              // then
  std::map<uint32_t, Leaf> to_pull_;  // leaves that differ, as they were there
  std::optional<Time> pauses_until_;
  LeafSet lacking_;                   // leaves to ask for lacking keys
  LeafSet surplus_;                   // leaves of which more is here, to look for what the source hasn't
  std::vector<LeafAnswer> answered_;  // of leaves that were asked for

  // Of the leaves that are being pulled.
  LeafSet with_records_;
  LeafSet keys_only_;
  std::map<std::string, Held, std::less<>> own_;
  bool own_listed_ = true;
  std::string own_position_;
  uint64_t own_ticket_ = 0;        // of the read under way
  BatchNumber own_waits_for_ = 0;  // commit before it is read
  Walk walk_ = Walk::kNone;        // under way
  std::string walk_position_;
  std::deque<std::string> to_fetch_;
  size_t fetching_ = 0;  // the first so many of them

  std::set<RequestNumber> puts_;  // that aren't acknowledged yet
  Time heard_at_;
  bool ended_ = false;
  Status status_;
  Counts counts_;
};

}  // namespace ringkv
