// What operators and clients see of a node: pure views of its ring, its life and what it knows of others.
#pragma once

#include "base/client_message.h"
#include "base/peer_state.h"
#include "base/ring_description.h"
#include "node/cluster_member.h"
#include "node/life.h"
#include "ringkv/admin.h"

namespace ringkv {

// What a member says of itself.
void add_state(MemberInfo& info, const PeerState& state);
// What it keeps for others and how far it is behind nobody knows then.
void show_down(MemberInfo& info);
ClusterStatus cluster_status(const Life& life, const ClusterMember& member, NodeId self);
RingInfo ring_info(const Ring& ring, bool owners);
RoutingTable routing_table(const Ring& ring, const StateGossip& states);
std::vector<BucketInfo> bucket_infos(const RingDescription& ring);
std::vector<PartitionSize> partition_sizes(const LeafTable& leaves);

}  // namespace ringkv
