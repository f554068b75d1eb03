// Several sessions of one client over one transport: requests go round robin, each connection's events to its
// session. One loop thread.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "node/client_session.h"

namespace ringkv {

class ClientPool final : public TransportHandler {
 public:
  ClientPool(const ClientOptions& options, Transport& transport, Clock& clock, Random& random);

  // Once: OK when every session is served, or the first that isn't says why.
  void connect(std::function<void(const Status&)> done);

  void submit(ClientRequest request, ClientSession::Done done);
  void shut_down();
  void on_tick(Time now);

  const std::string& node() const { return sessions_.front()->node(); }

  void on_accepted(ConnectionId, Door, const Address&) override {}
  void on_connected(ConnectionId connection) override;
  size_t on_bytes(ConnectionId connection, std::string_view available) override;
  void on_closed(ConnectionId connection, const Status& why) override;

 private:
  ClientSession* owner_of(ConnectionId connection);

  std::vector<std::unique_ptr<ClientSession>> sessions_;
  size_t next_ = 0;
};

}  // namespace ringkv
