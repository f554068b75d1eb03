// Whom it makes sense to ask now: liveness as replication sees it. A local opinion that routes requests and
// decides nothing else; the ring says who owns what.
#pragma once

#include <algorithm>
#include <vector>

#include "base/ids.h"

namespace ringkv {

struct ClusterView {
  // Members that can't be asked: the failure detector calls them DOWN, no connection to them comes about, or
  // they answer others and not this node. In order.
  std::vector<NodeId> unreachable;

  bool is_reachable(NodeId node) const {
    return !std::binary_search(unreachable.begin(), unreachable.end(), node);
  }

  friend bool operator==(const ClusterView&, const ClusterView&) = default;
};

}  // namespace ringkv
