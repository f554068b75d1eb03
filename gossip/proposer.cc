#include "gossip/proposer.h"

#include <algorithm>
#include <utility>

#include "base/plants.h"
#include "base/ring_description.h"
#include "base/text.h"
#include "gossip/acceptor.h"

namespace ringkv {
namespace {

constexpr Duration kSendAgain = std::chrono::milliseconds(300);
// The pause after the first lost ballot is shorter than this; the bound doubles with each one, up to 64
// times.
constexpr Duration kFirstPauseMax = std::chrono::milliseconds(20);
constexpr uint32_t kPauseDoublingsMax = 6;

}  // namespace

Proposer::Proposer(const Voter& self, Electorate electorate, BootOf boot_of, Random& random,
                   Proposal proposal)
    : self_(self),
      electorate_(std::move(electorate)),
      boot_of_(std::move(boot_of)),
      random_(random),
      description_(std::move(proposal.description)),
      deadline_(proposal.deadline),
      round_(proposal.last_round) {}

void Proposer::prepare(Time now, GossipOutbox& outbox) {
  ballot_ = {.round = ++round_, .node = self_.node, .boot = self_.boot};
  phase_ = Preparing();
  send_to_missing(now, outbox);
}

void Proposer::offer(std::string value, Time now, GossipOutbox& outbox) {
  offered_ = offered_ || value == description_;
  phase_ = Accepting{.value = std::move(value)};
  send_to_missing(now, outbox);
}

void Proposer::send_to_missing(Time now, GossipOutbox& outbox) {
  for (const Electorate::Seat& seat : electorate_.seats) {
    if (const auto* preparing = std::get_if<Preparing>(&phase_)) {
      if (preparing->promised_by.contains(seat.node)) continue;
      outbox.send(seat.node, Prepare{epoch(), electorate_.digest, ballot_});
    } else if (const auto* accepting = std::get_if<Accepting>(&phase_)) {
      if (accepting->accepted_by.contains(seat.node)) continue;
      outbox.send(seat.node, Accept{epoch(), electorate_.digest, ballot_, accepting->value});
    }
  }
  send_again_at_ = now + kSendAgain;
}

bool Proposer::counts(NodeId from, const Voter& voter) const {
  const bool has_seat = electorate_.has_seat(voter.node, voter.disk) || planted(Plant::kVoteAfterWipe);
  return voter.node == from && has_seat && voter.boot && voter.boot == boot_of_(voter.node);
}

bool Proposer::goes_on(const Ballot& ballot, const Ballot& promised, Time now) {
  if (ballot != ballot_) return false;
  if (promised == ballot_) return true;
  if (promised < ballot_ || promised.round > kRoundMax) return false;
  round_ = std::max(round_, promised.round);
  if (std::holds_alternative<Pausing>(phase_)) return false;
  const Duration pause_max = kFirstPauseMax * (uint64_t{1} << std::min(ballots_lost_++, kPauseDoublingsMax));
  phase_ = Pausing{now + Duration(random_.below(static_cast<uint64_t>(pause_max.count())))};
  return false;
}

void Proposer::on(NodeId from, const Promise& promise, Time now, GossipOutbox& outbox) {
  if (outcome_ || promise.epoch != epoch() || !counts(from, promise.voter)) return;
  answered_.insert(from);
  if (!goes_on(promise.ballot, promise.promised, now)) return;
  auto* preparing = std::get_if<Preparing>(&phase_);
  if (preparing == nullptr || !promise.accepted != promise.value.empty()) return;
  preparing->promised_by.insert(from);
  if (promise.accepted > preparing->accepted) {
    preparing->accepted = promise.accepted;
    preparing->value = promise.value;
  }
  if (preparing->promised_by.size() < electorate_.majority()) return;
  offer(preparing->accepted ? std::move(preparing->value) : description_, now, outbox);
}

void Proposer::on(NodeId from, const Accepted& accepted, Time now, GossipOutbox&) {
  if (outcome_ || accepted.epoch != epoch() || !counts(from, accepted.voter)) return;
  answered_.insert(from);
  if (!goes_on(accepted.ballot, accepted.promised, now)) return;
  auto* accepting = std::get_if<Accepting>(&phase_);
  if (accepting == nullptr) return;
  accepting->accepted_by.insert(from);
  if (accepting->accepted_by.size() >= electorate_.majority()) finish({}, std::move(accepting->value));
}

void Proposer::tick(Time now, GossipOutbox& outbox) {
  if (outcome_) return;
  if (now >= deadline_) return finish(timed_out(), "");
  const auto* pausing = std::get_if<Pausing>(&phase_);
  if (pausing != nullptr && now >= pausing->until) return prepare(now, outbox);
  if (pausing == nullptr && now >= send_again_at_) send_to_missing(now, outbox);
}

void Proposer::overtake(const Electorate& next) {
  const bool same_epoch = next.lineage == electorate_.lineage && next.epoch == epoch();
  if (same_epoch && next.digest == ring_digest(description_)) return finish({}, description_);
  finish(unavailable(cat("epoch ", epoch(), " was taken by another change: look at the ring of epoch ",
                         next.epoch, " and try again")),
         "");
  outcome_->overtaken = true;
}

void Proposer::finish(Status status, std::string chosen) {
  outcome_ = {.status = std::move(status), .epoch = epoch(), .chosen = std::move(chosen)};
  for (const Electorate::Seat& seat : electorate_.seats) {
    if (!answered_.contains(seat.node)) outcome_->silent.push_back(seat.node);
  }
}

Status Proposer::timed_out() const {
  return unavailable(
      cat("epoch ", epoch(), " was not decided in time: ", answered_.size(), " of ", electorate_.seats.size(),
          " voters answered, ", electorate_.majority(), " are needed",
          offered_ ? "; some may have accepted this change, and then the next one completes it" : ""));
}

}  // namespace ringkv
