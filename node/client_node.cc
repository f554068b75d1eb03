#include "node/client_node.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace ringkv {
namespace {

constexpr Duration kRestFirst = std::chrono::milliseconds(50);
constexpr Duration kRestMax = std::chrono::seconds(1);

// What was acknowledged by one cluster must not be looked for in another.
Status check(const Welcome& welcome, ClusterId cluster) {
  if (welcome.protocol != kProtocolVersion) {
    return forbidden(cat("it speaks version ", welcome.protocol, " of the protocol, this client version ",
                         kProtocolVersion));
  }
  if (cluster && welcome.cluster != cluster) {
    return forbidden(
        cat("it belongs to cluster ", hex(welcome.cluster.value), ", this client to ", hex(cluster.value)));
  }
  return {};
}

}  // namespace

ClientNode::ClientNode(ClientGround& ground, Address address, bool given)
    : ground_(ground), address_(std::move(address)), given_(given), rest_(kRestFirst) {
  for (uint32_t i = 0; i < std::max<uint32_t>(1, ground.options.connections); ++i)
    links_.emplace_back(*this, ground.transport, ground.links, ground.random.next() | 1);
}

void ClientNode::dial(Time now) {
  for (ClientLink& link : links_) {
    if (link.idle()) link.dial(address_, now + ground_.options.connect_timeout);
  }
}

void ClientNode::want(Time now) {
  if (now >= rests_until_) dial(now);
}

void ClientNode::hang_up() {
  for (ClientLink& link : links_) {
    if (!link.idle()) link.close();
  }
}

ClientLink* ClientNode::usable() {
  for (size_t i = 0; i < links_.size(); ++i) {
    next_ = (next_ + 1) % links_.size();
    if (links_[next_].usable()) return &links_[next_];
  }
  return nullptr;
}

bool ClientNode::serving() const {
  return std::any_of(links_.begin(), links_.end(), [](const ClientLink& link) { return link.serving(); });
}

bool ClientNode::trying() const {
  return std::any_of(links_.begin(), links_.end(), [](const ClientLink& link) { return link.dialing(); });
}

bool ClientNode::unused() const {
  return std::none_of(links_.begin(), links_.end(),
                      [](const ClientLink& link) { return link.has_unanswered() || !link.queue.empty(); });
}

Status ClientNode::welcome(ClientLink& link, const Welcome& welcome) {
  if (Status wrong = check(welcome, ground_.cluster); !wrong.ok()) return wrong;
  ground_.cluster = welcome.cluster;
  id_ = welcome.node;
  rest_ = kRestFirst;
  link.serve(welcome.boot);
  return {};
}

void ClientNode::on_failed(Time now) {
  // Half of it random, so that the clients of a node that restarts don't come at once.
  rests_until_ =
      now + rest_ / 2 + Duration(ground_.random.below(static_cast<uint64_t>(rest_.count()) / 2 + 1));
  if (!trying()) rest_ = std::min(rest_ * 2, kRestMax);
}

// A node that welcomes and then breaks off must not be called in a tight loop.
void ClientNode::on_lost(Time now) {
  rests_until_ = now + Duration(ground_.random.below(static_cast<uint64_t>(kRestFirst.count())));
}

}  // namespace ringkv
