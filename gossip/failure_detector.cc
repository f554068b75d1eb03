#include "gossip/failure_detector.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace ringkv {
namespace {

constexpr size_t kProbesMax = 15;  // in a round
constexpr size_t kOthersAsked = 3;
constexpr size_t kRelaysMax = 512;
constexpr uint32_t kLocalHealthMax = 4;
constexpr uint32_t kUnheardRounds = 2;  // one lost answer says nothing of a way

}  // namespace

FailureDetector::FailureDetector(NodeId self, uint64_t generation, const Settings& settings, Random& random)
    : self_(self),
      settings_(settings),
      random_(random),
      table_(self, generation),
      last_sequence_(random.next()) {}

void FailureDetector::set_members(const std::vector<NodeId>& others, Time now) {
  notice(now);
  table_.set_members(others);
  turn_.clear();
  std::erase_if(round_, [this](const Asked& asked) { return !table_.is_member(asked.node); });
  std::erase_if(missed_, [this](const auto& missed) { return !table_.is_member(missed.first); });
  std::erase_if(unheard_, [this](const auto& unheard) { return !table_.is_member(unheard.first); });
  std::erase_if(relays_, [this](const Relay& relay) { return !table_.is_member(relay.target); });
}

void FailureDetector::tick(Moment moment, GossipOutbox& outbox) {
  const Time now = moment.now;
  notice(now);
  if (!started_) {
    started_ = true;
    round_ends_at_ = now + Duration(random_.below(static_cast<uint64_t>(settings_.probe_interval.count())));
  }
  if (now >= patient_until_) table_.expire(now);
  if (now >= round_ends_at_) {
    judge_round(now);
    begin_round(moment, outbox);
  } else if (now >= ask_others_at_) {
    for (Asked& asked : round_) ask_others(asked, outbox);
  }
}

void FailureDetector::on(NodeId from, const Probe& probe, Moment moment, GossipOutbox& outbox) {
  notice(moment.now);
  take(probe.claims, moment.now);
  outbox.send(from, ProbeAck{probe.sequence, self_, table_.claims_for(from, {}), moment.wall});
}

void FailureDetector::on(NodeId from, const ProbeAck& ack, Moment moment, GossipOutbox& outbox) {
  notice(moment.now);
  take(ack.claims, moment.now);
  for (Asked& asked : round_) {
    if (asked.sequence != ack.sequence || asked.node != ack.target) continue;
    if (from == asked.node) asked.answered_directly = true;
    if (from == asked.node || asked.others_asked) asked.answered = true;
    return;
  }
  const auto relay = std::find_if(relays_.begin(), relays_.end(), [&](const Relay& candidate) {
    return candidate.sequence == ack.sequence && candidate.target == from;
  });
  if (relay == relays_.end()) return;
  outbox.send(relay->asker,
              ProbeAck{relay->asker_sequence, from, table_.claims_for(relay->asker, from), moment.wall});
  relays_.erase(relay);
}

void FailureDetector::on(NodeId from, const ProbeRequest& request, Moment moment, GossipOutbox& outbox) {
  const Time now = moment.now;
  notice(now);
  take(request.claims, now);
  if (!table_.is_member(request.target)) return;
  std::erase_if(relays_, [now](const Relay& relay) { return relay.until <= now; });
  if (relays_.size() == kRelaysMax) return;
  relays_.push_back(
      {++last_sequence_, request.target, from, request.sequence, now + settings_.probe_interval});
  outbox.send(request.target, Probe{last_sequence_, table_.claims_for(request.target, from), moment.wall});
}

void FailureDetector::on_greeted(NodeId node, uint64_t generation, Time now) {
  notice(now);
  // That its last life ended, and answered nothing, says nothing of the way to it.
  if (table_.begin_life(node, generation)) unheard_.erase(node);
}

// Everything that comes in says that this node lives: a loop that is busy with messages isn't frozen.
void FailureDetector::notice(Time now) {
  const Time last = std::exchange(noticed_at_, now);
  const Duration gap = now - last;
  if (started_ && gap > settings_.probe_timeout * 3 / 5) thaw(gap, now);
}

// Answers and refutations that came meanwhile may still wait to be read, behind this very call.
void FailureDetector::thaw(Duration frozen, Time now) {
  doubt_self();
  round_.clear();
  missed_.clear();
  unheard_.clear();
  relays_.clear();
  round_ends_at_ = now;
  table_.postpone_suspicions(frozen);
  patient_until_ = now + settings_.probe_timeout;
}

void FailureDetector::take(const std::vector<HealthClaim>& claims, Time now) {
  const Suspicion::Patience patience = this->patience();
  bool refuted = false;
  for (const HealthClaim& claim : claims) refuted |= table_.take(claim, patience, now);
  if (refuted) doubt_self();
}

