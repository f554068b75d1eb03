// Lets go of what needn't be remembered any more: a tombstone, an expired value or a bare context whose whole
// context lies under this node's own floor ("Tombstones go by floor" in ARCHITECTURE.md). It asks nobody.
//
// Walks the index of transient records, a step at a time, a whole turn again whenever floors have been raised
// or values have expired; each record goes through its key's latch at the replica, and the next step waits
// for those of the one before. Remembers what is blocked: for `stats`, and for the closing of ended lives.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "replication/convergence_environment.h"

namespace ringkv {

class Sweeper {
 public:
  explicit Sweeper(ConvergenceEnvironment& environment) : environment_(environment) {}

  // A majority of members was heard within a minute: what has expired may go (after the skew bound).
  void set_time_trusted(bool trusted) { time_trusted_ = trusted; }

  void tick(Moment moment, MessageOutbox& outbox);
  bool on(TransientRead& read, Moment moment, MessageOutbox& outbox);  // false: another's
  // Goes once around now; answers with what went and what is blocked by whom.
  void on(const Arrival& arrival, const ClientPurge& purge, MessageOutbox& outbox);

  // As of the last turn: lives whose dots no floor here reaches, and how many records wait for each.
  struct Blocked {
    uint64_t records = 0;
    HybridTime oldest = 0;  // the oldest of them
  };
  const std::map<Actor, Blocked>& blocked() const { return last_.blocked_by; }
  void add_to(Statistics& statistics,
              WallMicros wall_now) const;  // transient.records, .blocked, .blocked_by…
  void fail_all(const Status& why, MessageOutbox& outbox);

 private:
  struct Purge {
    Requester requester;
    Time deadline;
    uint64_t turn = 0;  // its answer comes when this turn has ended
  };

  struct Erasure {
    Place place;
    std::vector<Dot> dots;  // that it had
    bool expired = false;
    Time asked_at;
  };

  void begin_turn(MessageOutbox& outbox);
  void read_on(MessageOutbox& outbox);
  void look_at(const TransientSlice::Entry& entry, Moment moment, MessageOutbox& outbox);
  bool is_blocked(Partition partition, const RecordHead& head);
  void settle_erasures(Time now);
  void end_turn(Time now);
  void answer_purges(const Status& status, MessageOutbox& outbox);
  std::string blocked_text(const Actor& actor, const Blocked& blocked) const;

  ConvergenceEnvironment& environment_;
  bool time_trusted_ = false;
  bool due_ = true;
  Time next_turn_at_{};
  bool under_way_ = false;
  uint64_t turn_ = 0;
  uint64_t ticket_ = 0;  // of the read under way; 0: none
  std::string position_;
  bool at_end_ = false;
  std::vector<Erasure> erasures_;  // of the last step, not through yet

  // Of the turn under way, and of the one before.
  struct Found {
    uint64_t records = 0;
    uint64_t blocked = 0;
    uint64_t erased = 0;
    std::optional<uint64_t> next_expiry_ms;
    std::map<Actor, Blocked> blocked_by;
  };
  Found found_;
  Found last_;
  std::vector<Purge> purges_;
};

}  // namespace ringkv
