#include "node/cluster_member.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "base/text.h"

namespace ringkv {
namespace {

constexpr Duration kGreetWithin = std::chrono::seconds(3);
constexpr Duration kTwinAnswersWithin = std::chrono::milliseconds(500);
constexpr Duration kJoinDecidedWithin = std::chrono::seconds(20);
constexpr Duration kStatePause = std::chrono::seconds(1);
constexpr uint64_t kGenerationMax = uint64_t{1} << 62;
constexpr Duration kGossipRound = std::chrono::seconds(1);
template <class Body>
constexpr bool kOfGossip = std::is_constructible_v<GossipMessage, Body>;

Electorate electorate_of(const Ring& ring) {
  Electorate electorate{
      .lineage = ring.description().lineage, .epoch = ring.epoch(), .digest = ring.digest(), .seats = {}};
  for (const Member& member : ring.description().members) {
    if (member.voter) electorate.seats.push_back({member.node, member.disk});
  }
  return electorate;
}

Voter voter_of(const PeerHello& self) { return {self.node, self.disk, self.boot}; }

PeerWelcome identity_of(const PeerHello& self) {
  return {.cluster = self.cluster,
          .node = self.node,
          .disk = self.disk,
          .boot = self.boot,
          .generation = self.generation,
          .name = self.name};
}

}  // namespace

Result<std::unique_ptr<ClusterMember>> ClusterMember::make(Environment& environment, Settings settings,
                                                           Life& life, PeerLinks& links,
                                                           Callbacks callbacks) {
  PeerBook book(identity_of(settings.self),
                {.protocol = settings.self.protocol, .format = settings.self.format});
  if (Status status = book.load(settings.peers_record); !status.ok()) return status;
  // The register asks the book, which moves into the member: through a pointer that is set afterwards.
  auto member_or_none = std::make_shared<ClusterMember*>(nullptr);
  Result<EpochRegister> epochs = EpochRegister::open(
      voter_of(settings.self), electorate_of(life.ring()), settings.acceptor_record,
      [member_or_none, self = settings.self](NodeId node) {
        if (node == self.node) return self.boot;
        const PeerBook::Entry* known =
            *member_or_none == nullptr ? nullptr : (*member_or_none)->book_.find(node);
        return known == nullptr ? Boot() : known->boot;
      },
      environment.random);
  if (!epochs.ok()) return epochs.status();
  std::unique_ptr<ClusterMember> member(new ClusterMember(environment, std::move(settings), life, links,
                                                          std::move(book), *std::move(epochs),
                                                          std::move(callbacks)));
  *member_or_none = member.get();
  return member;
}

ClusterMember::ClusterMember(Environment& environment, Settings settings, Life& life, PeerLinks& links,
                             PeerBook book, EpochRegister epochs, Callbacks callbacks)
    : environment_(environment),
      settings_(std::move(settings)),
      life_(life),
      links_(links),
      callbacks_(std::move(callbacks)),
      book_(std::move(book)),
      register_(std::move(epochs)),
      changer_(register_,
               [this](NodeId node) {
                 const Member* member = ring().description().find_member(node);
                 return member == nullptr ? hex(node.value) : member->name;
               }),
      newcomers_({.ring = [this]() -> const Ring& { return ring(); },
                  .health = [this](NodeId node) { return detector_->health(node); },
                  .address = [this](NodeId node) { return address_of(node); },
                  .states = [this] { return gossip_->all(); },
                  .change_ring =
                      [this](RingEdit edit, RingChanger::Done done) {
                        change_ring(std::move(edit), environment_.clock.now() + kJoinDecidedWithin,
                                    std::move(done));
                      },
                  .learn =
                      [this](const PeerState& state) {
                        gossip_->learn(state);
                        learn_addresses();
                      }},
                 links),
      gate_(
          settings_.self.node,
          [this](NodeId from, PeerMessage message) { life_.on_peer_message(from, std::move(message)); },
          [this](NodeId to, const PeerMessage& message) { send(to, message); }) {
  epoch_on_disk_ = ring().epoch();
  make_cores(settings_.self.generation);
  for (const PeerState& peer : settings_.peers) gossip_->learn(peer);
  for (const auto& [node, known] : book_.entries()) links_.set_address(node, known.peer_address);
  learn_addresses();
}

ClusterMember::~ClusterMember() { *alive_ = false; }

void ClusterMember::make_cores(uint64_t generation) {
  generation_ = generation;
  detector_ = std::make_unique<FailureDetector>(settings_.self.node, generation, FailureDetector::Settings(),
                                                environment_.random);
  std::vector<PeerState> known;
  if (gossip_ != nullptr) known = gossip_->all();
  gossip_ = std::make_unique<StateGossip>(own_state(), kGossipRound, environment_.random);
  take_members();
  for (const PeerState& state : known) {
    if (state.node != settings_.self.node) gossip_->learn(state);
  }
}

std::vector<NodeId> ClusterMember::others() const {
  std::vector<NodeId> nodes;
  for (const Member& member : ring().description().members) {
    if (member.node != settings_.self.node) nodes.push_back(member.node);
  }
  return nodes;
}

void ClusterMember::take_members() {
  detector_->set_members(others(), environment_.clock.now());
  gossip_->set_members(others());
}

PeerState ClusterMember::own_state() const {
  return {.node = settings_.self.node,
          .boot = settings_.self.boot,
          .generation = generation_,
          .peer_address = settings_.self.peer_address,
          .client_address = settings_.self.client_address,
          .epoch = epoch_on_disk_,
          .wall = environment_.clock.wall_now(),
          .keys = life_.store().leaves().keys(),
          .bytes = life_.store().leaves().bytes()};
}

template <class Call>
void ClusterMember::with_outbox(Call call) {
  GossipOutbox outbox;
  call(outbox);
  changer_.start(ring(), environment_.clock.now(), outbox);
  if (!outbox.empty()) life_.perform(outbox);
}

// ---- Greetings

PeerHello ClusterMember::hello() const {
  PeerHello hello = settings_.self;
  hello.generation = generation_;
  hello.lineage = ring().description().lineage;
  hello.epoch = ring().epoch();
  return hello;
}

PeerWelcome ClusterMember::welcome_for(const PeerHello& hello) const {
  PeerWelcome welcome = identity_of(settings_.self);
  welcome.generation = generation_;
  welcome.lineage = ring().description().lineage;
  welcome.epoch = ring().epoch();
  // Of its earlier lives: a generation that it has itself now is no reason for a later one.
  const PeerBook::Entry* known = book_.find(hello.node);
  if (known != nullptr && known->boot != hello.boot) welcome.generation_known = known->generation;
  return welcome;
}

void ClusterMember::start(std::function<void(Status)> greeted) {
  for (const Address& seed : settings_.seeds) {
    links_.identify(seed, {}, kGreetWithin, [this, alive = alive_, seed](const Result<PeerWelcome>& found) {
      if (*alive) on_seed(seed, found);
    });
  }
  for (const NodeId node : others()) links_.greet(node);
  introduction_.begin(others(), settings_.seeds.size(), environment_.clock.now() + kGreetWithin,
                      std::move(greeted));
}

// A seed may know where the others are now, when all that this disk remembers has moved; and it shows when
// this directory has been pointed at another cluster.
void ClusterMember::on_seed(const Address& seed, const Result<PeerWelcome>& found) {
  if (found.ok() && found->cluster && found->cluster != settings_.self.cluster) {
    return introduction_.on_foreign_seed(
        forbidden(cat(settings_.self.name, " is a member of cluster ", hex(settings_.self.cluster.value),
                      ", and ", found->name, " at ", seed, " of cluster ", hex(found->cluster.value),
                      ": --join with its own members, or start an empty directory")));
  }
  const bool is_own = found.ok() && found->node != settings_.self.node &&
                      ring().description().find_member(found->node) != nullptr;
  if (is_own) {
    if (gossip_->find(found->node) == nullptr) links_.set_address(found->node, seed);
    links_.greet(found->node);
  }
  introduction_.on_seed(is_own);
}

void ClusterMember::on_hello(const PeerHello& hello, std::function<void(Result<PeerWelcome>)> answer) {
  if (hello.channel == PeerChannel::kIdentify) {
    if (hello.to && hello.to != settings_.self.node) {
      return answer(unavailable(cat("node ", hex(hello.to.value), " was meant, and this is ",
                                    settings_.self.name, ", node ", hex(settings_.self.node.value))));
    }
    return answer(welcome_for(hello));
  }
  PeerBook::Verdict verdict = book_.judge(hello, ring().description());
  switch (verdict.kind) {
    case PeerBook::Verdict::Kind::kWelcome:
      return welcome(hello, answer);
    case PeerBook::Verdict::Kind::kRefuse:
      return answer(std::move(verdict.status));
    case PeerBook::Verdict::Kind::kAskFirst:
      break;
  }
  // Does the life that we know still answer where it was? Then this is a second one, of a copied directory.
  links_.identify(
      verdict.known.peer_address, hello.node, kTwinAnswersWithin,
      [this, alive = alive_, hello, answer, known = verdict.known](const Result<PeerWelcome>& found) {
        if (!*alive) return;
        if (found.ok() && found->node == hello.node && found->boot != hello.boot) {
          return answer(forbidden(cat(
              "node ", hello.name, " runs already at ", known.peer_address, ", and the one at ",
              hello.peer_address, " has the same identity: one of the two directories is a copy; stop it, ",
              "empty its directory and join it under a name of its own")));
        }
        // Much may have come while it was asked.
        const PeerBook::Verdict now = book_.judge(hello, ring().description());
        if (now.kind == PeerBook::Verdict::Kind::kRefuse) return answer(now.status);
        if (now.kind == PeerBook::Verdict::Kind::kAskFirst && now.known.boot != known.boot)
          return answer(unavailable("another life of it was met meanwhile: greet again"));
        welcome(hello, answer);
      });
}

void ClusterMember::welcome(const PeerHello& hello, const std::function<void(Result<PeerWelcome>)>& answer) {
  if (ring().description().find_member(hello.node) == nullptr) {
    // It follows a later ring, and may bring it.
    answer(welcome_for(hello));
    return;
  }
  const PeerBook::Entry* known = book_.find(hello.node);
  const bool is_new = known == nullptr || known->boot != hello.boot;
  const bool changed = is_new || known->generation != hello.generation ||
                       known->peer_address != hello.peer_address ||
                       known->client_address != hello.client_address;
  const PeerWelcome welcome = welcome_for(hello);  // with what was remembered until now
  const auto welcomed = [this, alive = alive_, hello, answer, welcome, is_new] {
    if (!*alive) return;
    if (book_.is_over(hello.node, hello.boot)) return answer(book_.judge(hello, ring().description()).status);
    if (is_new) callbacks_.on_boot(hello.node, hello.boot);
    detector_->on_greeted(hello.node, hello.generation, environment_.clock.now());
    gossip_->learn({.node = hello.node,
                    .boot = hello.boot,
                    .generation = hello.generation,
                    .peer_address = hello.peer_address,
                    .client_address = hello.client_address});
    links_.set_address(hello.node, hello.peer_address);
    answer(welcome);
    links_.greet(hello.node);
    // It has dialed anew: what it answered on an earlier connection may be lost.
    if (hello.channel == PeerChannel::kRequests) life_.on_link_restored(hello.node);
    update_view();
  };
  if (!changed) return welcomed();
  life_.record(book_.accept(hello), welcomed);
}

bool ClusterMember::on_welcome(const PeerWelcome& welcome, const Address& address) {
  if (welcome.cluster != settings_.self.cluster || book_.is_over(welcome.node, welcome.boot)) return false;
  if (std::optional<MetaRecord> record = book_.accept(welcome, address)) {
    life_.record(std::move(*record), [] {});
    callbacks_.on_boot(welcome.node, welcome.boot);
  }
  const PeerBook::Entry* known = book_.find(welcome.node);
  if (known == nullptr || known->boot != welcome.boot) return false;  // it has to greet first
  detector_->on_greeted(welcome.node, welcome.generation, environment_.clock.now());
  raise_generation(welcome.generation_known);
  gate_.look_at(welcome.node, {welcome.lineage, welcome.epoch}, ring(), environment_.clock.now());
  return true;
}

// This disk remembers less of its own past than others do.
void ClusterMember::raise_generation(uint64_t known) {
  if (known < generation_ || known >= kGenerationMax) return;
  make_cores(known + 1);
  life_.record({std::string(kGenerationKey), std::to_string(generation_)}, [] {});
  update_view();
}

void ClusterMember::on_refused(NodeId node, const Status& why) {
  const Member* member = ring().description().find_member(node);
  if (said_.is_new(node, why.message())) {
    environment_.log.warning("gossip", cat("refused by ", member == nullptr ? hex(node.value) : member->name,
                                           ": ", why.message()));
  }
  if (why.code() == StatusCode::kStaleEpoch) return ask_for_generation(node);
  introduction_.on_caught_up(node);
  const bool is_final = why.code() == StatusCode::kForbidden || why.code() == StatusCode::kInvalidArgument;
  if (is_final && introduction_.under_way()) return introduction_.end(why);
  // Another life has taken over, or this one has no place any more.
  if (why.code() == StatusCode::kForbidden) return callbacks_.on_fenced(why);
  introduction_.on_failed(node);
}

void ClusterMember::ask_for_generation(NodeId node) {
  introduction_.on_behind(node);
  links_.identify(address_of(node), node, kTwinAnswersWithin,
                  [this, alive = alive_, node](const Result<PeerWelcome>& found) {
                    if (!*alive) return;
                    if (found.ok()) return raise_generation(found->generation_known);
                    introduction_.on_caught_up(node);
                    introduction_.on_failed(node);
                  });
}

Address ClusterMember::address_of(NodeId node) const {
  const PeerState* state = gossip_->find(node);
  if (state != nullptr) return state->peer_address;
  const PeerBook::Entry* known = book_.find(node);
  return known == nullptr ? Address() : known->peer_address;
}

void ClusterMember::on_unreachable(NodeId node, const Status& why) {
  environment_.log.debug("gossip", cat("node ", hex(node.value), " can't be reached: ", why.message()));
  update_view();
  introduction_.on_failed(node);
}

void ClusterMember::on_reachable(NodeId node, bool maybe_lost) {
  said_.forget(node);
  update_view();
  if (maybe_lost) life_.on_link_restored(node);
  introduction_.on_welcomed(node);
}

void ClusterMember::on_join(const JoinRequest& request, std::function<void(JoinAnswer)> answer) {
  environment_.log.info("gossip", cat("node ", request.name, " at ", request.peer_address, " asks to join"));
  newcomers_.on_join(request, [this, alive = alive_, request, answer = std::move(answer)](JoinAnswer given) {
    if (*alive && !given.status.ok()) {
      environment_.log.warning("gossip", cat("node ", request.name, " at ", request.peer_address,
                                             " doesn't join: ", given.status.message()));
    }
    answer(std::move(given));
  });
}

// ---- Messages

void ClusterMember::send(NodeId to, const PeerMessage& message) {
  links_.send(to, message, ring().description().lineage, ring().epoch());
}

void ClusterMember::on_peer_message(NodeId from, uint64_t lineage, uint64_t epoch, PeerMessage message) {
  const Time now = environment_.clock.now();
  gate_.look_at(from, {lineage, epoch}, ring(), now);
  const bool is_gossip = std::visit(
      [&](auto& body) {
        using Body = std::decay_t<decltype(body)>;
        if constexpr (kOfGossip<Body>) on_gossip(from, GossipMessage(std::move(body)));
        return kOfGossip<Body>;
      },
      message);
  if (!is_gossip) gate_.on_message(from, {lineage, epoch}, ring(), std::move(message), now);
}

void ClusterMember::on_gossip(NodeId from, GossipMessage message) {
  const Time now = environment_.clock.now();
  with_outbox([&](GossipOutbox& outbox) {
    std::visit(
        [&](auto& body) {
          using Body = std::decay_t<decltype(body)>;
          if constexpr (std::is_same_v<Body, RingWanted>) {
            outbox.send(from, RingChosen{ring().description().lineage, ring().epoch(), ring().encoded()});
          } else if constexpr (std::is_same_v<Body, RingChosen>) {
            adopt(body.description);
          } else if constexpr (std::is_same_v<Body, StateDigests> || std::is_same_v<Body, StateDeltas>) {
            gossip_->on(from, body, outbox);
          } else if constexpr (std::is_same_v<Body, Prepare> || std::is_same_v<Body, Accept>) {
            register_.on(from, body, outbox);
          } else if constexpr (std::is_same_v<Body, Promise> || std::is_same_v<Body, Accepted>) {
            register_.on(from, body, now, outbox);
          } else {
            detector_->on(from, body, now, outbox);
          }
        },
        message);
  });
  learn_addresses();
  take_outcome();
  update_view();
}

void ClusterMember::on_tick(Time now) {
  with_outbox([&](GossipOutbox& outbox) {
    detector_->tick(now, outbox);
    gossip_->tick(now, detector_->down(), outbox);
    register_.tick(now, outbox);
  });
  take_outcome();
  update_view();
  update_own_state(now);
  gate_.tick(ring(), now);
  introduction_.tick(now);
}

// What gossip says of where the others are.
void ClusterMember::learn_addresses() {
  for (const NodeId node : gossip_->take_changed()) {
    const PeerState* state = gossip_->find(node);
    if (state != nullptr && node != settings_.self.node && !state->peer_address.empty() &&
        !book_.is_over(node, state->boot))
      links_.set_address(node, state->peer_address);
  }
}

void ClusterMember::update_own_state(Time now) {
  if (now < state_updated_at_ + kStatePause && gossip_->own().epoch == epoch_on_disk_) return;
  state_updated_at_ = now;
  gossip_->set_own(own_state());
}

void ClusterMember::update_view() {
  ClusterView view;
  for (const NodeId node : others()) {
    if (detector_->health(node) == Health::kDown || !links_.is_reachable(node))
      view.unreachable.push_back(node);
  }
  std::sort(view.unreachable.begin(), view.unreachable.end());
  if (view == view_) return;
  view_ = view;
  life_.set_view(view_);
}

// ---- Rings

void ClusterMember::change_ring(RingEdit edit, Time deadline, RingChanger::Done done) {
  changer_.change(std::move(edit), deadline, std::move(done));
  with_outbox([](GossipOutbox&) {});
}

void ClusterMember::take_outcome() {
  while (std::optional<EpochRegister::Outcome> outcome = register_.take_outcome()) {
    if (outcome->status.ok()) {
      adopt(outcome->chosen);
      with_outbox([&](GossipOutbox& outbox) {
        for (const NodeId node : others())
          outbox.send(node, RingChosen{ring().description().lineage, ring().epoch(), ring().encoded()});
      });
    }
    changer_.on_outcome(*outcome);
    with_outbox([](GossipOutbox&) {});
  }
}

void ClusterMember::adopt(std::string_view description) {
  Result<RingDescription> next = decode_ring_description(description);
  if (!next.ok() || next->cluster != settings_.self.cluster) {
    environment_.log.error("gossip", cat("a ring that was sent here isn't taken: ",
                                         next.ok() ? "it is another cluster's" : next.status().message()));
    return;
  }
  if (EpochGate::RingOrder(next->lineage, next->epoch) <= EpochGate::order_of(ring())) return;
  const Member* self = next->find_member(settings_.self.node);
  Status fenced;
  if (self == nullptr || self->disk != settings_.self.disk) {
    fenced =
        forbidden(cat(settings_.self.name, " is no member of the cluster any more since epoch ", next->epoch,
                      ": ", self == nullptr ? "it was removed" : "another directory has taken its place",
                      "; what it holds is never served again"));
  }
  const std::vector<NodeId> before = others();
  const uint64_t epoch = next->epoch;
  life_.adopt_ring(std::move(*next), [this, alive = alive_, epoch] {
    if (*alive) epoch_on_disk_ = std::max(epoch_on_disk_, epoch);
  });
  register_.adopt(electorate_of(ring()));
  take_members();
  if (std::optional<MetaRecord> record = book_.keep_members(ring().description()))
    life_.record(std::move(*record), [] {});
  for (const NodeId node : before) {
    if (ring().description().find_member(node) == nullptr) links_.forget(node);
  }
  for (const NodeId node : others()) links_.greet(node);
  update_view();
  callbacks_.on_ring();
  if (!fenced.ok()) return callbacks_.on_fenced(fenced);
  gate_.on_ring(ring(), environment_.clock.now());
}

}  // namespace ringkv
