// What this node takes over while the ring changes: the partitions that it owns by the next table and not by
// the present one, and those whose list grows shorter, since what only such owners hold as leave it must be
// held by those that stay. They are taken over by rounds, each of which began when its source and this node
// had adopted the begun change: from every present owner that can be reached, and from so many whole ones
// that whatever was acknowledged, or answered to a confirmed get, is held by one of them. When that is so for
// all of them this node is ready, and the ring may be switched as far as it is concerned.
//
// Nothing is kept over a restart: rounds between equal nodes cost next to nothing. Loop thread.
#pragma once

#include <map>
#include <vector>

#include "replication/ring_view.h"
#include "replication/wholeness.h"

namespace ringkv {

class Takeover {
 public:
  // Another ring holds.
  void set_ring(const Ring& ring, NodeId self);

  bool is_pending(Partition partition) const { return pending_.contains(partition); }
  // Those of which it has no copy by the present table; in order.
  std::vector<Partition> gained() const;
  // Those of them that nobody has any more, since all their owners were declared lost: they begin empty.
  std::vector<Partition> orphaned(const Ring& ring) const;
  bool is_gained(Partition partition) const { return pending_.at(partition).is_gained; }
  // A round has ended, of the epoch that holds; nothing where it isn't pending.
  void on_round(Partition partition, NodeId source, bool source_is_whole);
  // What was taken over was lost again.
  void begin_again(Partition partition) { pending_.at(partition).sources.clear(); }
  void begin_again();
  // So many whole owners, this node's own copy among them where it has one that is whole.
  bool has_heard_enough(Partition partition, const RingView& view, const Wholeness& wholeness) const {
    return has_heard_enough(partition, pending_.at(partition), view, wholeness);
  }
  // It has another life.
  void forget_rounds_from(NodeId source);

  size_t partitions() const { return pending_.size(); }
  size_t ready(const RingView& view, const Wholeness& wholeness) const;  // of those
  // The epoch of the begun change for which this node is ready; 0: there is none.
  uint64_t ready_epoch(const RingView& view, const Wholeness& wholeness) const;

 private:
  struct Pending {
    bool is_gained = true;
    std::map<NodeId, bool> sources;  // rounds from them; whether they were whole
  };

  static bool is_ready(Partition partition, const Pending& pending, const RingView& view,
                       const Wholeness& wholeness);
  static bool has_heard_enough(Partition partition, const Pending& pending, const RingView& view,
                               const Wholeness& wholeness);

  std::map<Partition, Pending> pending_;
};

}  // namespace ringkv
