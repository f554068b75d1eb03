#include "node/client_router.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace ringkv {

ClientRouter::ClientRouter(ClientGround& ground)
    : ground_(ground), nodes_(given_nodes(ground)), home_(given_in_order(), ground.random) {}

ClientRouter::Nodes ClientRouter::given_nodes(ClientGround& ground) {
  Nodes nodes;
  for (const Address& address : ground.options.nodes) {
    if (!nodes.contains(address)) nodes.emplace(address, std::make_unique<ClientNode>(ground, address, true));
  }
  return nodes;
}

std::vector<ClientNode*> ClientRouter::given_in_order() const {
  std::vector<ClientNode*> given;
  for (const Address& address : ground_.options.nodes) given.push_back(nodes_.at(address).get());
  return given;
}

// ---- choosing

ClientRouter::Choice ClientRouter::choose(const Wanted& wanted, Time now) {
  if (wanted.first_tried) {
    if (ClientLink* first = link_of(wanted.first_tried)) return {first, 0};
  }
  if (wanted.key != nullptr && routes_) {
    if (ClientLink* owner = owner_for(wanted, now)) return {owner, routes_->epoch()};
  }
  if (ClientLink* link = home_.node().usable()) return {link, 0};
  home_.want(now);
  return {any_usable(), 0};
}

// Owners that aren't connected are dialed on the way, and nobody waits for them: another node is quicker than
// a connection to one that may be gone.
ClientLink* ClientRouter::owner_for(const Wanted& wanted, Time now) {
  const auto owners = routes_->owners(*wanted.key);
  for (size_t i = 0; i < owners.size(); ++i) {
    ClientNode* node = members_[owners[(i + wanted.passed_over) % owners.size()]];
    if (node == nullptr) continue;
    if (ClientLink* link = node->usable()) return link;
    node->want(now);
  }
  return nullptr;
}

ClientLink* ClientRouter::link_of(Boot boot) {
  for (const auto& [address, node] : nodes_) {
    for (ClientLink& link : node->links()) {
      if (link.usable() && link.boot() == boot) return &link;
    }
  }
  return nullptr;
}

ClientLink* ClientRouter::any_usable() {
  for (const auto& [address, node] : nodes_) {
    if (ClientLink* link = node->usable()) return link;
  }
  return nullptr;
}

bool ClientRouter::any_serving() const {
  return std::any_of(nodes_.begin(), nodes_.end(), [](const auto& item) { return item.second->serving(); });
}

std::vector<ClientLink*> ClientRouter::links() {
  std::vector<ClientLink*> links;
  for (const auto& [address, node] : nodes_) {
    for (ClientLink& link : node->links()) links.push_back(&link);
  }
  return links;
}

// ---- the members' nodes

void ClientRouter::adopt(std::shared_ptr<const ClientRoutes> routes) {
  if (routes_ && !routes->may_replace(*routes_)) return;
  routes_ = std::move(routes);
  resolve();
}

ClientNode* ClientRouter::node_at(const Address& address) {
  if (address.empty()) return nullptr;
  std::unique_ptr<ClientNode>& node = nodes_[address];
  if (!node) node = std::make_unique<ClientNode>(ground_, address, false);
  return node.get();
}

// A given node that serves is used under the address by which it was given, whatever it advertises: that one
// is known to work from here.
void ClientRouter::resolve() {
  if (!routes_) return;
  std::unordered_map<NodeId, ClientNode*> given;
  for (const auto& [address, node] : nodes_) {
    if (node->given() && node->serving()) given.emplace(node->id(), node.get());
  }
  const std::vector<Member>& members = routes_->ring().description().members;
  members_.assign(members.size(), nullptr);
  for (uint16_t position = 0; position < members.size(); ++position) {
    const auto found = given.find(members[position].node);
    members_[position] = found != given.end() ? found->second : node_at(routes_->address(position));
  }
  routed_to_ = {members_.begin(), members_.end()};
}

void ClientRouter::on_served(ClientLink& link) {
  home_.on_served(link.node());
  resolve();
}

void ClientRouter::on_failed(ClientLink& link, const std::string& why, Time now) {
  ClientNode& node = link.node();
  node.on_failed(now);
  if (!node.serving() && !node.trying()) home_.on_failed(node, why, now);
}

void ClientRouter::on_lost(ClientLink& link, bool silent, Time now) {
  ClientNode& node = link.node();
  node.on_lost(now);
  if (node.serving()) return;
  home_.on_lost(node, silent, now);
  resolve();
}

void ClientRouter::on_tick(Time now) {
  for (auto at = nodes_.begin(); at != nodes_.end();) {
    ClientNode& node = *at->second;
    if (!node.given() && node.unused() && !routed_to_.contains(&node)) {
      node.hang_up();
      at = nodes_.erase(at);
      continue;
    }
    if (node.serving() || !node.unused()) node.want(now);
    ++at;
  }
}

}  // namespace ringkv
