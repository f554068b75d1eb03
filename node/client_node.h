// A node that a client knows by its address: its connections, and whether it makes sense to try it now.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "base/random.h"
#include "base/time.h"
#include "base/transport.h"
#include "node/client_link.h"
#include "ringkv/client.h"

namespace ringkv {

// What all nodes of one client share.
struct ClientGround {
  const ClientOptions options;
  Transport& transport;
  Random& random;
  ClientLink::Table links = {};
  ClusterId cluster = {};  // of the first node that served: what one cluster acknowledged isn't in another
};

class ClientNode {
 public:
  // `given`: in the options; never forgotten.
  ClientNode(ClientGround& ground, Address address, bool given);

  const Address& address() const { return address_; }
  bool given() const { return given_; }
  NodeId id() const { return id_; }  // of who served here last; zero: nobody yet
  std::deque<ClientLink>& links() { return links_; }

  // Connects all that isn't; `want` only when it has rested since it failed last.
  void dial(Time now);
  void want(Time now);
  void hang_up();

  // The connections in turn; nullptr: none is usable now.
  ClientLink* usable();
  bool serving() const;
  bool trying() const;  // dialed, and yet to serve
  bool unused() const;  // nothing waits for it

  Status welcome(ClientLink& link, const Welcome& welcome);  // not OK: it must not serve
  void on_failed(Time now);                                  // a connection that wasn't serving yet
  void on_lost(Time now);                                    // one that was

 private:
  ClientGround& ground_;
  const Address address_;
  const bool given_;
  std::deque<ClientLink> links_;

  NodeId id_;
  size_t next_ = 0;
  Time rests_until_{};
  Duration rest_;  // after the next failure
};

}  // namespace ringkv
