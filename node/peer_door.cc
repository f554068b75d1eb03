#include "node/peer_door.h"

#include <optional>
#include <utility>

#include "base/text.h"
#include "node/peer_channel.h"

namespace ringkv {
namespace {

constexpr Duration kGreetWithin = std::chrono::seconds(10);
constexpr Duration kJudgeWithin = std::chrono::seconds(10);
constexpr Duration kJoinWithin = std::chrono::seconds(60);  // it may take several epochs

// Of one node and channel: the one that is heard, and one that is being judged to take its place.
constexpr size_t kConnectionsPerChannelMax = 2;
// Parts of large messages, of all connections together.
constexpr size_t kPartsBytesMax = size_t{256} << 20;

// Whom the message claims to come from, where it says so.
struct SpeakerOf {
  std::optional<NodeId> operator()(const Prepare& prepare) const { return prepare.ballot.node; }
  std::optional<NodeId> operator()(const Promise& promise) const { return promise.voter.node; }
  std::optional<NodeId> operator()(const Accept& accept) const { return accept.ballot.node; }
  std::optional<NodeId> operator()(const Accepted& accepted) const { return accepted.voter.node; }
  std::optional<NodeId> operator()(const ReplicaPutAck& ack) const { return ack.replica; }
  std::optional<NodeId> operator()(const ReplicaGetReply& reply) const { return reply.replica; }
  std::optional<NodeId> operator()(const ReplicaScanReply& reply) const { return reply.replica; }
  template <class Message>
  std::optional<NodeId> operator()(const Message&) const {
    return std::nullopt;
  }
};

}  // namespace

PeerDoor::PeerDoor(Transport& transport, const Clock& clock, Log& log, const PeerFaults& faults,
                   PeerReception& reception)
    : transport_(transport), clock_(clock), log_(log), faults_(faults), reception_(reception) {}

PeerDoor::Connection* PeerDoor::find(ConnectionId id) {
  const auto found = connections_.find(id);
  return found == connections_.end() ? nullptr : &found->second;
}

void PeerDoor::on_accepted(ConnectionId connection, Door, const Address& from) {
  connections_.emplace(connection, Connection{from, Ungreeted{clock_.now() + kGreetWithin}});
  ++statistics_.connections_now;
  ++statistics_.connections_total;
}

size_t PeerDoor::on_bytes(ConnectionId id, std::string_view available) {
  size_t used = 0;
  while (used < available.size()) {
    Connection* connection = find(id);  // anew each time: what a message leads to may have ended it
    if (connection == nullptr || std::holds_alternative<Silenced>(connection->state)) return available.size();
    const bool welcomed = std::holds_alternative<Welcomed>(connection->state);
    const size_t frame_bytes_max = welcomed ? kFrameBytesMax : kUnauthenticatedFrameBytesMax;
    const Result<std::optional<Frame>> frame = read_frame(available.substr(used), frame_bytes_max);
    if (!frame.ok()) {
      refuse(id, *connection, frame.status());
      return available.size();
    }
    if (!frame->has_value()) return used;
    if (!on_frame(id, *connection, **frame)) return available.size();
    used += (*frame)->bytes;
  }
  return used;
}

bool PeerDoor::on_frame(ConnectionId id, Connection& connection, const Frame& frame) {
  if (std::holds_alternative<Welcomed>(connection.state)) return on_message(id, connection, frame);
  if (std::holds_alternative<Ungreeted>(connection.state)) return on_greeting(id, connection, frame);
  refuse(id, connection, invalid_argument("it speaks before it has been answered"));
  return false;
}

// ---- greetings

bool PeerDoor::on_greeting(ConnectionId id, Connection& connection, const Frame& frame) {
  Status refused;
  if (frame.type == FrameType::kJoinRequest) {
    const Result<JoinRequest> request = codec_.decode_join(frame);
    if (request.ok()) return on_join(id, connection, *request);
    refused = request.status();
  } else {
    const Result<PeerHello> hello = codec_.decode_hello(frame);
    if (hello.ok()) return on_hello(id, connection, *hello);
    refused = hello.status();
  }
  refuse(id, connection, refused);
  return false;
}

bool PeerDoor::on_hello(ConnectionId id, Connection& connection, const PeerHello& hello) {
  if (faults_.drops(hello.node)) {
    connection.state = Silenced{clock_.now() + kGreetWithin};
    return true;
  }
  const Who who{hello.node, hello.boot, hello.channel};
  if (!make_room(who)) {
    refuse(id, connection, overloaded("other connections of this node are being greeted"));
    return false;
  }
  connection.state = Judged{who, clock_.now() + kJudgeWithin};
  reception_.on_hello(
      hello, [this, alive = std::weak_ptr<bool>(alive_), id, who](const Result<PeerWelcome>& answer) {
        if (!alive.expired()) answer_hello(id, who, answer);
      });
  return find(id) != nullptr;
}

// A greeting takes the place of an earlier one of the same life that is still being judged: its sender has
// given that up.
bool PeerDoor::make_room(const Who& who) {
  std::vector<ConnectionId> given_up;
  size_t others = 0;
  for (const auto& [id, connection] : connections_) {
    const auto* judged = std::get_if<Judged>(&connection.state);
    const auto* welcomed = std::get_if<Welcomed>(&connection.state);
    if (judged == nullptr && welcomed == nullptr) continue;
    const Who& other = judged != nullptr ? judged->who : welcomed->who;
    if (other.node != who.node || other.channel != who.channel) continue;
    if (judged != nullptr && other.boot == who.boot) {
      given_up.push_back(id);
    } else {
      ++others;
    }
  }
  for (const ConnectionId id : given_up) end(id);
  return others < kConnectionsPerChannelMax;
}

void PeerDoor::answer_hello(ConnectionId id, const Who& who, const Result<PeerWelcome>& answer) {
  Connection* connection = find(id);
  if (connection == nullptr || !std::holds_alternative<Judged>(connection->state)) return;
  if (faults_.drops(who.node)) {
    connection->state = Silenced{clock_.now() + kGreetWithin};
    return;
  }
  if (!answer.ok()) {
    ++statistics_.refused_greetings;
    if (said_.is_new(who.node, answer.status().message())) {
      log_.warning("node", cat("node ", hex(who.node.value), " at ", connection->from,
                               " isn't welcome: ", answer.status().message()));
    }
    codec_.encode_refusal(answer.status(), transport_.output(id));
    return end(id);
  }
  codec_.encode(*answer, transport_.output(id));
  if (who.channel == PeerChannel::kIdentify) return end(id);

  connection->state = Welcomed{who, {}};
  keep_only(who.node, who.boot);
  for (const auto& [older, other] : welcomed_of(who.node)) {
    if (older != id && other.channel == who.channel) end(older);
  }
}

bool PeerDoor::on_join(ConnectionId id, Connection& connection, const JoinRequest& request) {
  if (faults_.drops(request.node)) {
    connection.state = Silenced{clock_.now() + kGreetWithin};
    return true;
  }
  connection.state = Joining{clock_.now() + kJoinWithin};
  reception_.on_join(request, [this, alive = std::weak_ptr<bool>(alive_), id](const JoinAnswer& answer) {
    if (!alive.expired()) answer_join(id, answer);
  });
  return find(id) != nullptr;
}

void PeerDoor::answer_join(ConnectionId id, const JoinAnswer& answer) {
  const Connection* connection = find(id);
  if (connection == nullptr || !std::holds_alternative<Joining>(connection->state)) return;
  codec_.encode(answer, transport_.output(id));
  end(id);
}

// ---- messages

bool PeerDoor::on_message(ConnectionId id, Connection& connection, const Frame& frame) {
  auto& welcomed = std::get<Welcomed>(connection.state);
  const Who who = welcomed.who;
  if (faults_.drops(who.node)) {
    parts_bytes_ -= std::exchange(welcomed.parts, {}).size();
    return true;
  }
  if (frame.type == FrameType::kPeerValues) {
    const Status taken = take_part(welcomed, frame.values);
    if (taken.ok()) return true;
    refuse(id, connection, taken);
    return false;
  }

  parts_bytes_ -= welcomed.parts.size();
  Result<ReceivedPeerMessage> received =
      codec_.decode(frame, std::exchange(welcomed.parts, {}), clock_.now());
  const Status wrong = received.ok() ? check(who, received->message) : received.status();
  if (!wrong.ok()) {
    refuse(id, connection, wrong);
    return false;
  }
  reception_.on_peer_message(who.node, received->ring.lineage, received->ring.epoch,
                             std::move(received->message));
  return find(id) != nullptr;
}

Status PeerDoor::take_part(Welcomed& welcomed, std::string_view values) {
  if (welcomed.parts.size() + values.size() > kPeerMessageBytesMax)
    return invalid_argument(cat("a message of more than ", kPeerMessageBytesMax, " bytes"));
  if (parts_bytes_ + values.size() > kPartsBytesMax)
    return overloaded(cat("large messages of all nodes have more than ", human_bytes(kPartsBytesMax)));
  welcomed.parts.append(values);
  parts_bytes_ += values.size();
  return {};
}

Status PeerDoor::check(const Who& who, const PeerMessage& message) const {
  if (channel_of(message) != who.channel) return invalid_argument("a message on the wrong connection");
  const std::optional<NodeId> speaker = std::visit(SpeakerOf(), message);
  if (!speaker || *speaker == who.node) return {};
  return forbidden(
      cat("it has greeted as node ", hex(who.node.value), " and speaks as node ", hex(speaker->value)));
}

// ---- ending

void PeerDoor::keep_only(NodeId node, Boot boot) {
  for (const auto& [id, who] : welcomed_of(node)) {
    if (who.boot == boot) continue;
    const Status over =
        forbidden(cat("node ", hex(node.value), " has started anew; this life of it is over"));
    codec_.encode_refusal(over, transport_.output(id));
    end(id);
  }
}

void PeerDoor::refuse(NodeId node, const Status& why) {
  for (const auto& [id, who] : welcomed_of(node)) {
    codec_.encode_refusal(why, transport_.output(id));
    end(id);
  }
}

std::vector<std::pair<ConnectionId, PeerDoor::Who>> PeerDoor::welcomed_of(NodeId node) const {
  std::vector<std::pair<ConnectionId, Who>> found;
  for (const auto& [id, connection] : connections_) {
    const auto* welcomed = std::get_if<Welcomed>(&connection.state);
    if (welcomed != nullptr && welcomed->who.node == node) found.emplace_back(id, welcomed->who);
  }
  return found;
}

void PeerDoor::close_all() {
  for (const auto& [id, connection] : connections_) transport_.close(id);
  connections_.clear();
  parts_bytes_ = 0;
  statistics_.connections_now = 0;
}

void PeerDoor::refuse(ConnectionId id, const Connection& connection, const Status& why) {
  ++statistics_.refused_frames;
  log_.warning("node", cat("a node's connection from ", connection.from, " ended: ", escaped(why.message())));
  codec_.encode_refusal(why, transport_.output(id));
  end(id);
}

void PeerDoor::end(ConnectionId id) {
  transport_.close(id);
  on_closed(id, {});
}

void PeerDoor::on_closed(ConnectionId id, const Status&) {
  const auto found = connections_.find(id);
  if (found == connections_.end()) return;
  if (const auto* welcomed = std::get_if<Welcomed>(&found->second.state))
    parts_bytes_ -= welcomed->parts.size();
  connections_.erase(found);
  --statistics_.connections_now;
}

void PeerDoor::on_tick(Time now) {
  struct IsDue {
    Time now;
    bool operator()(const Ungreeted& state) const { return now >= state.greet_by; }
    bool operator()(const Judged& state) const { return now >= state.answer_by; }
    bool operator()(const Joining& state) const { return now >= state.answer_by; }
    bool operator()(const Silenced& state) const { return now >= state.until; }
    bool operator()(const Welcomed&) const { return false; }
  };
  std::vector<ConnectionId> due;
  for (const auto& [id, connection] : connections_) {
    if (std::visit(IsDue{now}, connection.state)) due.push_back(id);
  }
  for (const ConnectionId id : due) end(id);
}

}  // namespace ringkv
