// The nodes' own placement: the circle in 2^k equal partitions and a table of their owners, made by either
// placer (replication/placer.h). Measured here is where a key's first copy goes, so the table is made for one
// copy.
#pragma once

#include "base/ring_description.h"
#include "tools/ringlab/scheme.h"

namespace ringkv::ringlab {

class PartitionTable : public Scheme {
 public:
  struct Shape {
    PlacerKind placer = PlacerKind::kBalanced;
    uint32_t partitions = kPartitionsDefault;
    uint32_t virtual_nodes = kVirtualNodesDefault;  // of the hashed placer
  };

  explicit PartitionTable(const Shape& shape) : shape_(shape) {}

  Status become(const std::vector<LabNode>& nodes) override;
  std::vector<uint32_t> owners(const KeySet& keys) const override;
  size_t state_bytes() const override { return table_.size() * sizeof(uint16_t); }

 private:
  Shape shape_;
  std::vector<Member> members_;      // in order of name, as the placers want them
  std::vector<uint32_t> number_of_;  // by position in members_
  OwnerTable table_;
};

}  // namespace ringkv::ringlab
