// Nodes that have nothing but a failure detector and their state gossip, over a virtual clock and a network
// that behaves like TCP: in order for each pair and direction, a lost segment delays it and all behind it by
// retransmissions, a cut swallows what is sent during it.
#pragma once

#include <algorithm>
#include <memory>
#include <queue>
#include <utility>
#include <variant>
#include <vector>

#include "base/random.h"
#include "gossip/failure_detector.h"
#include "gossip/state_gossip.h"

namespace ringkv {

class LivenessNetwork {
 public:
  struct Settings {
    size_t nodes = 3;
    uint64_t seed = 1;
    double loss = 0;  // of segments; each loss of one doubles the wait for the next try
    Duration tick = std::chrono::milliseconds(10);
    bool detectors = true;
    bool gossips = true;
  };

  static constexpr Duration kLatencyMin = std::chrono::microseconds(100);
  static constexpr Duration kLatencySpread = std::chrono::microseconds(1900);
  static constexpr Duration kRetransmissionTimeout = std::chrono::milliseconds(200);

  explicit LivenessNetwork(const Settings& settings)
      : settings_(settings),
        random_(settings.seed * 1'000'003),
        arrived_(settings.nodes * settings.nodes),
        cut_(settings.nodes * settings.nodes) {
    for (size_t i = 0; i < settings.nodes; ++i) {
      nodes_.push_back(std::make_unique<SimulatedNode>(settings.seed * 4096 + i));
      nodes_[i]->generation = 1;
      start(i);
    }
  }

  Time now() const { return now_; }
  size_t size() const { return nodes_.size(); }
  static NodeId id(size_t node) { return NodeId{100 + node}; }
  FailureDetector& detector(size_t node) { return *nodes_[node]->detector; }
  StateGossip& gossip(size_t node) { return *nodes_[node]->gossip; }
  Health health(size_t of, size_t at) { return detector(at).health(id(of)); }

  void run_for(Duration duration) {
    const Time until = now_ + duration;
    while (now_ < until) step();
  }
  // How long it took; `longest` if it never came to be.
  template <class Condition>
  Duration run_until(Condition condition, Duration longest) {
    const Time start = now_;
    while (now_ - start < longest && !condition()) step();
    return now_ - start;
  }

  void cut(size_t from, size_t to) { cut_[from * size() + to] = true; }
  void cut_pair(size_t a, size_t b) {
    cut(a, b);
    cut(b, a);
  }
  void heal() { std::fill(cut_.begin(), cut_.end(), false); }

  void stop(size_t node) { nodes_[node]->state = Running::kStopped; }
  void freeze(size_t node) { nodes_[node]->state = Running::kFrozen; }
  // Whether its loop looks at its timers or at its sockets first is chance.
  void thaw(size_t node) {
    nodes_[node]->state = Running::kRunning;
    if (random_.one_in(2)) tick(node);
    for (Delivery& delivery : std::exchange(nodes_[node]->backlog, {})) deliver(std::move(delivery));
  }
  // A new life; the others hear of it by its greeting, or have to learn it from its claims.
  void restart(size_t node, uint64_t generation, bool greets) {
    nodes_[node]->generation = generation;
    nodes_[node]->backlog.clear();
    start(node);
    for (size_t at = 0; greets && at < size(); ++at) {
      if (at == node || nodes_[at]->state != Running::kRunning) continue;
      detector(at).on_greeted(id(node), generation, now_);
      detector(node).on_greeted(id(at), nodes_[at]->generation, now_);
    }
  }

  uint64_t downs() {
    uint64_t sum = 0;
    for (size_t i = 0; i < size(); ++i) sum += detector(i).statistics().down;
    return sum;
  }
  uint64_t suspicions() {
    uint64_t sum = 0;
    for (size_t i = 0; i < size(); ++i) sum += detector(i).statistics().suspected;
    return sum;
  }
  // Every node that runs believes `health` of `node`.
  bool all_believe(size_t node, Health health) {
    for (size_t at = 0; at < size(); ++at) {
      if (at == node || nodes_[at]->state == Running::kStopped) continue;
      if (this->health(node, at) != health) return false;
    }
    return true;
  }
  bool all_alive() {
    for (size_t node = 0; node < size(); ++node) {
      if (!all_believe(node, Health::kAlive)) return false;
    }
    return true;
  }
  bool all_know(const PeerState& state) {
    for (size_t at = 0; at < size(); ++at) {
      const PeerState* known = gossip(at).find(state.node);
      if (known == nullptr || *known != state) return false;
    }
    return true;
  }

