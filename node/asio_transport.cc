#include "node/asio_transport.h"

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/address.h"
#include "base/check.h"
#include "base/text.h"
#include "node/asio_door.h"
#include "node/asio_socket.h"
#include "node/frame.h"

namespace ringkv {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

constexpr size_t kReadBytes = size_t{64} << 10;
constexpr size_t kInputBytesMax = kFrameBytesMax + kReadBytes;
constexpr size_t kSpareBufferBytesMax = size_t{256} << 10;
constexpr size_t kSpareBuffersMax = 32;
constexpr Duration kSendRestWithin = std::chrono::seconds(5);
constexpr Duration kLingerFor = std::chrono::milliseconds(900);

using Endpoints = std::vector<tcp::endpoint>;

Status closed_because(const error_code& error) {
  return unavailable(error == asio::error::eof ? "the other side closed the connection" : error.message());
}

bool is_retriable(const error_code& error) {
  return error == asio::error::would_block || error == asio::error::try_again ||
         error == asio::error::interrupted;
}

}  // namespace

// Callbacks of Asio carry the connection's number, never a pointer: the connection may be gone by then. A
// Connection dies only at the top of such a callback or of a tick, never while the handler runs for it.
struct AsioTransport::Impl {
  enum class State {
    kConnecting,
    kOpen,
    kClosing,    // sends the rest of its output
    kLingering,  // has said that it ends; reads and drops, so that a reset doesn't overtake the last answer
  };

  struct Connection {
    Connection(ConnectionId number, asio::io_context& context) : id(number), socket(context) {}

    bool usable() const { return state == State::kConnecting || state == State::kOpen; }
    size_t unsent() const { return output.size() - sent; }

    const ConnectionId id;
    tcp::socket socket;
    State state = State::kConnecting;
    AsioDoor* door = nullptr;  // through which it was accepted
    std::string input;         // what the handler has left
    std::string output;        // bytes before `sent` have left
    size_t sent = 0;
    bool dirty = false;    // in dirty_
    bool reading = false;  // waits to be readable
    bool writing = false;  // waits to be writable
    bool paused = false;   // more than kUnsentBytesMax unsent, and not yet below half
    Time end_by{};         // closing, lingering
  };

  explicit Impl(asio::io_context& io_context) : context(io_context), resolver(io_context) {}

  Connection* find(ConnectionId id) {
    const auto found = connections.find(id);
    return found == connections.end() ? nullptr : found->second.get();
  }
  Connection* find_usable(ConnectionId id) {
    Connection* connection = find(id);
    return connection != nullptr && connection->usable() ? connection : nullptr;
  }

  Connection& add() {
    const ConnectionId id = ++last_id;
    return *connections.emplace(id, std::make_unique<Connection>(id, context)).first->second;
  }

  void remove(ConnectionId id) {
    const auto found = connections.find(id);
    if (found == connections.end()) return;
    Connection& connection = *found->second;
    if (connection.door != nullptr) connection.door->on_connection_gone();
    release_buffer(connection.input);
    release_buffer(connection.output);
    error_code ignored;
    connection.socket.close(ignored);
    connections.erase(found);
  }

  void fail(ConnectionId id, const Status& why) {
    const bool tell = find_usable(id) != nullptr;
    remove(id);
    if (tell) handler->on_closed(id, why);
  }

  void mark_dirty(Connection& connection) {
    if (connection.dirty) return;
    connection.dirty = true;
    dirty.push_back(connection.id);
  }

  // Buffers that busy connections hand around, so that idle ones need none.
  void take_buffer(std::string& buffer) {
    if (!buffer.empty() || buffer.capacity() >= kReadBytes || spare_buffers.empty()) return;
    buffer.swap(spare_buffers.back());
    spare_buffers.pop_back();
  }
  void release_buffer(std::string& buffer) {
    const bool worth_keeping = buffer.capacity() >= kReadBytes && buffer.capacity() <= kSpareBufferBytesMax;
    if (worth_keeping && spare_buffers.size() < kSpareBuffersMax) {
      buffer.clear();
      spare_buffers.push_back(std::move(buffer));
    }
    buffer = std::string();
  }

  // ---- connecting

  void resolve(ConnectionId id, const Address& to) {
    if (find_usable(id) == nullptr) return;
    const Result<HostPort> address = host_port_from(to);
    if (!address.ok()) return fail(id, address.status());

    error_code not_numeric;
    const asio::ip::address numeric = asio::ip::make_address(address->host, not_numeric);
    if (!not_numeric) return connect_to(id, {tcp::endpoint(numeric, address->port)}, 0);

    resolver.async_resolve(address->host, std::to_string(address->port), tcp::resolver::numeric_service,
                           [this, id](const error_code& error, const tcp::resolver::results_type& found) {
                             if (error) return fail(id, closed_because(error));
                             Endpoints endpoints;
                             for (const auto& entry : found) endpoints.push_back(entry.endpoint());
                             connect_to(id, std::move(endpoints), 0);
                           });
  }

