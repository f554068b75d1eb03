// The ring, and who of its members can be reached now: what every request asks before it goes anywhere.
// The ring says who owns what; reachability only routes.
//
// Loop thread. The ring is borrowed and must outlive its use: until the next set_ring.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/cluster_view.h"
#include "replication/ring.h"
#include "ringkv/status.h"
#include "storage/place.h"
#include "storage/record_hash.h"

namespace ringkv {

class RingView {
 public:
  RingView(NodeId self, const Ring& ring, TokenFunction token);

  void set_ring(const Ring& ring);
  void set_view(ClusterView view) { view_ = std::move(view); }

  const Ring& ring() const { return *ring_; }
  NodeId self() const { return self_; }
  const RecordHasher& hasher() const { return hasher_; }

  Place place(std::string_view bucket, std::string_view key) const;
  std::vector<NodeId> owners_of(Partition partition) const;  // in preference order
  // Who stands in for owners: all nodes outside the list, in the order in which a walk clockwise meets them.
  std::vector<NodeId> stand_ins(Partition partition) const;

  bool is_reachable(NodeId node) const { return node == self_ || view_.is_reachable(node); }
  std::string name_of(NodeId node) const;
  std::string names_of(std::span<const NodeId> nodes) const;  // "n1, n2 and n3"
  Status unreachable(NodeId node) const;

  // How many owners of a key must hold a record so that no later quorum read misses it: N - r + 1, where r is
  // the smallest default of any bucket.
  uint32_t holders_for_confirmation(uint32_t owners) const;

 private:
  const NodeId self_;
  const TokenFunction token_;
  const Ring* ring_;
  size_t nodes_on_ring_ = 0;  // members with partitions
  RecordHasher hasher_;
  ClusterView view_;
};

}  // namespace ringkv
