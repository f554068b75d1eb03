#include "tests/bench/bare/bare_node.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <functional>

namespace ringkv::bare {
namespace {

constexpr uint32_t kQuorum = 2;
constexpr size_t kReadBytes = 65'536;

[[noreturn]] void fail(const char* what) {
  std::perror(what);
  std::exit(1);
}

sockaddr_in loopback(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

rocksdb::Slice slice(std::string_view bytes) { return {bytes.data(), bytes.size()}; }

}  // namespace

BareNode::BareNode(const BareNodeSettings& settings)
    : settings_(settings), store_(open_store(settings.directory)), epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
  listen();
  for (uint32_t i = 0; i < kNodes; ++i) {
    if (i != settings_.number) peers_[i] = dial(settings_.ports[i]);
  }
}

void BareNode::listen() {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int one = 1;
  ::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  const sockaddr_in address = loopback(settings_.ports[settings_.number]);
  if (::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) fail("bind");
  if (::listen(listener_, 512) != 0) fail("listen");
  epoll_event event{.events = EPOLLIN, .data = {.ptr = nullptr}};
  if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, listener_, &event) != 0) fail("epoll_ctl");
}

BareNode::Connection* BareNode::dial(uint16_t port) {
  constexpr int kTries = 500;
  constexpr useconds_t kPauseMicroseconds = 20'000;
  const sockaddr_in address = loopback(port);
  for (int i = 0; i < kTries; ++i) {
    const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (::connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
      return add(descriptor);
    ::close(descriptor);
    ::usleep(kPauseMicroseconds);
  }
  fail("connect");
}

BareNode::Connection* BareNode::add(int descriptor) {
  const int one = 1;
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  connections_.push_back(std::make_unique<Connection>());
  Connection* connection = connections_.back().get();
  connection->descriptor = descriptor;
  epoll_event event{.events = EPOLLIN, .data = {.ptr = connection}};
  if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event) != 0) fail("epoll_ctl");
  return connection;
}

void BareNode::accept() {
  const int descriptor = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (descriptor < 0) fail("accept");
  add(descriptor);
}

// It stays in the table: requests of it may be under way.
void BareNode::close(Connection& connection) {
  ::close(connection.descriptor);
  connection.descriptor = -1;
}

void BareNode::run() {
  std::array<epoll_event, 256> events{};
  for (;;) {
    const int ready = ::epoll_wait(epoll_, events.data(), events.size(), -1);
    for (int i = 0; i < ready; ++i) {
      auto* connection = static_cast<Connection*>(events[static_cast<size_t>(i)].data.ptr);
      if (connection == nullptr) {
        accept();
        continue;
      }
      if ((events[static_cast<size_t>(i)].events & EPOLLOUT) != 0) flush(*connection);
      if (!read(*connection)) {
        close(*connection);
        continue;
      }
      take_frames(connection->in, [&](const Frame& frame) { on_frame(*connection, frame); });
    }
    commit();
    for (Connection* connection : to_flush_) flush(*connection);
    to_flush_.clear();
  }
}

bool BareNode::read(Connection& connection) {
  std::array<char, kReadBytes> bytes;
  const ssize_t got = ::recv(connection.descriptor, bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  connection.in.append(bytes.data(), static_cast<size_t>(got));
  return got > 0;
}

void BareNode::on_frame(Connection& from, const Frame& frame) {
  switch (frame.type) {
    case FrameType::kPut:
      return on_put(from, frame);
    case FrameType::kReplicaPut:
      return on_replica_put(from, frame);
    case FrameType::kGet:
      return on_get(from, frame);
    case FrameType::kReplicaGet:
      return on_replica_get(from, frame);
    case FrameType::kAck:
    case FrameType::kValue:
      return on_copy(frame.id);
  }
}

void BareNode::on_put(Connection& client, const Frame& frame) {
  const uint64_t request = ++last_request_;
  requests_[request] = {
      .client = &client, .id = frame.id, .copies = 0, .answer = FrameType::kAck, .value = {}};
  batch_.Put(slice(frame.body.substr(0, kKeyBytes)), slice(frame.body.substr(kKeyBytes)));
  own_after_.push_back(request);
  for (Connection* peer : peers_) {
    if (peer != nullptr) send(*peer, {FrameType::kReplicaPut, request, frame.body});
  }
}

void BareNode::on_replica_put(Connection& peer, const Frame& frame) {
  batch_.Put(slice(frame.body.substr(0, kKeyBytes)), slice(frame.body.substr(kKeyBytes)));
  acks_after_.emplace_back(&peer, frame.id);
}

void BareNode::on_get(Connection& client, const Frame& frame) {
  const uint64_t request = ++last_request_;
  read_value(frame.body);
  requests_[request] = {
      .client = &client, .id = frame.id, .copies = 1, .answer = FrameType::kValue, .value = value_};
  send(*peers_[(settings_.number + 1) % kNodes], {FrameType::kReplicaGet, request, frame.body});
}

void BareNode::on_replica_get(Connection& peer, const Frame& frame) {
  read_value(frame.body);
  const size_t hash = std::hash<std::string>()(value_);
  send(peer, {FrameType::kValue, frame.id, {reinterpret_cast<const char*>(&hash), sizeof hash}});
}

// One more of the three has it. The last one ends the request; of gets two are asked.
void BareNode::on_copy(uint64_t request) {
  const auto at = requests_.find(request);
  if (at == requests_.end()) return;
  Request& under_way = at->second;
  if (++under_way.copies == kQuorum && under_way.client->descriptor >= 0)
    send(*under_way.client, {under_way.answer, under_way.id, under_way.value});
  if (under_way.copies == (under_way.answer == FrameType::kValue ? kQuorum : kNodes)) requests_.erase(at);
}

void BareNode::read_value(std::string_view key) {
  value_.clear();
  const rocksdb::Status status = store_->Get(rocksdb::ReadOptions(), slice(key), &value_);
  if (!status.ok() && !status.IsNotFound()) fail("rocksdb: Get");
}

void BareNode::commit() {
  if (batch_.Count() == 0) return;
  rocksdb::WriteOptions options;
  options.sync = settings_.synced;
  if (!store_->Write(options, &batch_).ok()) fail("rocksdb: Write");
  batch_.Clear();
  for (const auto& [peer, request] : acks_after_) send(*peer, {FrameType::kAck, request, {}});
  for (const uint64_t request : own_after_) on_copy(request);
  acks_after_.clear();
  own_after_.clear();
}

void BareNode::send(Connection& to, const Frame& frame) {
  append_frame(to.out, frame);
  if (to.has_more) return;
  to.has_more = true;
  to_flush_.push_back(&to);
}

void BareNode::flush(Connection& connection) {
  connection.has_more = false;
  if (connection.descriptor < 0) return;
  size_t sent = 0;
  while (sent < connection.out.size()) {
    const ssize_t took = ::send(connection.descriptor, connection.out.data() + sent,
                                connection.out.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (took < 0 && errno == EINTR) continue;
    if (took < 0) break;
    sent += static_cast<size_t>(took);
  }
  connection.out.erase(0, sent);
  if (connection.waits_to_write == !connection.out.empty()) return;
  connection.waits_to_write = !connection.out.empty();
  epoll_event event{.events = EPOLLIN | (connection.waits_to_write ? EPOLLOUT : 0U),
                    .data = {.ptr = &connection}};
  if (::epoll_ctl(epoll_, EPOLL_CTL_MOD, connection.descriptor, &event) != 0) fail("epoll_ctl");
}

}  // namespace ringkv::bare