void FailureDetector::begin_round(Moment moment, GossipOutbox& outbox) {
  ask_others_at_ = moment.now + settings_.probe_timeout;
  round_ends_at_ = moment.now + settings_.probe_interval;
  round_.clear();
  for (const NodeId node : next_targets()) {
    const Health health = table_.health(node);
    round_.push_back({.node = node, .sequence = ++last_sequence_, .was = health});
    outbox.send(node, Probe{last_sequence_, table_.claims_for(node, {}), moment.wall});
    // Its time to refute runs, and perhaps only others can reach it.
    if (health == Health::kSuspect) ask_others(round_.back(), outbox);
  }
}

// Those that didn't answer directly the last time come first: they shall have their chance to, and those that
// this node accuses shall know it.
std::vector<NodeId> FailureDetector::next_targets() {
  std::vector<NodeId> targets;
  for (const auto& [node, rounds] : unheard_) {
    if (table_.health(node) != Health::kDown) targets.push_back(node);
  }
  const size_t wanted = std::min(kProbesMax, table_.members().size());
  while (targets.size() < wanted) {
    const NodeId node = next_in_turn();
    if (std::find(targets.begin(), targets.end(), node) == targets.end()) targets.push_back(node);
  }
  return targets;
}

// Every member once in each pass, in an order that is drawn anew: so none waits longer than two passes (SWIM,
// section 4.3).
NodeId FailureDetector::next_in_turn() {
  if (turn_.empty()) {
    turn_ = table_.members();
    for (size_t i = turn_.size(); i > 1; --i) std::swap(turn_[i - 1], turn_[random_.below(i)]);
  }
  const NodeId node = turn_.back();
  turn_.pop_back();
  return node;
}

void FailureDetector::ask_others(Asked& asked, GossipOutbox& outbox) {
  if (asked.answered || asked.others_asked || table_.health(asked.node) == Health::kDown) return;
  asked.others_asked = true;
  for (const NodeId other : some_others(asked.node)) {
    outbox.send(other, ProbeRequest{asked.sequence, asked.node, table_.claims_for(other, asked.node)});
  }
}

std::vector<NodeId> FailureDetector::some_others(NodeId target) {
  std::vector<NodeId> others = table_.members();
  std::erase_if(others, [&](NodeId node) { return node == target || table_.health(node) == Health::kDown; });
  const size_t wanted = std::min(kOthersAsked, others.size());
  for (size_t i = 0; i < wanted; ++i) std::swap(others[i], others[i + random_.below(others.size() - i)]);
  others.resize(wanted);
  return others;
}

// A node that doubts itself accuses whom it misses only after so many more silent rounds. It goes on probing
// every second, unlike Lifeguard's: what it has to say of itself, a refutation perhaps, mustn't wait.
//
// When most members that were alive don't answer, the fault is more likely here. That counts from the next
// round on: the suspicions of this one are as quick as ever, or two nodes would never call each other DOWN
// in time.
void FailureDetector::judge_round(Time now) {
  size_t answered = 0;
  size_t newly_silent = 0;
  std::map<NodeId, uint32_t> missed;
  for (const Asked& asked : round_) {
    if (asked.answered && asked.was == Health::kAlive) ++answered;
    // Who was DOWN and isn't any more has spoken meanwhile.
    if (asked.answered || asked.was == Health::kDown) continue;
    const auto before = missed_.find(asked.node);
    const uint32_t rounds = before == missed_.end() ? 1 : before->second + 1;
    missed[asked.node] = rounds;
    if (rounds == 1) ++newly_silent;
    if (rounds > local_health_) table_.accuse(asked.node, patience(), now);
  }
  missed_ = std::move(missed);
  judge_ways();
  if (newly_silent > answered) {
    doubt_self();
  } else if (local_health_ > 0 && !round_.empty()) {
    --local_health_;
  }
}

// A node that doubts itself is as slow to call a way broken as to accuse.
bool FailureDetector::hears(NodeId node) const {
  const auto unheard = unheard_.find(node);
  return unheard == unheard_.end() || unheard->second < kUnheardRounds + local_health_;
}

void FailureDetector::judge_ways() {
  for (const Asked& asked : round_) {
    if (asked.answered_directly) {
      unheard_.erase(asked.node);
    } else {
      ++unheard_[asked.node];
    }
  }
  std::erase_if(unheard_,
                [this](const auto& unheard) { return table_.health(unheard.first) == Health::kDown; });
}

void FailureDetector::doubt_self() { local_health_ = std::min(local_health_ + 1, kLocalHealthMax); }

// Up to 16 members hear everybody in each round; in a larger cluster a suspicion must first find its way to
// the accused, and the refutation back: logarithmic in the number of members.
Suspicion::Patience FailureDetector::patience() const {
  const auto members = static_cast<uint32_t>(table_.members().size() + 1);
  const Duration round = settings_.probe_interval * (1 + local_health_);
  const auto hops = std::max(uint32_t{4}, static_cast<uint32_t>(std::bit_width(members - 1)));
  return {.longest = round * 2 * hops / 4,
          .shortest = round * hops / 4,
          .confirmations = std::clamp<uint32_t>(members > 2 ? members - 2 : 1, 1, kOthersAsked)};
}

}  // namespace ringkv
