// Who owns which partition. Two placers, both pure; members are always taken in order of name, never of
// arrival. `members` must be in that order. Members that are leaving stay in `members` but get no partition;
// without any other member the table is empty.
#pragma once

#include "base/ring_description.h"

namespace ringkv {

// `hashed`: a function of names, weights and the number of partitions alone. Virtual node i of node X sits at
// SHA-1("X#i"); a partition belongs to the first virtual node at or after its first token, wrapping.
OwnerTable place_hashed(const std::vector<Member>& members, uint32_t partitions,
                        uint32_t virtual_nodes = kVirtualNodesDefault);

// `balanced`: a function of the previous table and the change. Replica load (copies held, by weight) as even
// as the rack rule allows, and only the ideal share moves. `previous_members` and `previous` may be empty:
// founding. `members` is what they should be afterwards; members are matched by name.
OwnerTable place_balanced(const std::vector<Member>& previous_members, const OwnerTable& previous,
                          const std::vector<Member>& members, uint32_t partitions, uint32_t replicas);

}  // namespace ringkv
