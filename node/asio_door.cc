#include "node/asio_door.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/address.h"
#include "base/text.h"
#include "node/asio_socket.h"
#include "node/asio_transport.h"

namespace ringkv {
namespace {

using boost::system::error_code;
namespace errors = boost::asio::error;

constexpr int kBacklog = 4096;
constexpr int kAcceptsATurn = 64;

// The store, peers and logs need descriptors too: of what the process may open, clients get at most a half
// and peers a quarter.
size_t connections_max(Door door) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kDoorConnectionsMax;
  return std::min<size_t>(kDoorConnectionsMax, limit.rlim_cur / (door == Door::kClient ? 2 : 4));
}

int open_spare() { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }

Result<AsioDoor::Tcp::endpoint> endpoint_of(boost::asio::io_context& context, const HostPort& address) {
  error_code error;
  const auto numeric = boost::asio::ip::make_address(address.host, error);
  if (!error) return AsioDoor::Tcp::endpoint(numeric, address.port);
  AsioDoor::Tcp::resolver resolver(context);
  const auto found = resolver.resolve(address.host, std::to_string(address.port), error);
  if (error || found.empty())
    return unavailable(cat("can't listen on ", address.to_text(), ": ", error.message()));
  return found.begin()->endpoint();
}

}  // namespace

AsioDoor::AsioDoor(boost::asio::io_context& context, Door door, OnAccepted on_accepted)
    : context_(context),
      door_(door),
      on_accepted_(std::move(on_accepted)),
      connections_max_(connections_max(door)),
      acceptor_(context) {}

AsioDoor::~AsioDoor() { close(); }

Result<Address> AsioDoor::open(const Address& text) {
  const Result<HostPort> address = host_port_from(text);
  if (!address.ok()) return address.status();
  const Result<Tcp::endpoint> endpoint = endpoint_of(context_, *address);
  if (!endpoint.ok()) return endpoint.status();

  error_code error;
  acceptor_.open(endpoint->protocol(), error);
  if (!error) set_socket_options(acceptor_.native_handle());
  if (!error) acceptor_.set_option(Tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor_.bind(*endpoint, error);
  if (!error) acceptor_.listen(kBacklog, error);
  if (!error) acceptor_.non_blocking(true, error);
  Tcp::endpoint real;
  if (!error) real = acceptor_.local_endpoint(error);
  if (error == errors::address_in_use) {
    return unavailable(cat("can't listen on ", text, ": port ", address->port,
                           " is in use by another process; stop it, or choose another port"));
  }
  if (error) return unavailable(cat("can't listen on ", text, ": ", error.message()));

  spare_descriptor_ = open_spare();
  wait();
  return HostPort{address->host, real.port()}.to_text();
}

void AsioDoor::close() {
  error_code ignored;
  acceptor_.close(ignored);
  if (spare_descriptor_ >= 0) ::close(std::exchange(spare_descriptor_, -1));
}

void AsioDoor::on_tick() {
  if (!acceptor_.is_open()) return;
  if (spare_descriptor_ < 0) spare_descriptor_ = open_spare();
  if (!waiting_) wait();
}

void AsioDoor::wait() {
  waiting_ = true;
  acceptor_.async_wait(Tcp::acceptor::wait_read, [this](const error_code& error) {
    if (error == errors::operation_aborted) return;  // closed, maybe destroyed
    waiting_ = false;
    if (!error) accept_all();
  });
}

// When nothing can be accepted it waits for the next tick, not for readiness: that is there already.
void AsioDoor::accept_all() {
  for (int i = 0; i < kAcceptsATurn && acceptor_.is_open(); ++i) {
    const Accepted accepted = accept_one();
    if (accepted == Accepted::kNone) break;
    if (accepted == Accepted::kNoDescriptors) {
      if (spare_descriptor_ < 0) return;
      refuse_one();
    }
  }
  if (acceptor_.is_open()) wait();
}

AsioDoor::Accepted AsioDoor::accept_one() {
  error_code error;
  Tcp::endpoint from;
  Tcp::socket socket(context_);
  acceptor_.accept(socket, from, error);
  if (error == errors::no_descriptors || error == error_code(ENFILE, boost::system::system_category()))
    return Accepted::kNoDescriptors;
  if (error == errors::connection_aborted || error == errors::interrupted) return Accepted::kOne;
  if (!error && connections_ >= connections_max_) return Accepted::kOne;  // and closed
  if (!error) socket.non_blocking(true, error);
  if (error) return Accepted::kNone;

  set_socket_options(socket.native_handle());
  ++connections_;
  on_accepted_(*this, std::move(socket), from);
  return Accepted::kOne;
}

void AsioDoor::refuse_one() {
  ::close(std::exchange(spare_descriptor_, -1));
  error_code ignored;
  {
    Tcp::socket socket(context_);
    acceptor_.accept(socket, ignored);
  }
  spare_descriptor_ = open_spare();
}

}  // namespace ringkv
