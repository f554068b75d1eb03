#include "node/client_door.h"

#include <utility>
#include <vector>

#include "base/text.h"

namespace ringkv {
namespace {

constexpr ConnectionId kThisProcess = 0;
constexpr Duration kGreetWithin = std::chrono::seconds(10);

// A client whose answers pile up past this doesn't read; it is ended, so that memory stays bounded. Room for
// the largest answer, and for those to requests that were taken before.
constexpr size_t kUnreadBytesMax = size_t{128} << 20;
// Of all clients together.
constexpr size_t kAllUnreadBytesMax = size_t{256} << 20;

}  // namespace

ClientDoor::ClientDoor(Transport& transport, const Clock& clock, Log& log, WelcomeOf welcome,
                       OnRequest on_request)
    : transport_(transport),
      clock_(clock),
      log_(log),
      welcome_(std::move(welcome)),
      on_request_(std::move(on_request)) {}

void ClientDoor::call(ClientRequest request, std::function<void(ClientReply)> done) {
  calls_.emplace(++last_call_, std::move(done));
  on_request_({kThisProcess, last_call_}, std::move(request));
}

void ClientDoor::answer(const Requester& requester, const ClientReply& reply) {
  if (requester.connection == kThisProcess) {
    const auto call = calls_.find(requester.request);
    if (call == calls_.end()) return;
    const auto done = std::move(call->second);
    calls_.erase(call);
    done(reply);
    return;
  }
  const auto connection = connections_.find(requester.connection);
  if (connection == connections_.end()) return;  // hung up meanwhile
  codec_.encode(reply, requester.request, transport_.output(requester.connection));
  if (!reads_too_slowly(requester.connection, connection->second)) return;
  ++statistics_.dropped_slow_readers;
  log_.warning("node", cat("client ", connection->second.from, " doesn't read its answers: ended with ",
                           human_bytes(transport_.unsent_bytes(requester.connection)), " unsent"));
  end(requester.connection);
}

// Memory for answers is bounded for each client and for all together; who is ended is who holds much of it.
bool ClientDoor::reads_too_slowly(ConnectionId id, Connection& connection) {
  const size_t unsent = transport_.unsent_bytes(id);
  unsent_bytes_ += unsent - std::exchange(connection.unsent_bytes, unsent);
  if (unsent > kUnreadBytesMax) return true;
  if (unsent <= kUnsentBytesMax || unsent_bytes_ <= kAllUnreadBytesMax) return false;
  count_unsent();
  return unsent_bytes_ > kAllUnreadBytesMax;
}

void ClientDoor::count_unsent() {
  unsent_bytes_ = 0;
  for (auto& [id, connection] : connections_) {
    connection.unsent_bytes = transport_.unsent_bytes(id);
    unsent_bytes_ += connection.unsent_bytes;
  }
}

void ClientDoor::close_all() {
  for (const auto& [id, connection] : connections_) transport_.close(id);
  connections_.clear();
  by_client_.clear();
  unsent_bytes_ = 0;
  statistics_.connections_now = 0;
}

void ClientDoor::on_accepted(ConnectionId connection, Door, const Address& from) {
  connections_.emplace(connection, Connection{.from = from, .greet_by = clock_.now() + kGreetWithin});
  ++statistics_.connections_now;
  ++statistics_.connections_total;
}

size_t ClientDoor::on_bytes(ConnectionId id, std::string_view available) {
  size_t used = 0;
  while (true) {
    const auto at = connections_.find(id);  // anew each time: an answer may have ended it
    if (at == connections_.end()) return available.size();
    if (transport_.unsent_bytes(id) > kUnsentBytesMax) return used;
    Connection& connection = at->second;
    const size_t frame_bytes_max = connection.welcomed ? kFrameBytesMax : kUnauthenticatedFrameBytesMax;
    const Result<std::optional<Frame>> frame = read_frame(available.substr(used), frame_bytes_max);
    if (!frame.ok()) {
      refuse(id, connection, frame.status());
      return available.size();
    }
    if (!frame->has_value()) return used;
    if (!on_frame(id, connection, **frame)) return available.size();
    used += (*frame)->bytes;
  }
}

bool ClientDoor::on_hello(ConnectionId id, Connection& connection, const Frame& frame) {
  const Result<Hello> hello = codec_.decode_hello(frame);
  Status refused = hello.status();
  if (hello.ok() && hello->protocol != kProtocolVersion) {
    refused = invalid_argument(cat("protocol ", hello->protocol, " is not spoken here, only ",
                                   kProtocolVersion, ": use a client of the same release"));
  }
  const Result<Welcome> welcome = refused.ok() ? welcome_() : Result<Welcome>(refused);
  if (!welcome.ok()) return refuse(id, connection, welcome.status()), false;

  // What a client sent on a connection that it has given up must not come behind what it repeats on this one.
  if (hello->client != 0) {
    const auto older = by_client_.find(hello->client);
    if (older != by_client_.end()) {
      log_.info("node", cat("a client greets again from ", connection.from, ": its older connection ends"));
      end(older->second);
    }
    by_client_[hello->client] = id;
    connection.client = hello->client;
  }
  connection.welcomed = true;
  codec_.encode(*welcome, 0, transport_.output(id));
  return true;
}

void ClientDoor::end(ConnectionId id) {
  transport_.close(id);
  on_closed(id, {});
}

bool ClientDoor::on_frame(ConnectionId id, Connection& connection, const Frame& frame) {
  if (!connection.welcomed) return on_hello(id, connection, frame);
  Result<ClientRequest> request = codec_.decode_client_request(frame);
  if (!request.ok()) return refuse(id, connection, request.status()), false;
  on_request_({id, frame.request}, std::move(*request));
  return true;
}

void ClientDoor::refuse(ConnectionId id, const Connection& connection, const Status& why) {
  ++statistics_.refused_frames;
  // That this node doesn't serve now is known, and every client that tries hears it.
  const bool is_known = why.code() == StatusCode::kUnavailable;
  const std::string said = cat("client ", connection.from, " ended: ", why.message());
  if (is_known) {
    log_.debug("node", said);
  } else {
    log_.warning("node", said);
  }
  codec_.encode_refusal(why, transport_.output(id));
  end(id);
}

void ClientDoor::on_closed(ConnectionId id, const Status&) {
  const auto connection = connections_.find(id);
  if (connection == connections_.end()) return;
  const auto known = by_client_.find(connection->second.client);
  if (known != by_client_.end() && known->second == id) by_client_.erase(known);
  unsent_bytes_ -= connection->second.unsent_bytes;
  connections_.erase(connection);
  --statistics_.connections_now;
}

void ClientDoor::on_tick(Time now) {
  std::vector<ConnectionId> silent;
  for (const auto& [id, connection] : connections_) {
    if (!connection.welcomed && now >= connection.greet_by) silent.push_back(id);
  }
  for (const ConnectionId id : silent) end(id);
}

}  // namespace ringkv
