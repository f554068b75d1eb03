// The owner table of a cluster that is founded: racks take turns, and within a rack its nodes do, as often as
// their target loads ask for.
#pragma once

#include <cstdint>
#include <vector>

#include "replication/target_loads.h"

namespace ringkv {

// The owner of each partition, as a node's number. A node may end up without a partition where its share is
// less than one.
std::vector<uint32_t> founding_table(const std::vector<uint32_t>& rack_of, const TargetLoads& targets,
                                     uint32_t partitions);

}  // namespace ringkv