 private:
  enum class Running { kRunning, kFrozen, kStopped };
  struct Delivery {
    Time at;
    uint64_t order = 0;
    size_t from = 0;
    size_t to = 0;
    GossipMessage message;
  };
  struct Later {
    bool operator()(const Delivery& a, const Delivery& b) const {
      return std::pair{a.at, a.order} > std::pair{b.at, b.order};
    }
  };
  struct SimulatedNode {
    explicit SimulatedNode(uint64_t seed) : random(seed) {}

    SeededRandom random;
    uint64_t generation = 1;
    Running state = Running::kRunning;
    std::unique_ptr<FailureDetector> detector;
    std::unique_ptr<StateGossip> gossip;
    std::vector<Delivery> backlog;
  };

  void start(size_t node) {
    SimulatedNode& starting = *nodes_[node];
    std::vector<NodeId> others;
    for (size_t i = 0; i < settings_.nodes; ++i) {
      if (i != node) others.push_back(id(i));
    }
    starting.state = Running::kRunning;
    starting.detector = std::make_unique<FailureDetector>(id(node), starting.generation,
                                                          FailureDetector::Settings{}, starting.random);
    starting.detector->set_members(others, now_);
    PeerState own;
    own.node = id(node);
    own.boot = Boot{starting.random.next()};
    own.generation = starting.generation;
    starting.gossip = std::make_unique<StateGossip>(std::move(own), std::chrono::seconds(1), starting.random);
    starting.gossip->set_members(others);
  }

  void step() {
    const Time until = now_ + settings_.tick;
    while (!flying_.empty() && flying_.front().at <= until) {
      std::pop_heap(flying_.begin(), flying_.end(), Later());
      Delivery delivery = std::move(flying_.back());
      flying_.pop_back();
      now_ = delivery.at;
      arrive(std::move(delivery));
    }
    now_ = until;
    for (size_t i = 0; i < size(); ++i) {
      if (nodes_[i]->state == Running::kRunning) tick(i);
    }
  }

  void tick(size_t node) {
    SimulatedNode& ticking = *nodes_[node];
    if (settings_.detectors) ticking.detector->tick({now_, 0}, outbox_);
    if (settings_.gossips) ticking.gossip->tick(now_, ticking.detector->down(), outbox_);
    send_from(node);
  }

  void arrive(Delivery delivery) {
    SimulatedNode& receiver = *nodes_[delivery.to];
    if (receiver.state == Running::kFrozen)
      receiver.backlog.push_back(std::move(delivery));
    else if (receiver.state == Running::kRunning)
      deliver(std::move(delivery));
  }

  void deliver(Delivery delivery) {
    SimulatedNode& receiver = *nodes_[delivery.to];
    const NodeId from = id(delivery.from);
    if (const auto* probe = std::get_if<Probe>(&delivery.message)) {
      receiver.detector->on(from, *probe, {now_, 0}, outbox_);
    } else if (const auto* ack = std::get_if<ProbeAck>(&delivery.message)) {
      receiver.detector->on(from, *ack, {now_, 0}, outbox_);
    } else if (const auto* request = std::get_if<ProbeRequest>(&delivery.message)) {
      receiver.detector->on(from, *request, {now_, 0}, outbox_);
    } else if (const auto* digests = std::get_if<StateDigests>(&delivery.message)) {
      receiver.gossip->on(from, *digests, outbox_);
    } else if (const auto* deltas = std::get_if<StateDeltas>(&delivery.message)) {
      receiver.gossip->on(from, *deltas, outbox_);
    }
    send_from(delivery.to);
  }

  void send_from(size_t from) {
    for (GossipOutbox::Envelope& envelope : outbox_.envelopes()) {
      const size_t to = envelope.to.value - id(0).value;
      if (cut_[from * size() + to]) continue;
      Time& arrived = arrived_[from * size() + to];
      arrived = std::max(arrived, now_ + latency());
      flying_.push_back({arrived, ++order_, from, to, std::move(envelope.message)});
      std::push_heap(flying_.begin(), flying_.end(), Later());
    }
    outbox_.clear();
  }

  Duration latency() {
    Duration latency = kLatencyMin + Duration(random_.below(static_cast<uint64_t>(kLatencySpread.count())));
    for (Duration wait = kRetransmissionTimeout; random_.unit() < settings_.loss; wait *= 2) latency += wait;
    return latency;
  }

  const Settings settings_;
  SeededRandom random_;
  Time now_{};
  uint64_t order_ = 0;
  std::vector<std::unique_ptr<SimulatedNode>> nodes_;
  std::vector<Time> arrived_;     // by pair: the latest arrival, which nothing overtakes
  std::vector<bool> cut_;         // by pair
  std::vector<Delivery> flying_;  // a heap, soonest first
  GossipOutbox outbox_;
};

}  // namespace ringkv
