#include "node/views.h"

#include <algorithm>

#include "base/limits.h"
#include "base/text.h"
#include "node/plan_outline.h"

namespace ringkv {
namespace {

std::string_view name_of(MemberStatus status) {
  switch (status) {
    case MemberStatus::kNormal:
      return "normal";
    case MemberStatus::kJoining:
      return "joining";
    case MemberStatus::kLeaving:
      return "leaving";
  }
  return "unknown";
}

MemberInfo member_info(const Ring& ring, uint16_t position) {
  const Member& member = ring.member(position);
  MemberInfo info;
  info.name = member.name;
  info.id = member.node.value;
  info.rack = member.rack;
  info.weight = member.weight;
  info.status = name_of(member.status);
  info.state = member.status == MemberStatus::kNormal ? "up" : info.status;
  if (member.lost && member.status == MemberStatus::kNormal) info.status = "lost";
  info.share = ring.share(position);
  return info;
}

}  // namespace

void add_state(MemberInfo& info, const PeerState& state) {
  info.peer_address = state.peer_address;
  info.client_address = state.client_address;
  info.epoch = state.epoch;
  info.keys = state.keys;
  info.bytes = state.bytes;
  info.hints = state.hints;
  info.hint_bytes = state.hint_bytes;
  info.lag_seconds = static_cast<double>(state.lag_ms) / 1e3;
  info.incomplete_partitions = state.incomplete_partitions;
  if (state.former_untaken > 0) info.handover_partitions = state.former_untaken;
  if (state.takeover_partitions == 0) return;
  info.takeover_partitions = state.takeover_partitions;
  info.takeover_ready = state.takeover_ready;
}

void show_down(MemberInfo& info) {
  info.state = "down";
  info.hints = std::nullopt;
  info.hint_bytes = std::nullopt;
  info.lag_seconds = std::nullopt;
  info.takeover_partitions = std::nullopt;
  info.takeover_ready = std::nullopt;
  info.handover_partitions = std::nullopt;
}

ClusterStatus cluster_status(const Life& life, const ClusterMember& member, NodeId self) {
  ClusterStatus status;
  status.epoch = life.ring().epoch();
  status.lineage = life.ring().description().lineage;
  status.change_under_way = member.changing_ring() || life.ring().description().change.has_value();
  const std::vector<Member>& members = life.ring().description().members;
  status.voters = static_cast<uint32_t>(
      std::count_if(members.begin(), members.end(), [](const Member& one) { return one.voter; }));
  for (size_t position = 0; position < members.size(); ++position) {
    const NodeId node = members[position].node;
    MemberInfo& info = status.members.emplace_back(member_info(life.ring(), static_cast<uint16_t>(position)));
    const bool is_reachable = member.view().is_reachable(node);
    if (const std::optional<int64_t> skew = member.skew_micros(node); skew && is_reachable)
      info.skew_seconds = static_cast<double>(*skew) / 1e6;
    if (node == self) {
      add_state(info, member.own_state());
    } else if (const PeerState* state = member.states().find(node)) {
      add_state(info, *state);
    }
    if (!is_reachable) show_down(info);
  }
  return status;
}

RingInfo ring_info(const Ring& ring, bool owners) {
  const RingDescription& description = ring.description();
  RingInfo info;
  info.epoch = description.epoch;
  info.lineage = description.lineage;
  info.digest = ring.digest();
  info.replicas = description.replicas;
  info.partitions = description.partitions();
  info.placer = description.placer == PlacerKind::kHashed ? "hashed" : "balanced";
  for (size_t position = 0; position < description.members.size(); ++position) {
    info.members.push_back(member_info(ring, static_cast<uint16_t>(position)));
  }
  info.stage = plan_stage(description);
  info.steps = plan_steps(description);
  for (const Member& one : description.waiting) info.waiting.push_back(one.name);
  if (!owners) return info;
  for (const uint16_t owner : description.owners) info.owners.push_back(description.members[owner].name);
  return info;
}

RoutingTable routing_table(const Ring& ring, const StateGossip& states) {
  RoutingTable table;
  table.description = ring.encoded();
  for (const Member& member : ring.description().members) {
    const PeerState* state = states.find(member.node);
    table.addresses.push_back({member.node, state == nullptr ? std::string() : state->client_address});
  }
  return table;
}

std::vector<PartitionSize> partition_sizes(const LeafTable& leaves) {
  std::vector<PartitionSize> sizes;
  for (Partition partition = 0; partition < leaves.partitions(); ++partition) {
    if (leaves.page(partition) == nullptr) continue;
    const Leaf total = leaves.partition_total(partition);
    if (total.keys > 0) sizes.push_back({partition, total.keys, total.bytes});
  }
  return sizes;
}

std::vector<BucketInfo> bucket_infos(const RingDescription& ring) {
  std::vector<BucketInfo> infos;
  for (const BucketDescription& bucket : ring.buckets) {
    infos.push_back({.name = bucket.name,
                     .conflict = bucket.conflict == BucketConflict::kLastWriterWins ? "lww" : "siblings",
                     .r = bucket.read_quorum,
                     .w = bucket.write_quorum,
                     .ttl_ms = bucket.ttl_ms});
  }
  return infos;
}

}  // namespace ringkv
