#include "tools/kvbench/compare/socket_load.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <random>

namespace ringkv::tools {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kWarmUp{1};
constexpr int kWaitMs = 100;
// Longer without any answer, and the system hangs.
constexpr std::chrono::seconds kSilenceMax{20};
constexpr size_t kReadBytes = 65'536;
constexpr uint64_t kValueOffsets = 4096;

Status system_failure(const std::string& what) { return unavailable(what + ": " + std::strerror(errno)); }

struct Connection {
  int descriptor = -1;
  std::unique_ptr<Protocol> protocol;
  std::string in;
  std::string out;
  std::vector<Clock::time_point> starts;  // of each slot
  bool waits_to_write = false;

  ~Connection() {
    if (descriptor >= 0) ::close(descriptor);
  }
};

class SocketLoad {
 public:
  SocketLoad(const SocketLoadSettings& settings, SocketWork work) : settings_(settings), work_(work) {
    while (bytes_.size() < settings.value_bytes + kValueOffsets) {
      const uint64_t word = random_();
      bytes_.append(reinterpret_cast<const char*>(&word), sizeof word);
    }
  }
  ~SocketLoad() { ::close(epoll_); }

  Result<Measurement> run() {
    for (uint32_t i = 0; i < settings_.connections; ++i) {
      if (const Status status = connect(settings_.ports[i % settings_.ports.size()]); !status.ok())
        return status;
    }
    from_ = Clock::now() + (work_ == SocketWork::kStoreEach ? Clock::duration() : kWarmUp);
    until_ = from_ + settings_.duration;
    for (auto& connection : connections_) {
      connection->protocol->open(connection->out);
      for (uint32_t slot = 0; slot < settings_.depth; ++slot) send_next(*connection, slot);
      if (const Status status = write(*connection); !status.ok()) return status;
    }
    last_answer_ = Clock::now();
    while (under_way_ > 0) {
      if (const Status status = turn(); !status.ok()) return status;
    }
    return Measurement{.tally = std::move(tally_),
                       .seconds = std::chrono::duration<double>(settings_.duration).count()};
  }

 private:
  Status connect(uint16_t port) {
    auto connection = std::make_unique<Connection>();
    connection->descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int one = 1;
    if (::connect(connection->descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      return system_failure("connecting to 127.0.0.1:" + std::to_string(port));
    ::setsockopt(connection->descriptor, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    connection->protocol = settings_.protocol();
    connection->starts.resize(settings_.depth);
    epoll_event event{.events = EPOLLIN, .data = {.ptr = connection.get()}};
    if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, connection->descriptor, &event) != 0)
      return system_failure("epoll_ctl");
    connections_.push_back(std::move(connection));
    return {};
  }

  Status turn() {
    std::array<epoll_event, 256> events{};
    const int ready = ::epoll_wait(epoll_, events.data(), events.size(), kWaitMs);
    if (ready == 0 && Clock::now() - last_answer_ > kSilenceMax) return unavailable("no answer for 20 s");
    for (int i = 0; i < ready; ++i) {
      auto& connection = *static_cast<Connection*>(events[static_cast<size_t>(i)].data.ptr);
      if (const Status status = read(connection); !status.ok()) return status;
      if (const Status status = write(connection); !status.ok()) return status;
    }
    return {};
  }

  Status read(Connection& connection) {
    std::array<char, kReadBytes> bytes;
    const ssize_t got = ::recv(connection.descriptor, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return {};
    if (got < 0) return system_failure("reading an answer");
    if (got == 0) return unavailable("the connection was closed");
    connection.in.append(bytes.data(), static_cast<size_t>(got));
    ended_.clear();
    if (!connection.protocol->receive(connection.in, connection.out, ended_))
      return unavailable("an answer isn't of the protocol");
    for (const Protocol::Ended& ended : ended_) {
      if (ended.slot >= settings_.depth) return unavailable("an answer to nothing that was asked");
      on_end(connection, ended);
    }
    return {};
  }

  void on_end(Connection& connection, const Protocol::Ended& ended) {
    last_answer_ = Clock::now();
    if (last_answer_ >= from_) {
      const auto took =
          std::chrono::duration_cast<std::chrono::microseconds>(last_answer_ - connection.starts[ended.slot]);
      tally_.count(ended.ok ? Status() : unavailable("refused"), static_cast<uint64_t>(took.count()),
                   !ended.found, work_ == SocketWork::kStoreEach || last_answer_ < until_);
    }
    --under_way_;
    send_next(connection, ended.slot);
  }

  void send_next(Connection& connection, uint32_t slot) {
    const Clock::time_point now = Clock::now();
    const bool done = work_ == SocketWork::kStoreEach ? stored_ == settings_.keys : now >= until_;
    if (done) return;
    connection.starts[slot] = now;
    ++under_way_;
    const std::string key =
        connection.protocol->key_of(work_ == SocketWork::kStoreEach ? stored_++ : random_() % settings_.keys);
    if (work_ == SocketWork::kGet) {
      connection.protocol->get(slot, key, connection.out);
    } else {
      connection.protocol->put(slot, key, any_value(), connection.out);
    }
  }

  std::string_view any_value() {
    return std::string_view(bytes_).substr(random_() % kValueOffsets, settings_.value_bytes);
  }

  Status write(Connection& connection) {
    size_t sent = 0;
    while (sent < connection.out.size()) {
      const ssize_t took = ::send(connection.descriptor, connection.out.data() + sent,
                                  connection.out.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (took < 0 && errno == EINTR) continue;
      if (took < 0 && errno == EAGAIN) break;
      if (took < 0) return system_failure("sending a request");
      sent += static_cast<size_t>(took);
    }
    connection.out.erase(0, sent);
    if (connection.waits_to_write == !connection.out.empty()) return {};
    connection.waits_to_write = !connection.out.empty();
    epoll_event event{.events = EPOLLIN | (connection.waits_to_write ? EPOLLOUT : 0U),
                      .data = {.ptr = &connection}};
    return ::epoll_ctl(epoll_, EPOLL_CTL_MOD, connection.descriptor, &event) == 0
               ? Status()
               : system_failure("epoll_ctl");
  }

  const SocketLoadSettings& settings_;
  const SocketWork work_;
  const int epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
  std::mt19937_64 random_{1};
  std::string bytes_;
  std::vector<std::unique_ptr<Connection>> connections_;
  Clock::time_point from_;
  Clock::time_point until_;

  std::vector<Protocol::Ended> ended_;  // by what was just read
  Clock::time_point last_answer_;
  uint64_t under_way_ = 0;
  uint64_t stored_ = 0;
  Tally tally_;
};

}  // namespace

Result<Measurement> run_socket_load(const SocketLoadSettings& settings, SocketWork work) {
  return SocketLoad(settings, work).run();
}

}  // namespace ringkv::tools
