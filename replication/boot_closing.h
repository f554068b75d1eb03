// Closes ended lives: of a boot that ended with a lost tail there may be dots that no floor will ever reach,
// and tombstones that wait for them. Its floor may be taken as "everything" once nothing of it can come any
// more:
//
//   1. every member has met a later life of its node (or its removal), and so refuses its messages;
//   2. after that, every member has said that it keeps no hint with a dot of it;
//   3. after that, this node has finished a round from each other owner, in one epoch without a change.
//
// That it was ended is known from its node: who names another life as its own, in a round that began when the
// life had been seen here already, has ended it. (A life that nobody has told of yet may be a new one, whose
// writes have come here over another member.)
//
// Then whatever of it was acknowledged is held here, or superseded by what is held here. (Copies by members
// that live on may still carry a dot of it: such a dot was never acknowledged, or is held here as well.) Each
// owner decides that by itself: a closed life is a part of the floor that rounds carry to the others. Only
// this waits for members that are down.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "replication/convergence_environment.h"
#include "replication/sweeper.h"

namespace ringkv {

class BootClosing {
 public:
  // What a node has admitted before it said that it refuses more is done by then, or its deadline has passed.
  static constexpr Duration kSettles = std::chrono::seconds(5);
  static constexpr Duration kLookPause = std::chrono::seconds(5);
  // So many ended lives may be listed in floors; more are closed although no tombstone waits for them.
  static constexpr size_t kEndedLivesListed = 64;

  // What gossip knows.
  struct Boots {
    std::vector<Actor> latest;       // of every member; in order
    uint64_t digest = 0;             // of those and the ring's epoch; 0: not of every member known
    bool all_met = false;            // every member says the same digest
    bool all_without_hints = false;  // and that it keeps no hint of another life
    std::vector<NodeId> missing;     // members that don't say so: for people

    friend bool operator==(const Boots&, const Boots&) = default;
  };

  // When the last full round from the node began, of everything that it and this one share, in this epoch.
  using LastComplete = std::function<std::optional<Time>(NodeId)>;

  explicit BootClosing(ConvergenceEnvironment& environment) : environment_(environment) {}

  void set_boots(Boots boots, Moment moment);
  // A member has another life: what was known of all lives is no longer so.
  void on_boot(Moment moment);
  bool on(const HintsRead& read, Moment moment, MessageOutbox& outbox);  // false: another's
  // `blocking`: lives for whose dots records wait.
  void tick(Moment moment, const std::map<Actor, Sweeper::Blocked>& blocking,
            const LastComplete& last_complete, MessageOutbox& outbox);

  // The digest for which this node has looked through its hints; 0: none.
  uint64_t boots_without_hints() const { return clear_digest_; }
  const Boots& boots() const { return boots_; }

 private:
  // A walk through all hints that were on disk when it began.
  struct Look {
    uint64_t ticket = 0;
    std::vector<NodeId> intended;  // those still to be looked at; the last one is being read
    std::string after;
  };

  void start_over(Time now);
  void look(Moment moment, MessageOutbox& outbox);
  void read_on(MessageOutbox& outbox);
  void look_again(Time now);
  bool is_on_disk(BatchNumber batch) const;

  bool is_over(const Actor& actor) const;
  bool has_life_over(const HintSlice& slice) const;
  std::vector<NodeId> other_owners() const;
  bool has_pulled_from_all(Time since, const LastComplete& last_complete);
  std::vector<Actor> to_close(Time now, const std::map<Actor, Sweeper::Blocked>& blocking,
                              const LastComplete& last_complete);
  bool was_replaced(const Actor& actor, const LastComplete& last_complete) const;
  std::vector<Actor> listed_in_floors() const;
  std::vector<Partition> limited_partitions() const;

  ConvergenceEnvironment& environment_;
  Boots boots_;
  uint64_t epoch_ = 0;
  std::vector<NodeId> other_owners_;  // of partitions of this node, in that epoch

  uint64_t clear_digest_ = 0;
  Time look_at_{};
  std::optional<BatchNumber> hints_until_;  // that are to be on disk before they are looked through
  std::optional<Look> look_;

  std::optional<Time> all_clear_since_;
  Time list_at_{};
  std::map<Actor, Time> seen_at_;  // first, of those that may be closed
};

}  // namespace ringkv
