// A small world for agreement alone: nodes with disks that forget what wasn't synced, a network that loses,
// repeats and reorders, and an operator who kills, wipes and copies. One seed, one history.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "base/random.h"
#include "base/time.h"
#include "gossip/epoch_register.h"
#include "gossip/older_copy.h"

namespace ringkv {

// A ring description as far as this world needs one.
struct ToyRing {
  uint64_t epoch = 1;
  uint64_t mark = 0;  // makes any two descriptions differ
  std::vector<Electorate::Seat> seats;

  std::string encode() const;
  static ToyRing decode(std::string_view bytes);
};

// How often something happened that the exploration is there for.
struct AgreementCoverage {
  uint64_t chosen = 0;               // epochs
  uint64_t another_chosen = 0;       // proposals that ended with somebody else's description
  uint64_t overtaken = 0;            // proposals that ended because a ring came from elsewhere
  uint64_t timed_out = 0;            // proposals
  uint64_t votes_forgotten = 0;      // records of votes that a crash took before they were synced
  uint64_t asked_wiped = 0;          // messages to voters that a wipe had made forget
  uint64_t seats_given_anew = 0;     // wiped disks that an epoch named
  uint64_t votes_of_replaced = 0;    // that arrived from lives that a copy had replaced
  uint64_t ballots_of_replaced = 0;  // the same
  uint64_t restored = 0;             // older copies of a disk that were put back
  uint64_t asked_restored = 0;       // messages to them while they must not vote
  uint64_t voted_again = 0;          // restored voters that have come to vote again
  uint64_t joined = 0;
  uint64_t longest = 0;  // the last epoch that a history came to before its end
  uint64_t got_on = 0;   // histories with a majority at their end
};

class AgreementWorld {
 public:
  AgreementWorld(uint64_t seed, AgreementCoverage& coverage);

  // Faults and proposals for a number of steps, then peace. What went wrong, or "".
  std::string explore(uint64_t steps);

 private:
  struct Rates {
    uint64_t crash = 0;  // per mille of the steps
    uint64_t wipe = 0;
    uint64_t copy = 0;
    uint64_t restore = 0;
    uint64_t propose = 0;
    uint64_t lose = 0;  // per cent of the messages
    uint64_t repeat = 0;
  };
  struct Disk {
    DiskId id;
    std::string ring;
    std::string votes;
    std::string older_copy;
    std::vector<Boot> boots = {};  // its lives
  };
  struct Packet {
    NodeId from;
    Boot boot;
    NodeId to;
    GossipMessage message;
  };
  // Not yet on disk, and what waits for it, in order.
  using Effect = std::variant<MetaRecord, Packet>;

  struct Life {
    NodeId node;
    Boot boot;
    Disk disk;
    std::string ring_bytes;
    ToyRing ring;
    std::unique_ptr<EpochRegister> agreement;
    std::unique_ptr<OlderCopy> older_copy;
    bool own_votes_void = false;
    std::string proposed;
    std::vector<Effect> unsynced;
    bool replaced = false;  // by a life on a copy of its disk
  };

  struct Known {
    Boot boot;
    DiskId disk;
    std::vector<Boot> before;  // of the same disk
  };

  void step();
  void start(NodeId node, Disk disk);
  size_t most_to_lose();
  void stop(size_t index);
  void restart_one();
  void wipe_one();
  void copy_one();
  void restore_one();
  void propose(Life& life);
  ToyRing next_ring(const Life& life);

  void perform(Life& life, GossipOutbox& outbox);
  void sync(Life& life, size_t effects);
  void write(Disk& disk, const MetaRecord& record) const;
  void deliver(Packet packet);
  void receive(Life& life, const Packet& packet);
  void note(const Life& life, const Packet& packet);
  static void take(Known& known, const Life& life);
  void greet(Life& life, Life& at);
  void tick(Life& life);
  void take_outcome(Life& life);
  void adopt(Life& life, const std::string& ring);
  void tell(const Life& from, NodeId to);
  void check(uint64_t epoch, const std::string& ring);

  void make_peace();
  bool has_majority(const ToyRing& ring) const;
  bool can_get_on() const;
  ToyRing latest_ring() const;
  Life* pick();

  SeededRandom random_;
  AgreementCoverage& coverage_;
  Rates rates_;
  Time now_{};
  bool peace_ = false;
  uint64_t last_id_ = 100;
  std::vector<std::unique_ptr<Life>> lives_;
  std::map<NodeId, Disk> down_;
  std::map<NodeId, std::map<NodeId, Known>> known_;  // by whom, of whom; on disk
  std::map<NodeId, std::vector<Disk>> backups_;
  NodeId restored_;      // one a history: its votes may be lost
  std::set<Boot> over_;  // lives that a copy has replaced
  std::vector<Packet> network_;
  std::map<uint64_t, std::string> chosen_;  // by epoch
  std::string violation_;
};

}  // namespace ringkv
