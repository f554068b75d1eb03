#include "node/lives_met.h"

#include <algorithm>
#include <string>

#include "base/bytes.h"
#include "base/token.h"

namespace ringkv {
namespace {

std::vector<NodeId> members_of(const RingDescription& ring) {
  std::vector<NodeId> members;
  for (const Member& member : ring.members) members.push_back(member.node);
  std::sort(members.begin(), members.end());
  return members;
}

}  // namespace

Boot LivesMet::latest_of(NodeId node) const {
  const auto found = latest_.find(node);
  return found == latest_.end() ? Boot() : found->second;
}

uint64_t LivesMet::digest(const RingDescription& ring) const {
  std::string bytes;
  ByteWriter writer(bytes);
  writer.u64(ring.lineage);
  writer.u64(ring.epoch);
  for (const NodeId node : members_of(ring)) {
    const Boot boot = latest_of(node);
    if (!boot) return 0;
    writer.u64(node.value);
    writer.u64(boot.value);
  }
  return token_of(sha1_of(bytes));
}

BootClosing::Boots LivesMet::agreed(const RingDescription& ring, const StateGossip& states,
                                    const PeerState& own) const {
  BootClosing::Boots boots;
  boots.digest = digest(ring);
  boots.all_met = boots.all_without_hints = boots.digest != 0;
  for (const NodeId node : members_of(ring)) {
    const Boot boot = latest_of(node);
    if (boot) boots.latest.push_back({node, boot});
    const PeerState* state = node == own.node ? &own : states.find(node);
    const bool speaks = state != nullptr && state->boot == boot;
    // What lies at a former owner may have to come here yet.
    const bool met = speaks && state->boots_met == boots.digest && state->former_partitions == 0;
    const bool without_hints = met && state->boots_without_hints == boots.digest;
    boots.all_met = boots.all_met && met;
    boots.all_without_hints = boots.all_without_hints && without_hints;
    if (!without_hints) boots.missing.push_back(node);
  }
  return boots;
}

}  // namespace ringkv
