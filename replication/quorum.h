// Have enough answered? Counts distinct nodes, never answers: a node that answers twice is one node.
#pragma once

#include <cstdint>
#include <vector>

#include "base/ids.h"

namespace ringkv {

// Half of the list, rounded down, plus one.
constexpr uint32_t majority_of(uint32_t nodes) { return nodes / 2 + 1; }

class Quorum {
 public:
  Quorum(std::vector<NodeId> asked, uint32_t needed) : waiting_(std::move(asked)), needed_(needed) {}

  // A node that wasn't asked, or that has answered before, changes nothing.
  void on_success(NodeId node);
  void on_failure(NodeId node);

  bool reached() const { return succeeded_ >= needed_; }
  bool possible() const { return succeeded_ + waiting_.size() >= needed_; }
  uint32_t succeeded() const { return succeeded_; }
  uint32_t needed() const { return needed_; }

 private:
  bool forget(NodeId node);

  std::vector<NodeId> waiting_;
  uint32_t needed_;
  uint32_t succeeded_ = 0;
};

}  // namespace ringkv
