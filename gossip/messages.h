// What nodes say to each other about who is there and which ring holds. All of it travels on the control
// connection, so that bulk never delays it.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "base/outbox.h"
#include "base/peer_state.h"

namespace ringkv {

// ---- Liveness: SWIM (Das, Gupta, Motivala, 2002) with Lifeguard (Dadgar, Phillips, Currey, 2017).

enum class Health : uint8_t { kAlive = 0, kSuspect = 1, kDown = 2 };

// An opinion about a node, as it is passed on. Of two about one node the later incarnation wins, of equal
// ones the worse health. Only the node itself raises its incarnation, to refute.
struct HealthClaim {
  NodeId node;
  uint64_t generation = 0;
  uint64_t incarnation = 0;  // within the generation
  Health health = Health::kAlive;
  NodeId accuser;  // of a suspicion: who says so himself; equal ones from different accusers confirm it

  friend bool operator==(const HealthClaim&, const HealthClaim&) = default;
};

struct Probe {
  uint64_t sequence = 0;  // the asker's; the answer carries it back
  std::vector<HealthClaim> claims;
  WallMicros wall = 0;  // the sender's clock: for the cluster's (gossip/cluster_clock.h)
};

struct ProbeAck {
  uint64_t sequence = 0;
  NodeId target;  // who is alive: the sender, or whom it has probed for the asker
  std::vector<HealthClaim> claims;
  WallMicros wall = 0;  // the sender's clock
};

// Probe `target` for me.
struct ProbeRequest {
  uint64_t sequence = 0;
  NodeId target;
  std::vector<HealthClaim> claims;
};

// ---- State: push-pull gossip of PeerState, digests first, deltas after.

struct StateDigest {
  NodeId node;
  uint64_t generation = 0;
  uint64_t version = 0;

  friend bool operator==(const StateDigest&, const StateDigest&) = default;
};

// All that the sender knows, in short.
struct StateDigests {
  std::vector<StateDigest> digests;
};

// What the receiver lacks, and what the sender would like to have.
struct StateDeltas {
  std::vector<PeerState> states;
  std::vector<NodeId> wanted;
};

// ---- Rings. Every frame carries its sender's (lineage, epoch); who sees a later one than its own asks.

struct RingWanted {};

struct RingChosen {
  uint64_t lineage = 0;
  uint64_t epoch = 0;
  std::string description;  // encoded
};

// ---- Agreement on the description of one epoch: single-decree Paxos (Lamport, "The part-time parliament",
// 1998), one decree an epoch, the voters those of the epoch before.

// Never used twice: the boot is drawn at each start.
struct Ballot {
  uint64_t round = 0;
  NodeId node;
  Boot boot;

  explicit operator bool() const { return round != 0; }
  friend auto operator<=>(const Ballot&, const Ballot&) = default;
};

// Who votes: a wiped directory is another disk and has no vote; an older boot is fenced.
struct Voter {
  NodeId node;
  DiskId disk;
  Boot boot;

  friend bool operator==(const Voter&, const Voter&) = default;
};

struct Prepare {
  uint64_t epoch = 0;   // that is to be chosen
  std::string follows;  // digest of the description of the epoch before
  Ballot ballot;
};

struct Promise {
  uint64_t epoch = 0;
  Ballot ballot;  // of the Prepare
  Voter voter;
  Ballot promised;  // the ballot asked for, or a later one: then it was refused
  Ballot accepted;  // zero: none yet
  std::string value;
};

struct Accept {
  uint64_t epoch = 0;
  std::string follows;
  Ballot ballot;
  std::string value;
};

struct Accepted {
  uint64_t epoch = 0;
  Ballot ballot;  // of the Accept
  Voter voter;
  Ballot promised;  // the ballot asked for, or a later one: then it was refused
};

using GossipMessage = std::variant<Probe, ProbeAck, ProbeRequest, StateDigests, StateDeltas, RingWanted,
                                   RingChosen, Prepare, Promise, Accept, Accepted>;
using GossipOutbox = Outbox<GossipMessage>;

}  // namespace ringkv
