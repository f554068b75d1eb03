#include "replication/placer.h"
#include "replication/virtual_nodes.h"

namespace ringkv {

OwnerTable place_hashed(const std::vector<Member>& members, uint32_t partitions, uint32_t virtual_nodes) {
  std::vector<VirtualNode> points;
  for (size_t i = 0; i < members.size(); ++i) {
    if (members[i].status == MemberStatus::kLeaving) continue;
    add_virtual_nodes(points, members[i].name, static_cast<uint32_t>(i),
                      virtual_node_count(virtual_nodes, members[i].weight),
                      [](std::string_view bytes) { return token_of(sha1_of(bytes)); });
  }
  if (points.empty()) return {};
  const VirtualNodeRing ring(std::move(points));
  OwnerTable owners(partitions);
  for (Partition p = 0; p < partitions; ++p)
    owners[p] = static_cast<uint16_t>(ring.node_at(ring.first_at_or_after(first_token_of(p, partitions))));
  return owners;
}

}  // namespace ringkv