  void connect_to(ConnectionId id, Endpoints endpoints, size_t index) {
    Connection* connection = find_usable(id);
    if (connection == nullptr) return;
    if (index >= endpoints.size()) return fail(id, unavailable("the name has no address"));

    tcp::socket& socket = connection->socket;
    const tcp::endpoint to = endpoints[index];
    error_code error;
    socket.close(error);
    socket.open(to.protocol(), error);
    if (error) return fail(id, closed_because(error));
    set_socket_options(socket.native_handle());
    socket.async_connect(to, [this, id, endpoints = std::move(endpoints), index](const error_code& failed) {
      on_connect_done(id, endpoints, index, failed);
    });
  }

  void on_connect_done(ConnectionId id, const Endpoints& endpoints, size_t index, const error_code& failed) {
    Connection* connection = find_usable(id);
    if (connection == nullptr) return;
    error_code error = failed;
    if (!error && is_connected_to_itself(connection->socket)) error = asio::error::connection_refused;
    if (!error) connection->socket.non_blocking(true, error);
    if (error && index + 1 < endpoints.size()) return connect_to(id, endpoints, index + 1);
    if (error) return fail(id, closed_because(error));

    connection->state = State::kOpen;
    if (connection->unsent() > 0) mark_dirty(*connection);
    wait_readable(*connection);
    handler->on_connected(id);
  }

  void accepted(AsioDoor& door, tcp::socket socket, const tcp::endpoint& from) {
    Connection& connection = add();
    connection.socket = std::move(socket);
    connection.state = State::kOpen;
    connection.door = &door;
    wait_readable(connection);
    handler->on_accepted(connection.id, door.door(), address_text(from));
  }

  // ---- reading

  bool may_read(Connection& connection) {
    if (connection.state != State::kOpen) return true;
    if (connection.unsent() > kUnsentBytesMax) connection.paused = true;
    return !connection.paused && connection.input.size() < kInputBytesMax;
  }

  void wait_readable(Connection& connection) {
    if (connection.reading || !may_read(connection)) return;
    connection.reading = true;
    connection.socket.async_wait(tcp::socket::wait_read, [this, id = connection.id](const error_code& error) {
      on_readable(id, error);
    });
  }

  void on_readable(ConnectionId id, error_code error) {
    Connection* connection = find(id);
    if (connection == nullptr) return;
    connection->reading = false;
    if (!may_read(*connection)) return;
    size_t bytes = 0;
    if (!error) bytes = connection->socket.read_some(asio::buffer(read_buffer), error);
    if (error && !is_retriable(error)) return fail(id, closed_because(error));
    if (bytes > 0 && connection->state == State::kOpen) {
      take_in(*connection, std::string_view(read_buffer.data(), bytes));
      connection = find(id);
    }
    if (connection != nullptr) wait_readable(*connection);
  }

  void take_in(Connection& connection, std::string_view fresh) {
    if (!connection.input.empty()) {
      connection.input.append(fresh);
      return deliver_input(connection);
    }
    const size_t used = handler->on_bytes(connection.id, fresh);
    CHECK(used <= fresh.size());
    if (used == fresh.size() || !connection.usable()) return;
    take_buffer(connection.input);
    connection.input.append(fresh.substr(used));
  }

  void deliver_input(Connection& connection) {
    const size_t used = handler->on_bytes(connection.id, connection.input);
    CHECK(used <= connection.input.size());
    connection.input.erase(0, used);
    if (connection.input.empty()) {
      release_buffer(connection.input);
    } else if (connection.input.capacity() > kSpareBufferBytesMax &&
               connection.input.size() < connection.input.capacity() / 4) {
      connection.input.shrink_to_fit();
    }
  }

  void deliver_again(ConnectionId id) {
    Connection* connection = find(id);
    if (connection == nullptr || connection->state != State::kOpen) return;
    if (!connection->input.empty()) deliver_input(*connection);
    wait_readable(*connection);
  }

  // ---- writing

  void flush() {
    flushing.swap(dirty);
    for (const ConnectionId id : flushing) {
      Connection* connection = find(id);
      if (connection == nullptr) continue;
      connection->dirty = false;
      if (connection->state == State::kConnecting || connection->writing) continue;
      write(*connection);
    }
    flushing.clear();
  }

  void write(Connection& connection) {
    size_t bytes = 0;
    error_code error;
    if (connection.unsent() > 0) {
      bytes = connection.socket.write_some(
          asio::buffer(connection.output.data() + connection.sent, connection.unsent()), error);
    }
    if (error && !is_retriable(error)) {
      // Handlers are called in a turn, and this may be its end.
      asio::post(context, [this, id = connection.id, error] { fail(id, closed_because(error)); });
      return;
    }
    connection.sent += bytes;
    if (connection.unsent() > 0) {
      if (connection.sent > kUnsentBytesMax / 4 && connection.sent > connection.output.size() / 2) {
        connection.output.erase(0, std::exchange(connection.sent, 0));
      }
      wait_writable(connection);
    } else {
      connection.sent = 0;
      release_buffer(connection.output);
    }
    on_output_left(connection, bytes);
  }

