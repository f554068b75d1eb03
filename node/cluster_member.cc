#include "node/cluster_member.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "base/text.h"
#include "node/ring_force.h"

namespace ringkv {
namespace {

constexpr Duration kJoinDecidedWithin = std::chrono::seconds(20);
constexpr Duration kStatePause = std::chrono::seconds(1);
constexpr Duration kLagPause = std::chrono::seconds(10);
constexpr Duration kClockPause = std::chrono::milliseconds(100);
constexpr Duration kDrivePause = std::chrono::milliseconds(200);
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
  OlderCopy older_copy(settings.self.node, settings.known_boots);
  if (Status status = older_copy.load(settings.older_copy_record); !status.ok()) return status;
  std::unique_ptr<ClusterMember> member(new ClusterMember(environment, std::move(settings), life, links,
                                                          std::move(book), *std::move(epochs),
                                                          std::move(older_copy), std::move(callbacks)));
  *member_or_none = member.get();
  return member;
}

ClusterMember::ClusterMember(Environment& environment, Settings settings, Life& life, PeerLinks& links,
                             PeerBook book, EpochRegister epochs, OlderCopy older_copy, Callbacks callbacks)
    : environment_(environment),
      settings_(std::move(settings)),
      life_(life),
      links_(links),
      callbacks_(std::move(callbacks)),
      book_(std::move(book)),
      register_(std::move(epochs)),
      older_copy_(std::move(older_copy)),
      lives_met_({settings_.self.node, settings_.self.boot}),
      absences_(settings_.auto_remove_after),
      changer_(settings_.self.node, register_,
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
          [this](NodeId from, PeerMessage&& message) { life_.on_peer_message(from, std::move(message)); },
          [this](NodeId to, const PeerMessage& message) { send(to, message); }) {
  epoch_on_disk_ = ring().epoch();
  driver_.set_ring(ring_view(), environment_.clock.now());
  make_cores(settings_.self.generation);
  for (const PeerState& peer : settings_.peers) gossip_->learn(peer);
  for (const auto& [node, known] : book_.entries()) {
    links_.set_address(node, known.peer_address);
    lives_met_.on_met(node, known.boot);
  }
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
  clock_.set_members(others());
}

PeerState ClusterMember::own_state() const {
  const HintCount hints = life_.hints().total();
  return {.node = settings_.self.node,
          .boot = settings_.self.boot,
          .generation = generation_,
          .peer_address = settings_.self.peer_address,
          .client_address = settings_.self.client_address,
          .epoch = epoch_on_disk_,
          .wall = environment_.clock.wall_now(),
          .keys = life_.store().leaves().keys(),
          .bytes = life_.store().leaves().bytes(),
          .hints = hints.hints,
          .hint_bytes = hints.bytes,
          .lag_ms = life_.convergence().lag_ms(environment_.clock.now()),
          .incomplete_partitions = life_.wholeness().incomplete(),
          .boots_met = lives_met_.digest(ring().description()),
          .boots_without_hints = life_.convergence().boots_without_hints(),
          .ready_epoch = life_.convergence().ready_epoch(),
          .former_partitions = life_.convergence().former().partitions(),
          .former_untaken = life_.convergence().former().untaken(),
          .takeover_partitions = static_cast<uint32_t>(life_.convergence().takeover().partitions()),
          .takeover_ready = static_cast<uint32_t>(life_.convergence().taken_over()),
          .bears = life_.convergence().pace().bears(),
          .taken_in = life_.convergence().pace().taken_in(),
          .transfer_limit = transfer_limit_.bytes_per_second(),
          .transfer_limit_set_at = transfer_limit_.set_at(),
          .given_up = absences_.given_up()};
}

std::optional<int64_t> ClusterMember::skew_micros(NodeId node) const {
  if (node == settings_.self.node) return 0;
  const auto [now, wall] = moment();
  return clock_.offset_micros(node, wall, now);
}

template <class Call>
void ClusterMember::with_outbox(Call call) {
  GossipOutbox outbox;
  call(outbox);
  changer_.start(ring(), environment_.clock.now(), outbox);
  if (!outbox.empty()) life_.perform(outbox);
}

// ---- Messages

void ClusterMember::send(NodeId to, const PeerMessage& message) {
  links_.send(to, message, ring().description().lineage, ring().epoch());
}

void ClusterMember::on_peer_message(NodeId from, uint64_t lineage, uint64_t epoch, PeerMessage&& message) {
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
            if (older_copy_.may_vote(from, register_.electorate())) register_.on(from, body, outbox);
          } else if constexpr (std::is_same_v<Body, Promise> || std::is_same_v<Body, Accepted>) {
            if (!own_votes_void_) register_.on(from, body, now, outbox);
          } else {
            if constexpr (!std::is_same_v<Body, ProbeRequest>) clock_.on_heard(from, body.wall, now);
            detector_->on(from, body, moment(), outbox);
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
    detector_->tick(moment(), outbox);
    gossip_->tick(now, detector_->down(), outbox);
    register_.tick(now, outbox);
  });
  take_outcome();
  update_view();
  update_own_state(now);
  update_clock(now);
  gate_.tick(ring(), now);
  drive_change(now);
  look_for_others(now);
  introduction_.tick(now);  // last: a start that is refused ends this member
}

