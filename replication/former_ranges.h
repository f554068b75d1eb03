// What lies here of partitions that this node doesn't own any more, or was to own by a change that was
// cancelled. Nobody asks for it, but a write may be in no other place that was stamped, or kept as a hint,
// under an earlier ring. So it is offered to the owners, each of which pulls it in a round that began when
// this node had ceased to be an owner; once all of them have, and a grace has passed, it goes: records,
// digests and floor. What this life has claimed there goes with it (limited partitions,
// storage/floor_table.h).
//
// Nothing is kept over a restart: what lies here is seen by its digests and floors, and is offered again.
// Loop thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "replication/convergence_environment.h"

namespace ringkv {

class FormerRanges {
 public:
  static constexpr size_t kOfferedAtOnce = 256;
  static constexpr size_t kDroppedAtOnce = 16;  // a tick
  // What was admitted by the ring before has been answered by then.
  static constexpr Duration kSettles = std::chrono::seconds(5);

  explicit FormerRanges(ConvergenceEnvironment& environment) : environment_(environment) {}

  // Another ring holds.
  void set_ring(Moment moment);
  // It may have lost what it had taken.
  void on_boot(NodeId node);
  void on(NodeId from, const RangesTaken& taken, Moment moment);
  void tick(Moment moment, MessageOutbox& outbox);

  const std::set<Partition>& held() const { return environment_.former; }
  uint32_t partitions() const { return static_cast<uint32_t>(former_.size()); }
  // Those that an owner which can be reached has yet to pull, or so many owners that one of them has all that
  // was acknowledged.
  uint32_t untaken() const;
  uint64_t dropped() const { return dropped_; }

 private:
  struct Former {
    std::shared_ptr<const VersionVector> own_lives;  // when it was found, later than the last stamp there
    Time since;
    uint64_t epoch = 0;  // since then
    std::set<NodeId> taken_by;
    std::optional<Time> taken_at;  // by all
  };

  bool lies_here(Partition partition) const;
  bool is_untaken(Partition partition, const Former& former) const;
  void offer(Moment moment, MessageOutbox& outbox);
  void drop_due(Moment moment, MessageOutbox& outbox);
  void look_whether_taken(Partition partition, Former& former, Time now);
  void reclaim(MessageOutbox& outbox);

  ConvergenceEnvironment& environment_;
  std::map<Partition, Former> former_;
  struct Offered {
    Time next_at{};
    Partition last = 0;
  };
  std::map<NodeId, Offered> offered_;  // to each owner
  uint64_t dropped_ = 0;
  std::optional<std::pair<Partition, Partition>> to_reclaim_;  // the first and the last that went
};

}  // namespace ringkv
