// To which node a client's request goes. Puts and gets go to the first owner of their key, in preference
// order, that can be reached; a node that isn't connected, that failed a moment ago or is silent is passed
// over and tried beside. Everything else, and all while no routes are known or no owner is reachable, goes to
// the given node that serves, or to any: a node takes any request.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/client_message.h"
#include "base/time.h"
#include "base/token.h"
#include "node/client_home.h"
#include "node/client_node.h"
#include "node/client_routes.h"

namespace ringkv {

class ClientRouter {
 public:
  struct Wanted {
    const KeyDigest* key = nullptr;  // of a put or a get
    Boot first_tried;                // of a repeated put: whoever is this boot, if that is known
    uint32_t passed_over = 0;        // so many owners have refused it already
  };
  struct Choice {
    ClientLink* link = nullptr;  // nullptr: nobody serves now
    uint64_t epoch = 0;          // of the routes by which it was chosen; zero: by none
  };

  explicit ClientRouter(ClientGround& ground);

  Choice choose(const Wanted& wanted, Time now);

  // Ignored when older than what is known.
  void adopt(std::shared_ptr<const ClientRoutes> routes);
  const std::shared_ptr<const ClientRoutes>& routes() const { return routes_; }

  ClientHome& home() { return home_; }
  const ClientHome& home() const { return home_; }
  bool any_serving() const;
  std::vector<ClientLink*> links();

  void on_served(ClientLink& link);
  void on_failed(ClientLink& link, const std::string& why, Time now);  // one that wasn't serving yet
  void on_lost(ClientLink& link, bool silent, Time now);               // one that was

  // Connects again what is in use, and forgets nodes that the ring has no longer, once nothing waits for
  // them.
  void on_tick(Time now);

 private:
  using Nodes = std::map<Address, std::unique_ptr<ClientNode>>;

  static Nodes given_nodes(ClientGround& ground);
  std::vector<ClientNode*> given_in_order() const;
  ClientNode* node_at(const Address& address);
  ClientLink* link_of(Boot boot);
  ClientLink* owner_for(const Wanted& wanted, Time now);
  ClientLink* any_usable();
  void resolve();

  ClientGround& ground_;
  Nodes nodes_;
  ClientHome home_;
  std::shared_ptr<const ClientRoutes> routes_;
  std::vector<ClientNode*> members_;  // by position in the ring; nullptr: no address is known
  std::set<const ClientNode*> routed_to_;
};

}  // namespace ringkv