RingView ClusterMember::ring_view() const {
  RingView view(settings_.self.node, ring(), &token_of);
  view.set_view(view_);
  return view;
}

void ClusterMember::drive_change(Time now) {
  const RingDescription& ring = this->ring().description();
  const bool unsettled = !absences_.given_up().empty() ||
                         std::any_of(ring.members.begin(), ring.members.end(), [&](const Member& member) {
                           return member.status == MemberStatus::kLeaving || !member.voter;
                         });
  if ((!ring.change && !unsettled) || !changer_.idle() || now < driven_at_ + kDrivePause) return;
  driven_at_ = now;
  const auto state_of = [this](NodeId node) {
    return node == settings_.self.node ? &gossip_->own() : gossip_->find(node);
  };
  std::optional<RingDriver::Step> step = driver_.next(ring_view(), state_of, now);
  if (driver_.why_absent_stay() != why_absent_stay_) {
    why_absent_stay_ = driver_.why_absent_stay();
    if (!why_absent_stay_.empty()) environment_.log.warning("node", why_absent_stay_);
  }
  if (!step) return;
  const std::string what = cat("proposes after epoch ", ring.epoch, ": ", step->what);
  step->is_loss ? environment_.log.warning("node", what) : environment_.log.info("node", what);
  change_ring(std::move(step->edit), now + RingDriver::kTurn, [this, alive = alive_](const Status& status) {
    if (*alive && !status.ok())
      environment_.log.warning("node", cat("the change of the ring waits: ", status.message()));
  });
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
  if (now >= state_updated_at_ + kStatePause) pace_transfers();
  state_updated_at_ = now;
  absences_.look(ring_view(), now);
  PeerState state = own_state();
  // It grows with every second until the next round ends: no news for everybody each time.
  if (now < lag_said_at_ + kLagPause) {
    state.lag_ms = gossip_->own().lag_ms;
  } else {
    lag_said_at_ = now;
  }
  gossip_->set_own(std::move(state));
  life_.set_boots(lives_met_.agreed(ring().description(), *gossip_, gossip_->own()));
}

void ClusterMember::limit_transfers(uint64_t bytes_per_second) {
  transfer_limit_.set(bytes_per_second, environment_.clock.wall_now());
  state_updated_at_ = {};
}

