// Gossip and agreement.
#include "base/ring_description.h"
#include "node/peer_codec_bodies.h"
#include "node/peer_wire.pb.h"

namespace ringkv {
namespace {

// Members, and those that were just removed.
constexpr size_t kListMax = size_t{2} * kMembersMax;

template <class Body>
void fill_claims(const std::vector<HealthClaim>& claims, Body& body) {
  for (const HealthClaim& claim : claims) {
    peer_wire::HealthClaim& item = *body.add_claims();
    item.set_node(claim.node.value);
    item.set_generation(claim.generation);
    item.set_incarnation(claim.incarnation);
    item.set_health(static_cast<uint32_t>(claim.health));
    item.set_accuser(claim.accuser.value);
  }
}

template <class Body>
std::vector<HealthClaim> claims_from(const Body& body, PeerIncoming& in) {
  std::vector<HealthClaim> claims;
  if (!in.count(body.claims_size(), kListMax, "claims")) return claims;
  claims.reserve(static_cast<size_t>(body.claims_size()));
  for (const peer_wire::HealthClaim& item : body.claims()) {
    claims.push_back({{item.node()},
                      item.generation(),
                      item.incarnation(),
                      in.choice(item.health(), Health::kDown, "health"),
                      {item.accuser()}});
  }
  return claims;
}

void fill_ballot(const Ballot& ballot, peer_wire::Ballot& body) {
  body.set_round(ballot.round);
  body.set_node(ballot.node.value);
  body.set_boot(ballot.boot.value);
}

Ballot ballot_from(const peer_wire::Ballot& body) { return {body.round(), {body.node()}, {body.boot()}}; }

void fill_voter(const Voter& voter, peer_wire::Voter& body) {
  body.set_node(voter.node.value);
  body.set_disk(voter.disk.value);
  body.set_boot(voter.boot.value);
}

Voter voter_from(const peer_wire::Voter& body) { return {{body.node()}, {body.disk()}, {body.boot()}}; }

}  // namespace

// ---- liveness

void fill(const Probe& probe, peer_wire::Probe& body) {
  body.set_sequence(probe.sequence);
  body.set_wall(probe.wall);
  fill_claims(probe.claims, body);
}

Probe from_body(const peer_wire::Probe& body, PeerIncoming& in) {
  return {body.sequence(), claims_from(body, in), body.wall()};
}

void fill(const ProbeAck& ack, peer_wire::ProbeAck& body) {
  body.set_sequence(ack.sequence);
  body.set_target(ack.target.value);
  body.set_wall(ack.wall);
  fill_claims(ack.claims, body);
}

ProbeAck from_body(const peer_wire::ProbeAck& body, PeerIncoming& in) {
  return {body.sequence(), {body.target()}, claims_from(body, in), body.wall()};
}

void fill(const ProbeRequest& request, peer_wire::ProbeRequest& body) {
  body.set_sequence(request.sequence);
  body.set_target(request.target.value);
  fill_claims(request.claims, body);
}

ProbeRequest from_body(const peer_wire::ProbeRequest& body, PeerIncoming& in) {
  return {body.sequence(), {body.target()}, claims_from(body, in)};
}

// ---- state

void fill(const PeerState& state, peer_wire::PeerState& body) {
  body.set_node(state.node.value);
  body.set_boot(state.boot.value);
  body.set_generation(state.generation);
  body.set_version(state.version);
  body.set_peer_address(state.peer_address);
  body.set_client_address(state.client_address);
  body.set_epoch(state.epoch);
  body.set_wall(state.wall);
  body.set_keys(state.keys);
  body.set_bytes(state.bytes);
  body.set_hints(state.hints);
  body.set_hint_bytes(state.hint_bytes);
  body.set_lag_ms(state.lag_ms);
  body.set_incomplete_partitions(state.incomplete_partitions);
  body.set_boots_met(state.boots_met);
  body.set_boots_without_hints(state.boots_without_hints);
  body.set_ready_epoch(state.ready_epoch);
  body.set_former_partitions(state.former_partitions);
  body.set_former_untaken(state.former_untaken);
  body.set_takeover_partitions(state.takeover_partitions);
  body.set_takeover_ready(state.takeover_ready);
  body.set_bears(state.bears);
  body.set_taken_in(state.taken_in);
  body.set_transfer_limit(state.transfer_limit);
  body.set_transfer_limit_set_at(state.transfer_limit_set_at);
  for (const NodeId node : state.given_up) body.add_given_up(node.value);
}

PeerState from_body(const peer_wire::PeerState& body, PeerIncoming& in) {
  PeerState state;
  state.node.value = body.node();
  state.boot.value = body.boot();
  state.generation = body.generation();
  state.version = body.version();
  state.peer_address = in.text(body.peer_address(), kAddressBytesMax, "peer address");
  state.client_address = in.text(body.client_address(), kAddressBytesMax, "client address");
  state.epoch = body.epoch();
  state.wall = body.wall();
  state.keys = body.keys();
  state.bytes = body.bytes();
  state.hints = body.hints();
  state.hint_bytes = body.hint_bytes();
  state.lag_ms = body.lag_ms();
  state.incomplete_partitions = body.incomplete_partitions();
  state.boots_met = body.boots_met();
  state.boots_without_hints = body.boots_without_hints();
  state.ready_epoch = body.ready_epoch();
  state.former_partitions = body.former_partitions();
  state.former_untaken = body.former_untaken();
  state.takeover_partitions = body.takeover_partitions();
  state.takeover_ready = body.takeover_ready();
  state.bears = body.bears();
  state.taken_in = body.taken_in();
  state.transfer_limit = body.transfer_limit();
  state.transfer_limit_set_at = body.transfer_limit_set_at();
  if (in.count(body.given_up_size(), kGivenUpMax, "given up members")) {
    for (const uint64_t node : body.given_up()) state.given_up.push_back({node});
  }
  return state;
}

void fill(const StateDigests& digests, peer_wire::StateDigests& body) {
  for (const StateDigest& digest : digests.digests) {
    peer_wire::StateDigest& item = *body.add_digests();
    item.set_node(digest.node.value);
    item.set_generation(digest.generation);
    item.set_version(digest.version);
  }
}

StateDigests from_body(const peer_wire::StateDigests& body, PeerIncoming& in) {
  StateDigests digests;
  if (!in.count(body.digests_size(), kListMax, "digests")) return digests;
  digests.digests.reserve(static_cast<size_t>(body.digests_size()));
  for (const peer_wire::StateDigest& item : body.digests())
    digests.digests.push_back({{item.node()}, item.generation(), item.version()});
  return digests;
}

void fill(const StateDeltas& deltas, peer_wire::StateDeltas& body) {
  for (const PeerState& state : deltas.states) fill(state, *body.add_states());
  for (const NodeId node : deltas.wanted) body.add_wanted(node.value);
}

StateDeltas from_body(const peer_wire::StateDeltas& body, PeerIncoming& in) {
  StateDeltas deltas;
  if (!in.count(body.states_size(), kListMax, "states") || !in.count(body.wanted_size(), kListMax, "wishes"))
    return deltas;
  deltas.states.reserve(static_cast<size_t>(body.states_size()));
  for (const peer_wire::PeerState& item : body.states()) deltas.states.push_back(from_body(item, in));
  deltas.wanted.reserve(static_cast<size_t>(body.wanted_size()));
  for (const uint64_t node : body.wanted()) deltas.wanted.push_back(NodeId{node});
  return deltas;
}

// ---- rings and agreement

void fill(const RingWanted&, peer_wire::RingWanted&) {}
RingWanted from_body(const peer_wire::RingWanted&, PeerIncoming&) { return {}; }

void fill(const RingChosen& chosen, peer_wire::RingChosen& body) {
  body.set_chosen_lineage(chosen.lineage);
  body.set_chosen_epoch(chosen.epoch);
}

Status append_values(const RingChosen& chosen, WireCodec&, std::string& out) {
  out.append(chosen.description);
  return {};
}

RingChosen from_body(const peer_wire::RingChosen& body, PeerIncoming& in) {
  return {body.chosen_lineage(), body.chosen_epoch(), in.take_all_values()};
}

void fill(const Prepare& prepare, peer_wire::Prepare& body) {
  body.set_epoch(prepare.epoch);
  body.set_follows(prepare.follows);
  fill_ballot(prepare.ballot, *body.mutable_ballot());
}

Prepare from_body(const peer_wire::Prepare& body, PeerIncoming& in) {
  return {body.epoch(), in.text(body.follows(), kDigestBytesMax, "digest"), ballot_from(body.ballot())};
}

void fill(const Promise& promise, peer_wire::Promise& body) {
  body.set_epoch(promise.epoch);
  fill_ballot(promise.ballot, *body.mutable_ballot());
  fill_voter(promise.voter, *body.mutable_voter());
  fill_ballot(promise.promised, *body.mutable_promised());
  fill_ballot(promise.accepted, *body.mutable_accepted());
}

Status append_values(const Promise& promise, WireCodec&, std::string& out) {
  out.append(promise.value);
  return {};
}

Promise from_body(const peer_wire::Promise& body, PeerIncoming& in) {
  return {body.epoch(),
          ballot_from(body.ballot()),
          voter_from(body.voter()),
          ballot_from(body.promised()),
          ballot_from(body.accepted()),
          in.take_all_values()};
}

void fill(const Accept& accept, peer_wire::Accept& body) {
  body.set_epoch(accept.epoch);
  body.set_follows(accept.follows);
  fill_ballot(accept.ballot, *body.mutable_ballot());
}

Status append_values(const Accept& accept, WireCodec&, std::string& out) {
  out.append(accept.value);
  return {};
}

Accept from_body(const peer_wire::Accept& body, PeerIncoming& in) {
  return {body.epoch(), in.text(body.follows(), kDigestBytesMax, "digest"), ballot_from(body.ballot()),
          in.take_all_values()};
}

void fill(const Accepted& accepted, peer_wire::Accepted& body) {
  body.set_epoch(accepted.epoch);
  fill_ballot(accepted.ballot, *body.mutable_ballot());
  fill_voter(accepted.voter, *body.mutable_voter());
  fill_ballot(accepted.promised, *body.mutable_promised());
}

Accepted from_body(const peer_wire::Accepted& body, PeerIncoming&) {
  return {body.epoch(), ballot_from(body.ballot()), voter_from(body.voter()), ballot_from(body.promised())};
}

}  // namespace ringkv
