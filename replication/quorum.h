// Have enough answered? Counts distinct nodes, never answers: a node that answers twice is one node.
#pragma once

#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "base/ring_description.h"

namespace ringkv {

// Half of the list, rounded down, plus one.
constexpr uint32_t majority_of(uint32_t nodes) { return nodes / 2 + 1; }

// The smallest w that any bucket has by default, for a list of so many owners.
uint32_t smallest_write_quorum(const RingDescription& ring, uint32_t owners);

class Quorum {
 public:
  Quorum(const std::vector<NodeId>& asked, uint32_t needed);

  // A node that wasn't asked, or that has succeeded before, changes nothing. One that had been given up and
  // answers after all has succeeded.
  void on_success(NodeId node);
  void on_failure(NodeId node);

  bool reached() const { return succeeded_.size() >= needed_; }
  bool possible() const { return succeeded_.size() + waiting_.size() >= needed_; }
  // It was asked and has not succeeded.
  bool awaits(NodeId node) const;
  uint32_t needed() const { return needed_; }
  const std::vector<NodeId>& succeeded() const { return succeeded_; }  // in order of their answers
  const std::vector<NodeId>& waiting() const { return waiting_; }      // neither answered nor failed

 private:
  std::vector<NodeId> waiting_;
  std::vector<NodeId> failed_;
  std::vector<NodeId> succeeded_;
  uint32_t needed_;
};

}  // namespace ringkv
