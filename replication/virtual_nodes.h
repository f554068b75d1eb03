// Virtual nodes: virtual node i of node X sits at the token of the bytes "X#i". The continuous ring is these
// points; the `hashed` placer reads its partition table off them.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/token.h"

namespace ringkv {

// Equal tokens are ordered by node, then number; nodes are numbered in order of name. So the ring is the same
// whatever the order of joins, and a point that collides with another is kept, not overwritten.
struct VirtualNode {
  Token token = 0;
  uint32_t node = 0;
  uint32_t number = 0;

  friend auto operator<=>(const VirtualNode&, const VirtualNode&) = default;
};

// max(1, per_unit_of_weight x weight, rounded half up).
uint32_t virtual_node_count(uint32_t per_unit_of_weight, double weight);

// Appends the points of one node, unsorted. `token_of_bytes` maps bytes to their token.
template <class TokenOfBytes>
void add_virtual_nodes(std::vector<VirtualNode>& points, std::string_view name, uint32_t node, uint32_t count,
                       TokenOfBytes token_of_bytes);

// The points in order, tokens apart from nodes: a search touches the tokens only.
class VirtualNodeRing {
 public:
  VirtualNodeRing() = default;
  explicit VirtualNodeRing(std::vector<VirtualNode> points);

  size_t size() const { return tokens_.size(); }
  Token token_at(size_t place) const { return tokens_[place]; }
  uint32_t node_at(size_t place) const { return nodes_[place]; }

  // The place of the first point at or after `token`, wrapping. The ring must not be empty.
  size_t first_at_or_after(Token token) const;

  // Adds a node and its points; nodes numbered `node` or higher before are one higher now.
  void insert(uint32_t node, std::vector<VirtualNode> points);

  // Takes a node's points away; nodes numbered higher are one lower now.
  void erase(uint32_t node);

 private:
  std::vector<Token> tokens_;
  std::vector<uint32_t> nodes_;
};

template <class TokenOfBytes>
void add_virtual_nodes(std::vector<VirtualNode>& points, std::string_view name, uint32_t node, uint32_t count,
                       TokenOfBytes token_of_bytes) {
  const std::string prefix = std::string(name) + "#";
  for (uint32_t number = 0; number < count; ++number)
    points.push_back({token_of_bytes(prefix + std::to_string(number)), node, number});
}

}  // namespace ringkv
