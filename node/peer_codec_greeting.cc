// Greetings and joins.
#include <utility>

#include "base/ring_description.h"
#include "gossip/peer_book.h"
#include "node/peer_codec.h"
#include "node/peer_codec_bodies.h"
#include "node/peer_codec_frames.h"
#include "node/peer_wire.pb.h"

namespace ringkv {
namespace {

template <class Body>
void write_frame(const Body& body, FrameType type, uint64_t epoch, std::string& out) {
  FrameWriter frame(out, type, 0, epoch);
  body.AppendToString(&out);
  frame.finish();
}

// What a node of a later release may say is a refusal nevertheless.
Status refusal_from(const Frame& frame) {
  peer_wire::Status body;
  Status parsed = parse_peer_body(frame, FrameType::kPeerRefused, body);
  if (!parsed.ok()) return parsed;
  const bool known = body.code() > 0 && body.code() <= static_cast<uint32_t>(StatusCode::kOutOfSpace);
  return {known ? static_cast<StatusCode>(body.code()) : StatusCode::kForbidden,
          body.message().substr(0, kStatusMessageBytesMax)};
}

}  // namespace

void PeerCodec::encode(const PeerHello& hello, std::string& out) {
  peer_wire::Hello body;
  body.set_protocol(hello.protocol);
  body.set_format(hello.format);
  body.set_cluster(hello.cluster.value);
  body.set_node(hello.node.value);
  body.set_disk(hello.disk.value);
  body.set_boot(hello.boot.value);
  body.set_generation(hello.generation);
  body.set_name(hello.name);
  body.set_peer_address(hello.peer_address);
  body.set_client_address(hello.client_address);
  body.set_to(hello.to.value);
  body.set_channel(static_cast<uint32_t>(hello.channel));
  body.set_lineage(hello.lineage);
  write_frame(body, FrameType::kPeerHello, hello.epoch, out);
}

Result<PeerHello> PeerCodec::decode_hello(const Frame& frame) {
  peer_wire::Hello body;
  const Status parsed = parse_peer_body(frame, FrameType::kPeerHello, body);
  if (!parsed.ok()) return parsed;
  PeerIncoming in(frame.values, {}, client_codec_);
  PeerHello hello;
  hello.protocol = body.protocol();
  hello.format = body.format();
  hello.cluster.value = body.cluster();
  hello.node.value = body.node();
  hello.disk.value = body.disk();
  hello.boot.value = body.boot();
  hello.generation = body.generation();
  hello.name = in.text(body.name(), kNameBytesMax, "name");
  hello.peer_address = in.text(body.peer_address(), kAddressBytesMax, "peer address");
  hello.client_address = in.text(body.client_address(), kAddressBytesMax, "client address");
  hello.to.value = body.to();
  hello.channel = in.choice(body.channel(), PeerChannel::kIdentify, "channel");
  hello.lineage = body.lineage();
  hello.epoch = frame.epoch;
  if (!hello.node || !hello.boot) in.fail("identity");
  const Status read = in.result();
  if (!read.ok()) return read;
  return hello;
}

void PeerCodec::encode(const PeerWelcome& welcome, std::string& out) {
  peer_wire::Welcome body;
  body.set_cluster(welcome.cluster.value);
  body.set_node(welcome.node.value);
  body.set_disk(welcome.disk.value);
  body.set_boot(welcome.boot.value);
  body.set_generation(welcome.generation);
  body.set_name(welcome.name);
  body.set_generation_known(welcome.generation_known);
  body.set_wall(welcome.wall);
  for (const Boot boot : welcome.boots_known) body.add_boots_known(boot.value);
  body.set_lineage(welcome.lineage);
  write_frame(body, FrameType::kPeerWelcome, welcome.epoch, out);
}

Result<PeerWelcome> PeerCodec::decode_welcome(const Frame& frame) {
  if (frame.type == FrameType::kPeerRefused) return refusal_from(frame);
  peer_wire::Welcome body;
  const Status parsed = parse_peer_body(frame, FrameType::kPeerWelcome, body);
  if (!parsed.ok()) return parsed;
  PeerIncoming in(frame.values, {}, client_codec_);
  PeerWelcome welcome;
  welcome.cluster.value = body.cluster();
  welcome.node.value = body.node();
  welcome.disk.value = body.disk();
  welcome.boot.value = body.boot();
  welcome.generation = body.generation();
  welcome.name = in.text(body.name(), kNameBytesMax, "name");
  welcome.lineage = body.lineage();
  welcome.epoch = frame.epoch;
  welcome.generation_known = body.generation_known();
  welcome.wall = body.wall();
  if (static_cast<size_t>(body.boots_known_size()) > kEarlierBootsMax) in.fail("earlier boots");
  for (const uint64_t boot : body.boots_known()) welcome.boots_known.push_back({boot});
  const Status read = in.result();
  if (!read.ok()) return read;
  return welcome;
}

void PeerCodec::encode_refusal(const Status& why, std::string& out) {
  peer_wire::Status body;
  fill_status(why, body);
  write_frame(body, FrameType::kPeerRefused, 0, out);
}

void PeerCodec::encode(const JoinRequest& request, std::string& out) {
  peer_wire::JoinRequest body;
  body.set_protocol(request.protocol);
  body.set_format(request.format);
  body.set_node(request.node.value);
  body.set_disk(request.disk.value);
  body.set_boot(request.boot.value);
  body.set_name(request.name);
  body.set_rack(request.rack);
  body.set_weight(request.weight);
  body.set_peer_address(request.peer_address);
  body.set_client_address(request.client_address);
  if (request.replicas) body.set_replicas(*request.replicas);
  if (request.partitions) body.set_partitions(*request.partitions);
  if (request.placer) body.set_placer(static_cast<uint32_t>(*request.placer));
  body.set_plan_only(request.plan_only);
  write_frame(body, FrameType::kJoinRequest, 0, out);
}

Result<JoinRequest> PeerCodec::decode_join(const Frame& frame) {
  peer_wire::JoinRequest body;
  const Status parsed = parse_peer_body(frame, FrameType::kJoinRequest, body);
  if (!parsed.ok()) return parsed;
  PeerIncoming in(frame.values, {}, client_codec_);
  JoinRequest request;
  request.protocol = body.protocol();
  request.format = body.format();
  request.node.value = body.node();
  request.disk.value = body.disk();
  request.boot.value = body.boot();
  request.name = in.text(body.name(), kNameBytesMax, "name");
  request.rack = in.text(body.rack(), kNameBytesMax, "rack");
  request.weight = body.weight();
  request.peer_address = in.text(body.peer_address(), kAddressBytesMax, "peer address");
  request.client_address = in.text(body.client_address(), kAddressBytesMax, "client address");
  if (body.has_replicas()) request.replicas = body.replicas();
  if (body.has_partitions()) request.partitions = body.partitions();
  if (body.has_placer()) request.placer = in.choice(body.placer(), PlacerKind::kHashed, "placer");
  request.plan_only = body.plan_only();
  if (!request.node || !request.boot) in.fail("identity");
  if (!(request.weight > 0 && request.weight <= 100)) in.fail("weight");
  const Status read = in.result();
  if (!read.ok()) return read;
  return request;
}

void PeerCodec::encode(const JoinAnswer& answer, std::string& out) {
  peer_wire::JoinAnswer body;
  if (!answer.status.ok()) fill_status(answer.status, *body.mutable_status());
  for (const PeerState& peer : answer.peers) fill(peer, *body.add_peers());
  body.set_not_yet(answer.not_yet);
  PeerFrameWriter frame(out, FrameType::kJoinAnswer, 0, 0);
  body.AppendToString(&out);
  frame.begin_values();
  out.append(answer.description);
  const Status written = frame.finish();
  if (!written.ok()) encode(JoinAnswer{written, {}, {}}, out);
}

Result<JoinAnswer> PeerCodec::decode_join_answer(const Frame& frame, std::string earlier_values) {
  if (frame.type == FrameType::kPeerRefused) return refusal_from(frame);
  peer_wire::JoinAnswer body;
  const Status parsed = parse_peer_body(frame, FrameType::kJoinAnswer, body);
  if (!parsed.ok()) return parsed;
  PeerIncoming in(frame.values, std::move(earlier_values), client_codec_);
  JoinAnswer answer;
  if (body.has_status()) answer.status = in.status(body.status());
  if (in.count(body.peers_size(), kMembersMax, "peers")) {
    answer.peers.reserve(static_cast<size_t>(body.peers_size()));
    for (const peer_wire::PeerState& peer : body.peers()) answer.peers.push_back(from_body(peer, in));
  }
  answer.not_yet = body.not_yet();
  answer.description = in.take_all_values();
  const Status read = in.result();
  if (!read.ok()) return read;
  return answer;
}

}  // namespace ringkv
