#include "replication/takeover.h"

#include <algorithm>
#include <span>

#include "base/plants.h"

namespace ringkv {

void Takeover::set_ring(const Ring& ring, NodeId self) {
  pending_.clear();
  const std::optional<RingChange>& change = ring.description().change;
  if (!change || change->switched) return;
  for (Partition partition = 0; partition < ring.partitions(); ++partition) {
    if (!ring.is_next_owner(self, partition)) continue;
    const bool is_gained = !ring.is_present_owner(self, partition);
    const bool shrinks = ring.next_preference_list(partition).size() < ring.preference_list(partition).size();
    if (is_gained || shrinks) pending_.emplace(partition, Pending{is_gained, {}});
  }
}

std::vector<Partition> Takeover::gained() const {
  std::vector<Partition> partitions;
  for (const auto& [partition, pending] : pending_) {
    if (pending.is_gained) partitions.push_back(partition);
  }
  return partitions;
}

std::vector<Partition> Takeover::orphaned(const Ring& ring) const {
  std::vector<Partition> partitions = gained();
  std::erase_if(partitions, [&](Partition partition) {
    const std::span<const uint16_t> owners = ring.preference_list(partition);
    return std::any_of(owners.begin(), owners.end(),
                       [&](uint16_t position) { return !ring.member(position).lost; });
  });
  return partitions;
}

void Takeover::on_round(Partition partition, NodeId source, bool source_is_whole) {
  const auto pending = pending_.find(partition);
  if (pending == pending_.end()) return;
  bool& was_whole = pending->second.sources[source];
  was_whole = was_whole || source_is_whole;
}

void Takeover::begin_again() {
  for (auto& [partition, pending] : pending_) pending.sources.clear();
}

void Takeover::forget_rounds_from(NodeId source) {
  for (auto& [partition, pending] : pending_) pending.sources.erase(source);
}

bool Takeover::has_heard_enough(Partition partition, const Pending& pending, const RingView& view,
                                const Wholeness& wholeness) {
  const std::vector<NodeId> present = view.owners_of(partition);
  const auto whole = std::count_if(present.begin(), present.end(), [&](NodeId owner) {
    if (owner == view.self()) return wholeness.is_whole(partition);
    const auto source = pending.sources.find(owner);
    return source != pending.sources.end() && source->second;
  });
  return static_cast<uint32_t>(whole) >= view.holders_to_hear(present);
}

bool Takeover::is_ready(Partition partition, const Pending& pending, const RingView& view,
                        const Wholeness& wholeness) {
  const std::vector<NodeId> present = view.owners_of(partition);
  return wholeness.is_whole(partition) && has_heard_enough(partition, pending, view, wholeness) &&
         std::all_of(present.begin(), present.end(), [&](NodeId owner) {
           return owner == view.self() || pending.sources.contains(owner) || !view.is_reachable(owner);
         });
}

size_t Takeover::ready(const RingView& view, const Wholeness& wholeness) const {
  return static_cast<size_t>(std::count_if(pending_.begin(), pending_.end(), [&](const auto& entry) {
    return is_ready(entry.first, entry.second, view, wholeness);
  }));
}

uint64_t Takeover::ready_epoch(const RingView& view, const Wholeness& wholeness) const {
  const std::optional<RingChange>& change = view.ring().description().change;
  if (!change || change->switched) return 0;
  if (ready(view, wholeness) < pending_.size() && !planted(Plant::kSwitchBeforeTransfer)) return 0;
  return view.ring().epoch();
}

}  // namespace ringkv
