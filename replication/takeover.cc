#include "replication/takeover.h"

#include <algorithm>
#include <utility>

namespace ringkv {

std::vector<Partition> Takeover::set_ring(const Ring& ring, NodeId self) {
  const std::map<Partition, Pending> before = std::exchange(pending_, {});
  std::vector<Partition> gained;
  const std::optional<RingChange>& change = ring.description().change;
  if (!change || change->switched) return gained;
  for (Partition partition = 0; partition < ring.partitions(); ++partition) {
    if (!ring.is_owner(self, partition)) continue;
    const auto present = ring.preference_list(partition);
    const bool is_present = std::any_of(present.begin(), present.end(), [&](uint16_t position) {
      return ring.member(position).node == self;
    });
    if (is_present) continue;
    pending_.emplace(partition, Pending());
    if (!before.contains(partition)) gained.push_back(partition);
  }
  return gained;
}

bool Takeover::on_round(Partition partition, NodeId source, bool source_is_whole, const RingView& view) {
  const auto pending = pending_.find(partition);
  if (pending == pending_.end()) return false;
  bool& was_whole = pending->second.sources[source];
  was_whole = was_whole || source_is_whole;
  return has_heard_enough(partition, pending->second, view);
}

void Takeover::forget_rounds_from(NodeId source) {
  for (auto& [partition, pending] : pending_) pending.sources.erase(source);
}

bool Takeover::has_heard_enough(Partition partition, const Pending& pending, const RingView& view) {
  const std::vector<NodeId> present = view.owners_of(partition);
  const auto whole = std::count_if(present.begin(), present.end(), [&](NodeId owner) {
    const auto source = pending.sources.find(owner);
    return source != pending.sources.end() && source->second;
  });
  return static_cast<uint32_t>(whole) >= view.holders_to_hear(static_cast<uint32_t>(present.size()));
}

bool Takeover::is_ready(Partition partition, const Pending& pending, const RingView& view) {
  const std::vector<NodeId> present = view.owners_of(partition);
  return has_heard_enough(partition, pending, view) &&
         std::all_of(present.begin(), present.end(), [&](NodeId owner) {
           return pending.sources.contains(owner) || !view.is_reachable(owner);
         });
}

size_t Takeover::ready(const RingView& view) const {
  return static_cast<size_t>(std::count_if(pending_.begin(), pending_.end(), [&](const auto& entry) {
    return is_ready(entry.first, entry.second, view);
  }));
}

uint64_t Takeover::ready_epoch(const RingView& view) const {
  const std::optional<RingChange>& change = view.ring().description().change;
  if (!change || change->switched || ready(view) < pending_.size()) return 0;
  return view.ring().epoch();
}

}  // namespace ringkv
