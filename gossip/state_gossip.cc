#include "gossip/state_gossip.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace ringkv {
namespace {

constexpr uint64_t kDownTriedOnceIn = 4;  // rounds
constexpr size_t kStateNumbersBytes = 128;
constexpr size_t kNowhere = std::numeric_limits<size_t>::max();

size_t bytes_of(const PeerState& state) {
  return kStateNumbersBytes + state.peer_address.size() + state.client_address.size();
}

StateDigest digest_of(const PeerState& state) { return {state.node, state.generation, state.version}; }

}  // namespace

StateGossip::StateGossip(PeerState own, Duration round_interval, Random& random)
    : own_(std::move(own)), round_interval_(round_interval), random_(random) {}

void StateGossip::set_members(const std::vector<NodeId>& others) {
  std::vector<NodeId> nodes = others;
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  std::vector<Member> next;
  next.reserve(nodes.size());
  for (const NodeId node : nodes) {
    if (node == own_.node) continue;
    const size_t index = index_of(node, next.size());
    next.push_back(index == kNowhere ? Member{node, false, false, {}} : std::move(members_[index]));
  }
  members_ = std::move(next);
}

void StateGossip::tick(Time now, const std::vector<NodeId>& down, GossipOutbox& outbox) {
  if (!started_) {
    started_ = true;
    round_at_ = now + Duration(random_.below(static_cast<uint64_t>(round_interval_.count())));
  }
  if (now < round_at_) return;
  round_at_ = now + round_interval_;
  start_round(down, outbox);
}

void StateGossip::start_round(const std::vector<NodeId>& down, GossipOutbox& outbox) {
  std::vector<NodeId> up;
  std::vector<NodeId> silent;
  for (const Member& member : members_) {
    const bool is_down = std::binary_search(down.begin(), down.end(), member.node);
    (is_down ? silent : up).push_back(member.node);
  }
  if (!up.empty()) outbox.send(up[random_.below(up.size())], digests());
  if (!silent.empty() && (up.empty() || random_.one_in(kDownTriedOnceIn))) {
    outbox.send(silent[random_.below(silent.size())], digests());
  }
}

void StateGossip::on(NodeId from, const StateDigests& digests, GossipOutbox& outbox) {
  std::vector<const PeerState*> states;
  std::vector<NodeId> wanted;
  std::vector<bool> told(members_.size());
  bool own_told = false;
  size_t guess = 0;
  for (const StateDigest& digest : digests.digests) {
    const std::pair age{digest.generation, digest.version};
    if (digest.node == own_.node) {
      own_told = own_told || age >= own_.age();
      continue;
    }
    const size_t index = index_of(digest.node, guess);
    if (index == kNowhere || told[index]) continue;
    guess = index + 1;
    told[index] = true;
    const Member& member = members_[index];
    if (!member.heard || age > member.state.age()) {
      wanted.push_back(member.node);
    } else if (age < member.state.age()) {
      states.push_back(&member.state);
    }
  }
  for (size_t i = 0; i < members_.size(); ++i) {
    if (members_[i].heard && !told[i]) states.push_back(&members_[i].state);
  }
  if (!own_told) states.push_back(&own_);
  send(from, states, std::move(wanted), outbox);
}

void StateGossip::on(NodeId from, const StateDeltas& deltas, GossipOutbox& outbox) {
  for (const PeerState& state : deltas.states) learn(state);

  std::vector<NodeId> wanted = deltas.wanted;
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  std::vector<const PeerState*> states;
  for (const NodeId node : wanted) {
    if (const PeerState* state = find(node)) states.push_back(state);
  }
  send(from, states, {}, outbox);
}

void StateGossip::learn(const PeerState& state) {
  if (state.peer_address.size() > kStateAddressBytesMax) return;
  if (state.client_address.size() > kStateAddressBytesMax) return;
  const size_t index = index_of(state.node, 0);
  if (index == kNowhere) return;
  Member& member = members_[index];
  if (member.heard && state.age() <= member.state.age()) return;
  member.heard = true;
  member.changed = true;
  member.state = state;
  any_changed_ = true;
}

void StateGossip::set_own(PeerState own) {
  own.node = own_.node;
  own.boot = own_.boot;
  own.generation = own_.generation;
  own.version = own_.version;
  PeerState same_but_wall = own;
  same_but_wall.wall = own_.wall;
  if (same_but_wall == own_) return;
  ++own.version;
  own_ = std::move(own);
}

const PeerState* StateGossip::find(NodeId node) const {
  if (node == own_.node) return &own_;
  const size_t index = index_of(node, 0);
  return index == kNowhere || !members_[index].heard ? nullptr : &members_[index].state;
}

std::vector<PeerState> StateGossip::all() const {
  std::vector<PeerState> states{own_};
  for (const Member& member : members_) {
    if (member.heard) states.push_back(member.state);
  }
  std::sort(states.begin(), states.end(),
            [](const PeerState& a, const PeerState& b) { return a.node < b.node; });
  return states;
}

std::vector<NodeId> StateGossip::take_changed() {
  std::vector<NodeId> changed;
  if (!std::exchange(any_changed_, false)) return changed;
  for (Member& member : members_) {
    if (std::exchange(member.changed, false)) changed.push_back(member.node);
  }
  return changed;
}

// Digests come in the order of the members as a rule: then the guess is right and nothing is searched for.
size_t StateGossip::index_of(NodeId node, size_t guess) const {
  if (guess < members_.size() && members_[guess].node == node) return guess;
  const auto at = std::lower_bound(members_.begin(), members_.end(), node,
                                   [](const Member& member, NodeId wanted) { return member.node < wanted; });
  if (at == members_.end() || at->node != node) return kNowhere;
  return static_cast<size_t>(at - members_.begin());
}

StateDigests StateGossip::digests() const {
  StateDigests all;
  all.digests.reserve(members_.size() + 1);
  for (const Member& member : members_) {
    if (member.heard) all.digests.push_back(digest_of(member.state));
  }
  all.digests.push_back(digest_of(own_));
  return all;
}

void StateGossip::send(NodeId to, const std::vector<const PeerState*>& states, std::vector<NodeId> wanted,
                       GossipOutbox& outbox) const {
  StateDeltas page{{}, std::move(wanted)};
  size_t bytes = 0;
  for (const PeerState* state : states) {
    page.states.push_back(*state);
    bytes += bytes_of(*state);
    if (bytes < kStateDeltasBytes) continue;
    outbox.send(to, std::exchange(page, {}));
    bytes = 0;
  }
  if (!page.states.empty() || !page.wanted.empty()) outbox.send(to, std::move(page));
}

}  // namespace ringkv
