// The register in which each epoch's ring description is chosen: epoch e + 1 by a majority of the voters of
// epoch e, by single-decree Paxos (Lamport, "The part-time parliament", 1998), one decree an epoch. The
// description is bytes here; nothing in this room knows what a ring is.
//
// What an acceptor promised or accepted is on disk before its answer leaves. It votes only for the epoch
// after its own ring's; whoever asks for an older one learns from the frame's epoch that it is behind. A vote
// counts once a node, and only from the latest life known of it.
//
// A core: no I/O. Loop thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/random.h"
#include "base/time.h"
#include "gossip/messages.h"
#include "ringkv/status.h"

namespace ringkv {

inline constexpr std::string_view kAcceptorKey = "acceptor";

// The ring as agreement sees it: who votes for the next one.
struct Electorate {
  struct Seat {
    NodeId node;
    DiskId disk;
  };

  uint64_t lineage = 1;
  uint64_t epoch = 0;  // of the ring held
  std::string digest;  // of its description
  std::vector<Seat> seats;
};

class EpochRegister {
 public:
  // The latest life known of a node; zero: none.
  using BootOf = std::function<Boot(NodeId)>;

  // `acceptor_record`: as it was found on disk under kAcceptorKey, "" if none. CORRUPTION when damaged.
  static Result<EpochRegister> open(const Voter& self, Electorate electorate,
                                    std::string_view acceptor_record, BootOf boot_of, Random& random);

  // Asks that `description` be the ring of the next epoch. One proposal of this node at a time: UNAVAILABLE
  // otherwise. The outcome comes from take_outcome().
  Status propose(std::string description, Time now, Time deadline, GossipOutbox& outbox);
  bool proposing() const;

  void on(NodeId from, const Prepare& prepare, GossipOutbox& outbox);
  void on(NodeId from, const Promise& promise, Time now, GossipOutbox& outbox);
  void on(NodeId from, const Accept& accept, GossipOutbox& outbox);
  void on(NodeId from, const Accepted& accepted, Time now, GossipOutbox& outbox);
  void tick(Time now, GossipOutbox& outbox);

  // What this node's proposal came to, once.
  struct Outcome {
    Status status;  // OK: `chosen` is the ring of `epoch`; UNAVAILABLE: not decided in time
    uint64_t epoch = 0;
    std::string chosen;          // perhaps another's description: compare
    std::vector<NodeId> silent;  // voters that never answered
  };
  std::optional<Outcome> take_outcome();

  // The node holds a later ring. A proposal under way for an epoch that is past ends without an outcome of
  // its own: as UNAVAILABLE "another change came first".
  void adopt(Electorate next);
};

}  // namespace ringkv
