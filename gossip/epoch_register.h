// The register in which each epoch's ring description is chosen: epoch e + 1 by a majority of the voters of
// epoch e, by single-decree Paxos (Lamport, "The part-time parliament", 1998), one decree an epoch. The
// description is bytes here; nothing in this room knows what a ring is.
//
// What an acceptor promised or accepted is on disk before its answer leaves. It votes only for the epoch
// after its own ring's; whoever asks for an older one learns from the frame's epoch that it is behind. A vote
// counts once a node, and only from the latest life known of it; ballots of any other life aren't voted on.
//
// With one voter it goes the same way, by messages to oneself; with two both are needed.
//
// A core: no I/O. Loop thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/random.h"
#include "base/time.h"
#include "gossip/acceptor.h"
#include "gossip/electorate.h"
#include "gossip/messages.h"
#include "gossip/proposer.h"
#include "ringkv/status.h"

namespace ringkv {

class EpochRegister {
 public:
  // Of other nodes; it isn't asked about this one.
  using BootOf = ringkv::BootOf;
  using Outcome = ProposalOutcome;

  // `acceptor_record`: as it was found on disk under kAcceptorKey, "" if none. CORRUPTION when damaged.
  static Result<EpochRegister> open(const Voter& self, Electorate electorate,
                                    std::string_view acceptor_record, BootOf boot_of, Random& random);

  // Asks that `description` be the ring of the next epoch. One proposal of this node at a time, its outcome
  // taken: UNAVAILABLE otherwise. TOO_LARGE above kDescriptionBytesMax.
  Status propose(std::string description, Time now, Time deadline, GossipOutbox& outbox);
  bool proposing() const { return proposer_.has_value(); }
  const Electorate& electorate() const { return electorate_; }

  void on(NodeId from, const Prepare& prepare, GossipOutbox& outbox);
  void on(NodeId from, const Promise& promise, Time now, GossipOutbox& outbox);
  void on(NodeId from, const Accept& accept, GossipOutbox& outbox);
  void on(NodeId from, const Accepted& accepted, Time now, GossipOutbox& outbox);
  void tick(Time now, GossipOutbox& outbox);

  // What this node's proposal came to, once. The ring of an OK one isn't adopted yet, unless it has come
  // from elsewhere in the meantime.
  std::optional<Outcome> take_outcome();

  // The node holds a later ring; an earlier one changes nothing. A proposal under way for an epoch that is
  // past ends as UNAVAILABLE, or OK where it is its own description that has been chosen.
  void adopt(Electorate next);

 private:
  EpochRegister(const Voter& self, Electorate electorate, VoteRecord votes, BootOf boot_of, Random& random);

  bool is_latest_life(NodeId from, const Ballot& ballot) const;
  void close_finished();

  const Voter self_;
  const BootOf boot_of_;
  Random& random_;

  Electorate electorate_;
  Acceptor acceptor_;
  std::optional<Proposer> proposer_;
  std::optional<Outcome> outcome_;
  uint64_t last_round_ = 0;  // no ballot of this boot is ever used twice
};

}  // namespace ringkv
