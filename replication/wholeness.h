// Which partitions this node has in whole. An owner is whole for a partition when it has finished a round
// from at least N - w + 1 other owners since its data there was new, wiped, damaged or restored from an old
// copy: so many that every acknowledged write is held by one of them (w: the smallest default of any bucket).
// Until then it takes writes and doesn't count for reads. A plain restart changes nothing.
//
// Decides; what it decides is put on disk by its caller. Loop thread.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/outbox.h"
#include "replication/ring.h"
#include "ringkv/status.h"

namespace ringkv {

class Wholeness {
 public:
  explicit Wholeness(uint32_t partitions);

  // As record() made it; "": whole everywhere. CORRUPTION when it is damaged.
  Status load(std::string_view bytes);
  std::string encode() const;

  bool is_whole(Partition partition) const { return !incomplete_[partition]; }
  uint32_t incomplete() const { return incomplete_count_; }
  std::vector<Partition> incomplete_partitions() const;  // in order

  void lose(Partition partition);
  void make_whole(Partition partition);
  void lose_all();
  // What the node doesn't own it needn't have.
  void forget_foreign(const Ring& ring, NodeId self);

  // A round from `source` has ended and covers these partitions; it counts for those that gets ask the source
  // for. True when one became whole by it.
  bool on_round(const std::vector<Partition>& partitions, NodeId source, const Ring& ring);
  // Rounds from it, or into this node, that were counted don't count any more: it has another life, or lost
  // data.
  void forget_rounds_from(NodeId source);
  // What is left is taken for the whole, by an operator's word. Which partitions that were.
  std::vector<Partition> accept_loss();

  // To be put on disk: what changed since the last call.
  std::optional<MetaRecord> take_record();

 private:
  std::vector<bool> incomplete_;
  uint32_t incomplete_count_ = 0;
  std::map<Partition, std::set<NodeId>> rounds_;  // of incomplete ones: from whom
  bool changed_ = false;
};

}  // namespace ringkv
