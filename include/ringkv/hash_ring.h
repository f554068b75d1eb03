// Consistent hashing with virtual nodes and racks, usable without a cluster (Dynamo paper, section 4.2;
// Karger et al., 1997): the continuous ring. The nodes of a ringkv cluster place by partition tables, which
// this ring's points decide when the cluster was founded with the `hashed` placer.
//
//   HashRing ring;
//   ring.add_node("n1", 1, "rack-a");
//   ring.add_node("n2", 2, "rack-b");
//   std::string owner = *ring.node_for("user:17");
//
// Not thread-safe for writers; any number of readers.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ringkv/status.h"

namespace ringkv {

class HashRing {
 public:
  using TokenOf = std::function<uint64_t(std::string_view bytes)>;

  struct Node {
    std::string id;
    double weight = 1;
    std::string rack;

    friend bool operator==(const Node&, const Node&) = default;
  };

  struct Snapshot {
    uint64_t version = 0;
    std::vector<Node> members;  // in order of id
  };

  // `virtual_nodes` points for a node of weight 1. Without `token`: the first 8 bytes, big-endian, of SHA-1.
  explicit HashRing(uint32_t virtual_nodes = 150, TokenOf token = {});
  ~HashRing();
  HashRing(HashRing&&) noexcept;
  HashRing& operator=(HashRing&&) noexcept;

  // INVALID_ARGUMENT: the id is empty or there already, or the weight isn't in (0, 100].
  Status add_node(std::string id, double weight = 1, std::string rack = "");

  // NOT_FOUND when there is no such node. Leaves exactly the ring of the survivors, whatever points collided.
  Status remove_node(std::string_view id);

  // The node at or after the key's token. UNAVAILABLE "no nodes" on an empty ring.
  Result<std::string> node_for(std::string_view key) const;

  // The next n distinct nodes clockwise, racks in rounds: no rack twice before every rack was taken once.
  // Fewer when there are fewer nodes.
  Result<std::vector<std::string>> nodes_for(std::string_view key, size_t n) const;

  // The version rises with each change.
  Snapshot snapshot() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringkv
