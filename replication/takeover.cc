#include "replication/takeover.h"

#include <algorithm>
#include <span>

namespace ringkv {

void Takeover::set_ring(const Ring& ring, NodeId self) {
  pending_.clear();
  const std::optional<RingChange>& change = ring.description().change;
  if (!change || change->switched) return;
  const auto has_self = [&](std::span<const uint16_t> list) {
    return std::any_of(list.begin(), list.end(),
                       [&](uint16_t position) { return ring.member(position).node == self; });
  };
  for (Partition partition = 0; partition < ring.partitions(); ++partition) {
    const auto present = ring.preference_list(partition), next = ring.next_preference_list(partition);
    if (!has_self(next)) continue;
    const bool is_gained = !has_self(present);
    if (is_gained || next.size() < present.size()) pending_.emplace(partition, Pending{is_gained, {}});
  }
}

std::vector<Partition> Takeover::gained() const {
  std::vector<Partition> partitions;
  for (const auto& [partition, pending] : pending_) {
    if (pending.is_gained) partitions.push_back(partition);
  }
  return partitions;
}

bool Takeover::on_round(Partition partition, NodeId source, bool source_is_whole, const RingView& view) {
  const auto pending = pending_.find(partition);
  if (pending == pending_.end()) return false;
  bool& was_whole = pending->second.sources[source];
  was_whole = was_whole || source_is_whole;
  return has_heard_enough(partition, pending->second, view);
}

void Takeover::begin_again() {
  for (auto& [partition, pending] : pending_) pending.sources.clear();
}

void Takeover::forget_rounds_from(NodeId source) {
  for (auto& [partition, pending] : pending_) pending.sources.erase(source);
}

// An owner that stays has its own copy.
bool Takeover::has_heard_enough(Partition partition, const Pending& pending, const RingView& view) {
  const std::vector<NodeId> present = view.owners_of(partition);
  const auto whole = std::count_if(present.begin(), present.end(), [&](NodeId owner) {
    const auto source = pending.sources.find(owner);
    return owner == view.self() || (source != pending.sources.end() && source->second);
  });
  return static_cast<uint32_t>(whole) >= view.holders_to_hear(static_cast<uint32_t>(present.size()));
}

bool Takeover::is_ready(Partition partition, const Pending& pending, const RingView& view) {
  const std::vector<NodeId> present = view.owners_of(partition);
  return has_heard_enough(partition, pending, view) &&
         std::all_of(present.begin(), present.end(), [&](NodeId owner) {
           return owner == view.self() || pending.sources.contains(owner) || !view.is_reachable(owner);
         });
}

size_t Takeover::ready(const RingView& view, const Wholeness& wholeness) const {
  return static_cast<size_t>(std::count_if(pending_.begin(), pending_.end(), [&](const auto& entry) {
    return wholeness.is_whole(entry.first) && is_ready(entry.first, entry.second, view);
  }));
}

uint64_t Takeover::ready_epoch(const RingView& view, const Wholeness& wholeness) const {
  const std::optional<RingChange>& change = view.ring().description().change;
  if (!change || change->switched || ready(view, wholeness) < pending_.size()) return 0;
  return view.ring().epoch();
}

}  // namespace ringkv
