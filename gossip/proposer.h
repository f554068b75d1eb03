// One proposal for the ring of one epoch: ballots are tried until a majority of the voters has accepted one,
// or time is up. What comes out chosen may be somebody else's description: a voter that has accepted one
// hands it to the next proposer, who must go on with it.
//
// Messages get lost, and a voter may be one ring behind for a moment: who hasn't answered is asked again. A
// later ballot than the own ends it; the next one begins after a random pause, so that proposers that
// compete don't keep each other from the end.
//
// A core: no I/O. Loop thread.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "base/random.h"
#include "base/time.h"
#include "gossip/electorate.h"
#include "gossip/messages.h"
#include "ringkv/status.h"

namespace ringkv {

// What a proposal came to.
struct ProposalOutcome {
  Status status;  // OK: `chosen` is the ring of `epoch`; UNAVAILABLE: not decided in time
  uint64_t epoch = 0;
  std::string chosen;          // perhaps another's description: compare
  std::vector<NodeId> silent;  // voters that never answered
  bool overtaken = false;      // a ring that was chosen meanwhile ended it: to be tried again on that
};

class Proposer {
 public:
  struct Proposal {
    std::string description;
    Time deadline;
    uint64_t last_round = 0;  // used by this boot for earlier proposals
  };

  Proposer(const Voter& self, Electorate electorate, BootOf boot_of, Random& random, Proposal proposal);

  void start(Time now, GossipOutbox& outbox) { prepare(now, outbox); }
  void on(NodeId from, const Promise& promise, Time now, GossipOutbox& outbox);
  void on(NodeId from, const Accepted& accepted, Time now, GossipOutbox& outbox);
  void tick(Time now, GossipOutbox& outbox);

  // The node has adopted a later ring than the one that this proposal follows. The end.
  void overtake(const Electorate& next);

  // Set at the end; nothing happens after it.
  const std::optional<ProposalOutcome>& outcome() const { return outcome_; }
  uint64_t last_round() const { return round_; }

 private:
  struct Preparing {
    std::set<NodeId> promised_by;
    Ballot accepted;    // the latest that any of them had accepted
    std::string value;  // under that ballot
  };
  struct Accepting {
    std::string value;
    std::set<NodeId> accepted_by;
  };
  struct Pausing {
    Time until;
  };

  uint64_t epoch() const { return electorate_.epoch + 1; }
  bool counts(NodeId from, const Voter& voter) const;
  // Whether the ballot goes on after this answer to it.
  bool goes_on(const Ballot& ballot, const Ballot& promised, Time now);
  void prepare(Time now, GossipOutbox& outbox);
  void offer(std::string value, Time now, GossipOutbox& outbox);
  void send_to_missing(Time now, GossipOutbox& outbox);
  void finish(Status status, std::string chosen);
  Status timed_out() const;

  const Voter self_;
  const Electorate electorate_;
  const BootOf boot_of_;
  Random& random_;
  const std::string description_;
  const Time deadline_;

  uint64_t round_;  // the last used or heard of
  Ballot ballot_;
  std::variant<Preparing, Accepting, Pausing> phase_;
  Time send_again_at_{};
  uint32_t ballots_lost_ = 0;
  bool offered_ = false;  // the own description has left in an Accept
  std::set<NodeId> answered_;
  std::optional<ProposalOutcome> outcome_;
};

}  // namespace ringkv
