#include "node/peer_links.h"

#include <optional>
#include <utility>
#include <vector>

#include "base/text.h"
#include "node/peer_channel.h"

namespace ringkv {
namespace {

// By all links together; past it those that hold much take no more.
constexpr size_t kAllLinksHeldBytesMax = size_t{256} << 20;
constexpr size_t kMuch = size_t{4} << 20;

}  // namespace

PeerLinks::PeerLinks(Transport& transport, const Clock& clock, Random& random, Log& log,
                     const PeerFaults& faults, Callbacks callbacks)
    : transport_(transport),
      clock_(clock),
      random_(random),
      log_(log),
      faults_(faults),
      callbacks_(std::move(callbacks)),
      errands_(transport, faults, codec_) {}

PeerLink* PeerLinks::find(const LinkName& name) {
  const auto peer = peers_.find(name.node);
  return peer == peers_.end() ? nullptr : &peer->second.link(name.channel);
}

// ---- whom there is

void PeerLinks::set_address(NodeId node, const Address& address) {
  Peer& peer = peers_[node];
  if (peer.address == address) return;
  peer.address = address;
  for (const PeerChannel channel : kChannels) {
    if (peer.link(channel).is_idle()) continue;
    hang_up(peer.link(channel));
    dial({node, channel});
  }
}

void PeerLinks::forget(NodeId node) {
  const auto peer = peers_.find(node);
  if (peer == peers_.end()) return;
  for (PeerLink& link : peer->second.links) hang_up(link);
  peers_.erase(peer);
}

void PeerLinks::greet(NodeId node) {
  for (const PeerChannel channel : kChannels) {
    const PeerLink* link = find({node, channel});
    if (link != nullptr && (link->is_idle() || link->is_pausing())) dial({node, channel});
  }
}

bool PeerLinks::is_reachable(NodeId node) const {
  const auto peer = peers_.find(node);
  return peer == peers_.end() || !peer->second.link(PeerChannel::kRequests).is_failing();
}

void PeerLinks::close_all() {
  for (auto& [node, peer] : peers_) {
    for (PeerLink& link : peer.links) {
      hang_up(link);
      statistics_.dropped_messages += link.reset();
    }
  }
  errands_.cancel_all(unavailable("this node ends its connections"));
}

bool PeerLinks::owns(ConnectionId connection) const {
  return by_connection_.contains(connection) || errands_.owns(connection);
}

// ---- sending

void PeerLinks::send(NodeId to, const PeerMessage& message, uint64_t lineage, uint64_t epoch) {
  const LinkName name{to, channel_of(message)};
  PeerLink* link = find(name);
  if (link == nullptr || link->is_failing() || faults_.drops(to)) {
    ++statistics_.dropped_messages;
    return;
  }
  if (link->is_idle()) dial(name);
  const size_t held = link->held_bytes(transport_);
  Status sent = overloaded("all links together hold too much");
  if (held <= kMuch || held_bytes_ <= kAllLinksHeldBytesMax) {
    sent = link->send(message, {lineage, epoch}, clock_.now(), faults_.delay_of(to), codec_, transport_);
  }
  held_bytes_ += link->held_bytes(transport_) - held;
  if (sent.ok()) return;
  ++statistics_.dropped_messages;
  log_.debug("node", cat("a message to node ", hex(to.value), " is dropped: ", sent.message()));
}

// ---- a link's life

void PeerLinks::dial(const LinkName& name) {
  Peer& peer = peers_.at(name.node);
  ++statistics_.dials;
  ConnectionId connection = 0;
  if (!faults_.drops(name.node)) {
    connection = transport_.connect(peer.address);
    by_connection_.emplace(connection, name);
  }
  peer.link(name.channel).on_dialed(connection, clock_.now());
}

void PeerLinks::hang_up(PeerLink& link) {
  const ConnectionId connection = link.connection();
  if (connection == 0) return;
  by_connection_.erase(connection);
  transport_.close(connection);
}

void PeerLinks::on_connected(ConnectionId connection) {
  if (errands_.owns(connection)) return errands_.on_connected(connection);
  const auto found = by_connection_.find(connection);
  if (found == by_connection_.end()) return;
  const LinkName name = found->second;
  find(name)->on_connected(clock_.now());
  if (faults_.drops(name.node)) return;
  PeerHello hello = callbacks_.hello();
  hello.to = name.node;
  hello.channel = name.channel;
  codec_.encode(hello, transport_.output(connection));
}

size_t PeerLinks::on_bytes(ConnectionId connection, std::string_view available) {
  if (errands_.owns(connection)) return errands_.on_bytes(connection, available);
  const auto found = by_connection_.find(connection);
  if (found == by_connection_.end()) return available.size();
  const LinkName name = found->second;
  if (faults_.drops(name.node)) return available.size();

  const auto frame = read_frame(available, kUnauthenticatedFrameBytesMax);
  if (frame.ok() && !frame->has_value()) return 0;
  const bool refusal = frame.ok() && (*frame)->type == FrameType::kPeerRefused;
  const Result<PeerWelcome> welcome =
      frame.ok() ? codec_.decode_welcome(**frame) : Result<PeerWelcome>(frame.status());
  if (refusal && find(name)->is_greeting()) {
    on_refused(name, welcome.status());
  } else if (refusal) {
    // What ends a connection that stood says nothing of the life that dialed it; the next greeting is judged.
    transport_.close(connection);
    on_closed(connection, welcome.status());
  } else if (!welcome.ok()) {
    fail(name, welcome.status());
  } else if (!find(name)->is_greeting()) {
    fail(name, invalid_argument("it has welcomed this node twice"));
  } else {
    on_welcome(name, *welcome);
  }
  return frame.ok() ? (*frame)->bytes : available.size();
}

void PeerLinks::on_welcome(const LinkName& name, const PeerWelcome& welcome) {
  const ConnectionId connection = find(name)->connection();
  const Address address = peers_.at(name.node).address;
  if (welcome.node != name.node) {
    return fail(name, unavailable(cat("at ", address, " answers node ", hex(welcome.node.value),
                                      ", not node ", hex(name.node.value))));
  }
  const bool accepted = callbacks_.on_welcome(welcome, address);
  const PeerLink* link = find(name);
  if (link == nullptr || link->connection() != connection) return;  // ended by what was called
  if (!accepted) return fail(name, forbidden(cat("who answers at ", address, " may not be talked to")));

  PeerLink& greeted = *find(name);
  const bool maybe_lost = greeted.may_have_lost();
  if (greeted.is_failing() && name.channel == PeerChannel::kRequests)
    log_.info("node", cat("node ", hex(name.node.value), " is reachable again at ", address));
  greeted.on_welcomed(clock_.now(), transport_);
  if (name.channel == PeerChannel::kRequests) callbacks_.on_reachable(name.node, maybe_lost);
}

void PeerLinks::on_refused(const LinkName& name, const Status& why) {
  ++statistics_.refusals;
  const ConnectionId connection = find(name)->connection();
  callbacks_.on_refused(name.node, why);
  const PeerLink* link = find(name);
  if (link != nullptr && link->connection() == connection) fail(name, why);
}

void PeerLinks::on_closed(ConnectionId connection, const Status& why) {
  if (errands_.owns(connection)) return errands_.on_closed(connection, why);
  const auto found = by_connection_.find(connection);
  if (found == by_connection_.end()) return;
  const LinkName name = found->second;
  by_connection_.erase(found);
  PeerLink& link = *find(name);
  if (link.is_up() && link.on_lost(clock_.now())) {
    dial(name);
  } else {
    fail(name, why);
  }
}

void PeerLinks::fail(const LinkName& name, const Status& why) {
  PeerLink& link = *find(name);
  const bool failed_before = link.is_failing();
  hang_up(link);
  statistics_.dropped_messages += link.on_failed(clock_.now(), random_);
  if (failed_before || name.channel != PeerChannel::kRequests) return;
  log_.info("node", cat("node ", hex(name.node.value), " is unreachable: ", escaped(why.message())));
  callbacks_.on_unreachable(name.node, why);
}

void PeerLinks::on_tick(Time now) {
  errands_.on_tick(now);
  held_bytes_ = 0;
  std::vector<LinkName> due;
  for (auto& [node, peer] : peers_) {
    for (const PeerChannel channel : kChannels) {
      PeerLink& link = peer.link(channel);
      link.send_due(now, transport_);
      held_bytes_ += link.held_bytes(transport_);
      if (link.wants_dial(now) || link.is_overdue(now)) due.push_back({node, channel});
    }
  }
  for (const LinkName& name : due) on_link_due(name, now);
}

// Looks again: what another link's failure led to may have changed this one.
void PeerLinks::on_link_due(const LinkName& name, Time now) {
  const PeerLink* link = find(name);
  if (link == nullptr) return;
  if (link->wants_dial(now)) return dial(name);
  if (link->is_overdue(now))
    fail(name, unavailable(cat("no answer from ", peers_.at(name.node).address, " in time")));
}

// ---- questions to an address

void PeerLinks::identify(const Address& address, NodeId to, Duration timeout,
                         std::function<void(Result<PeerWelcome>)> done) {
  PeerHello hello = callbacks_.hello();
  hello.to = to;
  hello.channel = PeerChannel::kIdentify;
  errands_.ask(address, PeerErrands::Identify{std::move(hello), std::move(done)}, clock_.now() + timeout);
}

void PeerLinks::join(const Address& address, const JoinRequest& request, Duration timeout,
                     std::function<void(JoinAnswer)> done) {
  errands_.ask(address, PeerErrands::Join{request, std::move(done)}, clock_.now() + timeout);
}

}  // namespace ringkv