// Who can't be reached takes nothing in, but may know a limit.
void ClusterMember::pace_transfers() {
  TransferPace::Second second{.most_taken_in = life_.convergence().pace().taken_in()};
  for (const Member& member : ring().description().members) {
    const PeerState* state = gossip_->find(member.node);
    if (state == nullptr) continue;
    transfer_limit_.hear(*state);
    if (!view_.is_reachable(member.node)) continue;
    second.most_taken_in = std::max(second.most_taken_in, state->taken_in);
    if (state->bears == 0) continue;
    second.least_of_others =
        second.least_of_others == 0 ? state->bears : std::min(second.least_of_others, state->bears);
  }
  second.limit = transfer_limit_.bytes_per_second();
  life_.pace_transfers(second);
}

// In between the life goes on by monotonic time, so that nothing is judged by a clock that has just jumped.
void ClusterMember::update_clock(Time now) {
  if (now >= clock_looked_at_ + kClockPause) look_at_clock(now);
}

void ClusterMember::look_at_clock(Time now) {
  clock_looked_at_ = now;
  const WallMicros wall = environment_.clock.wall_now();
  life_.set_clock(clock_.correction_micros(wall, now), clock_.heard_majority(now));
}

bool ClusterMember::is_up(NodeId node) const {
  return node == settings_.self.node ||
         (detector_->health(node) != Health::kDown && links_.is_reachable(node));
}

void ClusterMember::update_view() {
  ClusterView view;
  for (const NodeId node : others()) {
    if (!is_up(node) || !detector_->hears(node)) view.unreachable.push_back(node);
    if (is_up(node)) log_way(node, detector_->hears(node));
  }
  std::sort(view.unreachable.begin(), view.unreachable.end());
  if (view == view_) return;
  view_ = view;
  life_.set_view(view_);
}

// Nobody else can say so: to the others all is well.
void ClusterMember::log_way(NodeId node, bool hears) {
  if (hears == !unheard_.contains(node)) return;
  if (hears) {
    unheard_.erase(node);
    environment_.log.info("gossip", cat("node ", hex(node.value), " answers this node again"));
  } else {
    unheard_.insert(node);
    environment_.log.warning("gossip",
                             cat("node ", hex(node.value), " is heard by others and doesn't answer ",
                                 "this node: requests go around it. Look at the network between the two"));
  }
}

// ---- Rings

void ClusterMember::change_ring(RingEdit edit, Time deadline, RingChanger::Done done) {
  changer_.change(std::move(edit), deadline, std::move(done));
  with_outbox([](GossipOutbox&) {});
}

