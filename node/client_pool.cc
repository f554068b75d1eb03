#include "node/client_pool.h"

#include <algorithm>
#include <utility>

namespace ringkv {

ClientPool::ClientPool(const ClientOptions& options, Transport& transport, Clock& clock, Random& random) {
  ClientOptions each = options;
  const uint32_t connections = std::max<uint32_t>(1, options.connections);
  each.requests_max = (options.requests_max + connections - 1) / connections;
  for (uint32_t i = 0; i < connections; ++i) {
    sessions_.push_back(std::make_unique<ClientSession>(each, transport, clock, random));
  }
}

void ClientPool::connect(std::function<void(const Status&)> done) {
  struct Waiting {
    size_t left;
    std::function<void(const Status&)> done;
  };
  auto waiting = std::make_shared<Waiting>(Waiting{sessions_.size(), std::move(done)});
  for (const auto& session : sessions_) {
    session->connect([waiting](const Status& status) {
      if (!waiting->done || (--waiting->left > 0 && status.ok())) return;
      std::exchange(waiting->done, nullptr)(status);
    });
  }
}

void ClientPool::submit(ClientRequest request, ClientSession::Done done) {
  next_ = (next_ + 1) % sessions_.size();
  sessions_[next_]->submit(std::move(request), std::move(done));
}

void ClientPool::shut_down() {
  for (const auto& session : sessions_) session->shut_down();
}

void ClientPool::on_tick(Time now) {
  for (const auto& session : sessions_) session->on_tick(now);
}

ClientSession* ClientPool::owner_of(ConnectionId connection) {
  const auto owner = std::find_if(sessions_.begin(), sessions_.end(),
                                  [connection](const auto& session) { return session->owns(connection); });
  return owner == sessions_.end() ? nullptr : owner->get();
}

void ClientPool::on_connected(ConnectionId connection) {
  if (ClientSession* owner = owner_of(connection)) owner->on_connected(connection);
}

size_t ClientPool::on_bytes(ConnectionId connection, std::string_view available) {
  ClientSession* owner = owner_of(connection);
  return owner == nullptr ? available.size() : owner->on_bytes(connection, available);
}

void ClientPool::on_closed(ConnectionId connection, const Status& why) {
  if (ClientSession* owner = owner_of(connection)) owner->on_closed(connection, why);
}

}  // namespace ringkv
