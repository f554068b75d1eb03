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

// The owners that a put must reach W of: those of the present table and, while the ring changes, W of those
// of the next one too. A node may be on both lists.
struct WriteLists {
  std::vector<NodeId> present;
  std::vector<NodeId> next;  // empty: the partition doesn't move

  std::vector<NodeId> all() const;  // each once
};

class RingView {
 public:
  RingView(NodeId self, const Ring& ring, TokenFunction token);

  void set_ring(const Ring& ring);
  void set_view(ClusterView view) { view_ = std::move(view); }

  const Ring& ring() const { return *ring_; }
  NodeId self() const { return self_; }
  const RecordHasher& hasher() const { return hasher_; }

  Place place(std::string_view bucket, std::string_view key) const;
  // Whom gets ask, and who stamps puts; in preference order.
  std::vector<NodeId> owners_of(Partition partition) const;
  // Whom puts must reach.
  WriteLists write_lists(Partition partition) const;
  // All that hold copies: of both lists while the ring changes.
  std::vector<NodeId> holders_of(Partition partition) const;
  // Who stands in for owners: all nodes outside the lists, in the order in which a walk clockwise meets them.
  std::vector<NodeId> stand_ins(Partition partition) const;

  bool is_reachable(NodeId node) const { return node == self_ || view_.is_reachable(node); }
  std::string name_of(NodeId node) const;
  std::string names_of(std::span<const NodeId> nodes) const;  // "n1, n2 and n3"
  Status unreachable(NodeId node) const;

  // How many owners of a key must hold a record so that no later quorum read misses it: N - r + 1, where r is
  // the smallest default of any bucket.
  uint32_t holders_for_confirmation(uint32_t owners) const;
  // From how many whole owners one must have heard so as to have all that was acknowledged, and all that was
  // confirmed to a get: max(N - w + 1, r), with the smallest w and the largest r that any bucket has by
  // default.
  uint32_t holders_to_hear(uint32_t owners) const;
  // The same two of such a list, as far as it has owners that haven't been declared lost: the others will
  // never say anything.
  uint32_t holders_for_confirmation(const std::vector<NodeId>& owners) const;
  uint32_t holders_to_hear(const std::vector<NodeId>& owners) const;
  uint32_t surviving(const std::vector<NodeId>& owners) const;

 private:
  std::vector<NodeId> nodes_of(std::span<const uint16_t> list) const;

  const NodeId self_;
  const TokenFunction token_;
  const Ring* ring_;
  size_t nodes_on_ring_ = 0;  // members with partitions in the present table
  bool has_lost_members_ = false;
  RecordHasher hasher_;
  ClusterView view_;
};

}  // namespace ringkv