void ClusterMember::take_outcome() {
  while (std::optional<EpochRegister::Outcome> outcome = register_.take_outcome()) {
    own_votes_void_ = false;
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

// `last`: the ring in which it was one. A leaver that owns nothing any more is removed when the others have
// all that it had; a joiner, before it has anything.
void ClusterMember::end_membership(const Ring& last, const Status& why) {
  const Member* self = last.description().find_member(settings_.self.node);
  const MemberStatus status = self == nullptr ? MemberStatus::kNormal : self->status;
  if (status == MemberStatus::kLeaving && !last.description().change) return callbacks_.on_left({});
  if (status == MemberStatus::kJoining) return callbacks_.on_left(why);
  callbacks_.on_fenced(why);
}

// Nobody else need have said so to this operator.
void ClusterMember::log_lineage(const RingDescription& next) const {
  if (next.lineage == ring().description().lineage) return;
  std::string lost;
  for (const Member& member : next.members) {
    if (member.lost) lost += (lost.empty() ? "" : ", ") + member.name;
  }
  environment_.log.warning("gossip", cat("the ring was forced: epoch ", next.epoch, " starts lineage ",
                                         next.lineage, ", and follows epoch ", ring().epoch(), " of lineage ",
                                         ring().description().lineage, " here. Declared lost: ",
                                         lost.empty() ? "nobody" : lost, "; what only they had is lost"));
}

void ClusterMember::force_ring(const ClientForceRing& request,
                               const std::function<void(Result<ForceReport>)>& done) {
  const ForceSight sight{.self = settings_.self.node,
                         .is_reachable = [this](NodeId node) { return view_.is_reachable(node); },
                         .health = [this](NodeId node) { return detector_->health(node); },
                         .epoch =
                             [this](NodeId node) {
                               const PeerState* state = gossip_->find(node);
                               return state == nullptr ? 0 : state->epoch;
                             }};
  const RingDescription& present = ring().description();
  if (Status status = check_force(present, request.lost, sight); !status.ok()) return done(status);
  ForceReport report = force_report(present, request.lost);
  if (!request.apply) return done(std::move(report));
  const RingDescription next = forced_ring(present, request.lost, environment_.clock.wall_now(),
                                           static_cast<uint16_t>(environment_.random.next()));
  const std::string encoded = encode_ring_description(next);
  if (const Result<RingDescription> readable = decode_ring_description(encoded); !readable.ok())
    return done(readable.status());
  report.forced = true;
  report.lineage = next.lineage;
  report.epoch = next.epoch;
  adopt(encoded, [done, report] { done(report); });
  with_outbox([&](GossipOutbox& outbox) {
    for (const NodeId node : others()) outbox.send(node, RingChosen{next.lineage, next.epoch, encoded});
  });
}

void ClusterMember::adopt(std::string_view description, std::function<void()> on_disk) {
  Result<RingDescription> next = decode_ring_description(description);
  if (!next.ok() || next->cluster != settings_.self.cluster) {
    environment_.log.error("gossip", cat("a ring that was sent here isn't taken: ",
                                         next.ok() ? "it is another cluster's" : next.status().message()));
    return;
  }
  if (EpochGate::RingOrder(next->lineage, next->epoch) <= EpochGate::order_of(ring())) return;
  log_lineage(*next);
  const Member* self = next->find_member(settings_.self.node);
  Status fenced;
  if (self != nullptr && self->disk == settings_.self.disk && self->lost) {
    fenced = forbidden(cat(settings_.self.name, " was declared lost by `ring force` in lineage ",
                           next->lineage, ", epoch ", next->epoch,
                           "; what it holds is never served again. Empty the ", "directory to join anew"));
  } else if (self == nullptr || self->disk != settings_.self.disk) {
    fenced =
        forbidden(cat(settings_.self.name, " is no member of the cluster any more since epoch ", next->epoch,
                      ": ", self == nullptr ? "it was removed" : "another directory has taken its place",
                      "; what it holds is never served again"));
  }
  const std::optional<Ring> last = fenced.ok() ? std::nullopt : std::optional<Ring>(ring());
  const std::vector<NodeId> before = others();
  const uint64_t epoch = next->epoch;
  life_.adopt_ring(std::move(*next), [this, alive = alive_, epoch, on_disk = std::move(on_disk)] {
    if (!*alive) return;
    epoch_on_disk_ = std::max(epoch_on_disk_, epoch);
    if (on_disk) on_disk();
  });
  driver_.set_ring(ring_view(), environment_.clock.now());
  introduction_.on_ring_held(EpochGate::order_of(ring()));
  register_.adopt(electorate_of(ring()));
  older_copy_.on_ring(register_.electorate());
  keep_older_copy();
  take_members();
  if (std::optional<MetaRecord> record = book_.keep_members(ring().description()))
    life_.record(std::move(*record), [] {});
  for (const NodeId node : before) {
    if (ring().description().find_member(node) != nullptr) continue;
    links_.forget(node);
    unheard_.erase(node);
    callbacks_.on_removed(node, not_found(cat("node ", hex(node.value),
                                              " is no member of this cluster any more since epoch ", epoch)));
  }
  for (const NodeId node : others()) links_.greet(node);
  update_view();
  callbacks_.on_ring();
  if (last) return end_membership(*last, fenced);
  gate_.on_ring(ring(), environment_.clock.now());
}

}  // namespace ringkv
