// How the member greets and is greeted: lives that are met, taken or refused; generations; addresses; joins.

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "node/cluster_member.h"

namespace ringkv {
namespace {

constexpr Duration kGreetWithin = std::chrono::seconds(3);
constexpr Duration kSeedsPause = std::chrono::seconds(5);
constexpr Duration kTwinAnswersWithin = std::chrono::milliseconds(500);
constexpr uint64_t kGenerationMax = uint64_t{1} << 62;

}  // namespace

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
  welcome.wall = environment_.clock.wall_now();
  PeerBook::Remembered remembered = book_.remembered(hello);
  welcome.generation_known = remembered.generation;
  welcome.boots_known = std::move(remembered.boots);
  return welcome;
}

void ClusterMember::ask_seeds() {
  seeds_asked_at_ = environment_.clock.now();
  for (const Address& seed : settings_.seeds) {
    links_.identify(seed, {}, kGreetWithin, [this, alive = alive_, seed](const Result<PeerWelcome>& found) {
      if (*alive) on_seed(seed, found);
    });
  }
}

// While this node was away all others may have moved, or made a ring without it: it must not take itself for
// the only one that is left for longer than it takes to ask again.
void ClusterMember::look_for_others(Time now) {
  const bool is_alone = view_.unreachable.size() == others().size() && !view_.unreachable.empty();
  if (is_alone && !introduction_.under_way() && now >= seeds_asked_at_ + kSeedsPause) ask_seeds();
}

void ClusterMember::start(std::function<void(Status)> greeted) {
  ask_seeds();
  for (const NodeId node : others()) links_.greet(node);
  introduction_.on_ring_held(EpochGate::order_of(ring()));
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

void ClusterMember::on_hello(const PeerHello& hello, const std::function<void(Result<PeerWelcome>)>& answer) {
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
  if (!PeerBook::names(ring().description(), hello.node, hello.disk)) {
    // It follows a later ring, and may bring it. Were its life remembered before, a greeting of the disk
    // before, long under way, would pass for the one that the ring has chosen since.
    answer(welcome_for(hello));
    return;
  }
  const PeerBook::Entry* known = book_.find(hello.node);
  const bool is_new = known == nullptr || known->boot != hello.boot;
  const bool changed = is_new || known->generation != hello.generation ||
                       known->peer_address != hello.peer_address ||
                       known->client_address != hello.client_address;
  PeerWelcome welcome = welcome_for(hello);  // with what was remembered until now
  auto welcomed = [this, alive = alive_, hello, answer, welcome, is_new]() mutable {
    if (!*alive) return;
    welcome.wall = environment_.clock.wall_now();
    if (book_.is_over(hello.node, hello.boot)) return answer(book_.judge(hello, ring().description()).status);
    if (is_new) take_life(hello.node, hello.boot);
    lives_met_.on_met(hello.node, hello.boot);
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
  if (!PeerBook::names(ring().description(), welcome.node, welcome.disk)) return false;
  if (std::optional<MetaRecord> record = book_.accept(welcome, address)) {
    life_.record(std::move(*record), [this, alive = alive_, node = welcome.node, boot = welcome.boot] {
      if (*alive && !book_.is_over(node, boot)) lives_met_.on_met(node, boot);
    });
    take_life(welcome.node, welcome.boot);
  }
  const PeerBook::Entry* known = book_.find(welcome.node);
  if (known == nullptr || known->boot != welcome.boot) return false;  // it has to greet first
  detector_->on_greeted(welcome.node, welcome.generation, environment_.clock.now());
  clock_.on_heard(welcome.node, welcome.wall, environment_.clock.now());
  // The time must be known before this node serves.
  if (introduction_.under_way()) look_at_clock(environment_.clock.now());
  raise_generation(welcome.generation_known);
  look_for_older_copy(welcome);
  gate_.look_at(welcome.node, {welcome.lineage, welcome.epoch}, ring(), environment_.clock.now());
  introduction_.on_ring_heard({welcome.lineage, welcome.epoch});
  return true;
}

void ClusterMember::take_life(NodeId node, Boot boot) {
  callbacks_.on_boot(node, boot);
  gate_.forget(node);
  life_.on_boot(node);
}

// What this directory holds is not all, and what it promised isn't known here any more.
void ClusterMember::look_for_older_copy(const PeerWelcome& welcome) {
  if (older_copy_.on_remembered(welcome.boots_known)) {
    environment_.log.error(
        "node",
        cat(welcome.name, " has met ", settings_.self.name, " in a life that this data directory knows ",
            "nothing of (the latest that it has met before: boot ", hex(welcome.boots_known.front().value),
            "): it is an older copy of itself, put back from a backup perhaps. It fetches what it lacks "
            "before it answers reads, and doesn't vote on rings before the second one from now"));
    life_.lose_all();
    own_votes_void_ = register_.proposing();
  }
  older_copy_.on_ring_of({welcome.node, welcome.disk}, welcome.lineage, welcome.epoch,
                         register_.electorate());
  keep_older_copy();
}

void ClusterMember::keep_older_copy() {
  if (std::optional<MetaRecord> record = older_copy_.take_record()) life_.record(std::move(*record), [] {});
}

// This disk remembers less of its own past than others do. Nobody hears of a generation before it is on disk;
// and one that is on its way there isn't overwritten by an earlier one.
void ClusterMember::raise_generation(uint64_t known) {
  if (known < std::max(generation_, generation_recorded_) || known >= kGenerationMax) return;
  generation_recorded_ = known + 1;
  life_.record({std::string(kGenerationKey), std::to_string(known + 1)}, [this, alive = alive_, known] {
    if (!*alive || known < generation_) return;
    make_cores(known + 1);
    update_view();
  });
}

void ClusterMember::on_refused(NodeId node, const Status& why) {
  const Member* member = ring().description().find_member(node);
  if (said_.is_new(node, why.message())) {
    environment_.log.warning("gossip", cat("refused by ", member == nullptr ? hex(node.value) : member->name,
                                           ": ", why.message()));
  }
  if (why.code() == StatusCode::kStaleEpoch) {
    doubt_wholeness(node);
    return ask_for_generation(node);
  }
  introduction_.on_caught_up(node);
  const bool is_removed = why.code() == StatusCode::kNotFound;
  const bool is_final =
      is_removed || why.code() == StatusCode::kForbidden || why.code() == StatusCode::kInvalidArgument;
  if (is_final && introduction_.under_way())
    return introduction_.end(is_removed ? forbidden(why.message()) : why);
  if (is_removed) return end_membership(ring(), forbidden(why.message()));
  // Another life has taken over, or this one has no place any more.
  if (why.code() == StatusCode::kForbidden) return callbacks_.on_fenced(why);
  introduction_.on_failed(node);
}

// A start writes its generation down before it greets: who has met as late a one has met a life that this
// directory lacks, and may be out of reach again before it can say which.
void ClusterMember::doubt_wholeness(NodeId node) {
  if (std::exchange(doubts_wholeness_, true)) return;
  environment_.log.warning(
      "node",
      cat("node ", hex(node.value), " has met ", settings_.self.name, " in a generation that its data ",
          "directory doesn't remember: it fetches what it may lack before it answers reads"));
  life_.lose_all();
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
    if (*alive && !given.status.ok() && !given.not_yet) {
      environment_.log.warning("gossip", cat("node ", request.name, " at ", request.peer_address,
                                             " doesn't join: ", given.status.message()));
    }
    answer(std::move(given));
  });
}

}  // namespace ringkv