  void wait_writable(Connection& connection) {
    connection.writing = true;
    connection.socket.async_wait(tcp::socket::wait_write,
                                 [this, id = connection.id](const error_code& error) {
                                   Connection* ready = find(id);
                                   if (ready == nullptr) return;
                                   ready->writing = false;
                                   if (error) return fail(id, closed_because(error));
                                   write(*ready);
                                 });
  }

  void on_output_left(Connection& connection, size_t bytes) {
    if (connection.state == State::kClosing) {
      if (connection.unsent() == 0) linger(connection);
      return;
    }
    if (connection.state != State::kOpen || connection.unsent() >= kUnsentBytesMax / 2) return;
    const bool resumes = std::exchange(connection.paused, false);
    if (resumes || (bytes > 0 && !connection.input.empty()))
      asio::post(context, [this, id = connection.id] { deliver_again(id); });
  }

  // ---- ending

  void close(ConnectionId id) {
    Connection* connection = find_usable(id);
    if (connection == nullptr) return;
    if (std::exchange(connection->state, State::kClosing) == State::kConnecting) {
      asio::post(context, [this, id] { remove(id); });
      return;
    }
    connection->end_by = now + kSendRestWithin;
    ending.push_back(id);
    mark_dirty(*connection);
  }

  void linger(Connection& connection) {
    error_code ignored;
    connection.socket.shutdown(tcp::socket::shutdown_send, ignored);
    connection.state = State::kLingering;
    connection.end_by = now + kLingerFor;
    release_buffer(connection.input);
    wait_readable(connection);
  }

  void end_what_is_due() {
    std::erase_if(ending, [this](ConnectionId id) {
      const Connection* connection = find(id);
      if (connection != nullptr && connection->end_by > now) return false;
      remove(id);
      return true;
    });
  }

  asio::io_context& context;
  tcp::resolver resolver;
  TransportHandler* handler = nullptr;
  std::vector<std::unique_ptr<AsioDoor>> doors;  // closed ones too: their connections point at them
  std::unordered_map<ConnectionId, std::unique_ptr<Connection>> connections;
  ConnectionId last_id = 0;
  std::vector<ConnectionId> dirty;     // have new output, or are to end
  std::vector<ConnectionId> flushing;  // empty but in flush()
  std::vector<ConnectionId> ending;
  std::vector<std::string> spare_buffers;
  std::string nowhere;  // output for connections that are gone
  std::array<char, kReadBytes> read_buffer{};
  Time now{};  // of the last tick
};

AsioTransport::AsioTransport(asio::io_context& context) : impl_(std::make_unique<Impl>(context)) {}
AsioTransport::~AsioTransport() = default;

void AsioTransport::set_handler(TransportHandler& handler) { impl_->handler = &handler; }

Result<Address> AsioTransport::listen(const Address& address, Door door) {
  auto opened = std::make_unique<AsioDoor>(
      impl_->context, door, [this](AsioDoor& from_door, tcp::socket socket, const tcp::endpoint& from) {
        impl_->accepted(from_door, std::move(socket), from);
      });
  Result<Address> real = opened->open(address);
  if (real.ok()) impl_->doors.push_back(std::move(opened));
  return real;
}

void AsioTransport::stop_listening() {
  for (const auto& door : impl_->doors) door->close();
}

void AsioTransport::flush() { impl_->flush(); }

bool AsioTransport::is_ending() const {
  return std::any_of(impl_->ending.begin(), impl_->ending.end(),
                     [this](ConnectionId id) { return impl_->find(id) != nullptr; });
}

void AsioTransport::on_tick(Time now) {
  impl_->now = now;
  impl_->end_what_is_due();
  for (const auto& door : impl_->doors) door->on_tick();
}

ConnectionId AsioTransport::connect(const Address& to) {
  const ConnectionId id = impl_->add().id;
  asio::post(impl_->context, [impl = impl_.get(), id, to] { impl->resolve(id, to); });
  return id;
}

std::string& AsioTransport::output(ConnectionId id) {
  Impl::Connection* connection = impl_->find_usable(id);
  if (connection == nullptr) {
    impl_->nowhere = std::string();
    return impl_->nowhere;
  }
  impl_->take_buffer(connection->output);
  impl_->mark_dirty(*connection);
  return connection->output;
}

size_t AsioTransport::unsent_bytes(ConnectionId id) const {
  const Impl::Connection* connection = impl_->find_usable(id);
  return connection == nullptr ? 0 : connection->unsent();
}

void AsioTransport::close(ConnectionId id) { impl_->close(id); }

}  // namespace ringkv
