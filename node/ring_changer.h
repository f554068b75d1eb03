// Changes of the ring that this node was asked for, one after another: makes the next description from the
// present one, has it proposed, and tries again on the new ring when another's came first.
//
// Loop thread.
#pragma once

#include <deque>
#include <functional>
#include <string>

#include "base/time.h"
#include "gossip/epoch_register.h"
#include "node/ring_edits.h"
#include "replication/ring.h"

namespace ringkv {

class RingChanger {
 public:
  using Done = std::function<void(Status)>;

  // `name_of`: of voters, for messages.
  RingChanger(NodeId self, EpochRegister& epochs, std::function<std::string(NodeId)> name_of)
      : self_(self), register_(epochs), name_of_(std::move(name_of)) {}

  // `done` once: OK when the change is in the ring; what the edit says against it; UNKNOWN_OUTCOME when not
  // enough voters answered in time.
  // FORBIDDEN where this node would be no member any more; OVERLOADED when too many wait already.
  void change(RingEdit edit, Time deadline, Done done) {
    if (changes_.size() >= kChangesMax) return done(overloaded("too many changes of the ring wait already"));
    changes_.push_back({std::move(edit), deadline, std::move(done)});
  }

  // Begins the first change if none is under way.
  void start(const Ring& ring, Time now, GossipOutbox& outbox);

  // What the register says of the proposal under way. The caller has adopted what was chosen.
  void on_outcome(const EpochRegister::Outcome& outcome);

  void fail_all(const Status& why);
  // Proposals of this node that lost against another node's.
  uint64_t proposals_lost() const { return proposals_lost_; }
  bool idle() const { return changes_.empty(); }

 private:
  static constexpr size_t kChangesMax = 1000;

  struct Change {
    RingEdit edit;
    Time deadline;
    Done done;
    std::string proposed;  // encoded; empty: not under way
    bool tried = false;
  };

  Result<RingDescription> next_of(const Change& change, const Ring& ring) const;
  void finish(Status status);
  Status undecided(const EpochRegister::Outcome& outcome) const;

  const NodeId self_;
  EpochRegister& register_;
  const std::function<std::string(NodeId)> name_of_;
  std::deque<Change> changes_;
  uint64_t proposals_lost_ = 0;
};

}  // namespace ringkv
