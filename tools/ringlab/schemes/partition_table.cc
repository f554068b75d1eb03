#include "tools/ringlab/schemes/partition_table.h"

#include <algorithm>

#include "replication/placer.h"

namespace ringkv::ringlab {

Status PartitionTable::become(const std::vector<LabNode>& nodes) {
  std::vector<LabNode> by_name = nodes;
  std::sort(by_name.begin(), by_name.end(),
            [](const LabNode& a, const LabNode& b) { return a.name < b.name; });
  std::vector<Member> members;
  number_of_.clear();
  for (const LabNode& node : by_name) {
    members.push_back(
        {.node = {node.number + 1}, .disk = {}, .name = node.name, .rack = "", .weight = node.weight});
    number_of_.push_back(node.number);
  }
  table_ = shape_.placer == PlacerKind::kHashed
               ? place_hashed(members, shape_.partitions, shape_.virtual_nodes)
               : place_balanced(members_, table_, members, shape_.partitions, 1);
  members_ = std::move(members);
  return {};
}

std::vector<uint32_t> PartitionTable::owners(const KeySet& keys) const {
  return owners_by_hash(keys, [&](uint64_t hash) {
    return number_of_[table_[partition_of(keys.hash.stretched(hash), shape_.partitions)]];
  });
}

}  // namespace ringkv::ringlab
