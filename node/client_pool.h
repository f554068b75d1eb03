// The client's half of the protocol, without I/O: its nodes, its routes and its requests over one transport.
// Once a node serves it is asked for the ring, and again whenever an answer carries a newer epoch or refuses
// an older one; one such question at a time, and requests go on by what is known.
//
// Everything is called on one thread; `transport`'s handler is this.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/client_message.h"
#include "base/random.h"
#include "base/time.h"
#include "base/transport.h"
#include "node/client_requests.h"
#include "node/client_router.h"
#include "node/client_routes.h"
#include "node/wire_codec.h"
#include "ringkv/client.h"

namespace ringkv {

class ClientPool final : public TransportHandler {
 public:
  using Done = ClientRequests::Done;

  // `options.nodes` isn't empty.
  ClientPool(const ClientOptions& options, Transport& transport, Clock& clock, Random& random);

  // Once: OK when a node serves and has told the ring or failed to; UNAVAILABLE when a round of all given
  // nodes found none, naming each with its reason.
  void connect(std::function<void(const Status&)> done);

  // See ClientRequests.
  void submit(ClientRequest request, Done done) { requests_.submit(std::move(request), std::move(done)); }
  void shut_down() { requests_.shut_down(); }

  void on_tick(Time now);

  // The given node that serves what isn't routed, or is tried.
  const std::string& node() const { return router_.home().node().address(); }
  // nullptr: none are known.
  const std::shared_ptr<const ClientRoutes>& routes() const { return router_.routes(); }

  void on_accepted(ConnectionId, Door, const Address&) override {}
  void on_connected(ConnectionId connection) override;
  size_t on_bytes(ConnectionId connection, std::string_view available) override;
  void on_closed(ConnectionId connection, const Status& why) override;

 private:
  ClientLink* link_of(ConnectionId connection) const;
  Status take_frame(ClientLink& link, const Frame& frame);
  void on_served(ClientLink& link);
  void on_failed(ClientLink& link, const std::string& why);
  void on_lost(ClientLink& link, bool silent, const std::string& why);
  void watch(Time now);
  void tell_connected();

  void want_routes(ClientLink& link);
  void fetch_routes(ClientLink* link);
  void on_routes(const ClientReply& reply);
  void fetch_later(Duration pause);

  ClientGround ground_;
  Clock& clock_;
  WireCodec codec_;
  ClientRouter router_;
  ClientRequests requests_;

  std::function<void(const Status&)> on_connected_;
  bool fetching_ = false;
  bool fetched_ = false;  // once, or tried
  Time fetch_not_before_{};
  Time fetch_at_ = Time::max();
  Duration refresh_pause_;
  Time last_tick_;
};

}  // namespace ringkv
