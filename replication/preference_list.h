// Walks clockwise from a partition and collects distinct nodes, racks in rounds: in each round every rack may
// be taken once; a node whose rack is already taken in this round is passed over and considered again in the
// next. So N copies sit on min(N, racks) racks, spread as evenly as racks allow (Dynamo paper, section 4.3,
// with racks).
#pragma once

#include <cstdint>
#include <vector>

#include "base/ring_description.h"

namespace ringkv {

// For each partition its list of min(copies, owners) members, in order of acceptance, one list after another.
// `members[i].rack` names the rack of owner i; a member that owns no partition (a leaver, a joiner before its
// change) is met by no walk and is in no list.
std::vector<uint16_t> preference_lists(const OwnerTable& owners, const std::vector<Member>& members,
                                       uint32_t copies);

}  // namespace ringkv
