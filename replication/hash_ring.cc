#include "ringkv/hash_ring.h"

#include <algorithm>

#include "base/text.h"
#include "base/token.h"
#include "replication/rack_rounds.h"
#include "replication/virtual_nodes.h"

namespace ringkv {

struct HashRing::Impl {
  uint32_t virtual_nodes;
  TokenOf token;
  uint64_t version = 0;
  std::vector<Node> nodes;  // in order of id; the ring's numbers are positions here
  VirtualNodeRing ring;
  std::vector<uint32_t> rack_of;  // by node

  std::vector<Node>::iterator position_of(std::string_view id) {
    return std::lower_bound(nodes.begin(), nodes.end(), id,
                            [](const Node& node, std::string_view wanted) { return node.id < wanted; });
  }

  Status no_nodes() const { return unavailable("no nodes: add_node first"); }

  void changed() {
    std::vector<std::string_view> racks;
    for (const Node& node : nodes) racks.push_back(node.rack);
    rack_of = number_racks(racks);
    ++version;
  }
};

HashRing::HashRing(uint32_t virtual_nodes, TokenOf token)
    : impl_(new Impl{.virtual_nodes = virtual_nodes,
                     .token = std::move(token),
                     .nodes = {},
                     .ring = {},
                     .rack_of = {}}) {
  if (!impl_->token) impl_->token = [](std::string_view bytes) { return token_of(sha1_of(bytes)); };
}

HashRing::~HashRing() = default;
HashRing::HashRing(HashRing&&) noexcept = default;
HashRing& HashRing::operator=(HashRing&&) noexcept = default;

Status HashRing::add_node(std::string id, double weight, std::string rack) {
  if (id.empty()) return invalid_argument("a node's id must not be empty");
  if (!(weight > 0 && weight <= 100))
    return invalid_argument(cat("node ", display_key(id), ": weight ", weight, " isn't in (0, 100]"));
  const auto at = impl_->position_of(id);
  if (at != impl_->nodes.end() && at->id == id)
    return invalid_argument(cat("node ", display_key(id), " is on the ring already"));

  const auto node = static_cast<uint32_t>(at - impl_->nodes.begin());
  std::vector<VirtualNode> points;
  add_virtual_nodes(points, id, node, virtual_node_count(impl_->virtual_nodes, weight), impl_->token);
  impl_->ring.insert(node, std::move(points));
  impl_->nodes.insert(at, {.id = std::move(id), .weight = weight, .rack = std::move(rack)});
  impl_->changed();
  return {};
}

Status HashRing::remove_node(std::string_view id) {
  const auto at = impl_->position_of(id);
  if (at == impl_->nodes.end() || at->id != id)
    return not_found(cat("node ", display_key(id), " is not on the ring"));
  impl_->ring.erase(static_cast<uint32_t>(at - impl_->nodes.begin()));
  impl_->nodes.erase(at);
  impl_->changed();
  return {};
}

Result<std::string> HashRing::node_for(std::string_view key) const {
  const VirtualNodeRing& ring = impl_->ring;
  if (ring.size() == 0) return impl_->no_nodes();
  return impl_->nodes[ring.node_at(ring.first_at_or_after(impl_->token(key)))].id;
}

Result<std::vector<std::string>> HashRing::nodes_for(std::string_view key, size_t n) const {
  const VirtualNodeRing& ring = impl_->ring;
  if (ring.size() == 0) return impl_->no_nodes();
  RackRounds rounds({.rack_of = impl_->rack_of, .on_ring = std::vector<bool>(impl_->nodes.size(), true)}, n);
  rounds.walk(ring.first_at_or_after(impl_->token(key)), ring.size(),
              [&](size_t place) { return ring.node_at(place); });
  std::vector<std::string> ids;
  for (const uint32_t node : rounds.list()) ids.push_back(impl_->nodes[node].id);
  return ids;
}

HashRing::Snapshot HashRing::snapshot() const { return {impl_->version, impl_->nodes}; }

}  // namespace ringkv
