#include "gossip/epoch_register.h"

#include <utility>

#include "base/check.h"
#include "base/text.h"

namespace ringkv {
namespace {

BootOf with_own(const Voter& self, BootOf boot_of) {
  return [self, boot_of = std::move(boot_of)](NodeId node) {
    return node == self.node ? self.boot : boot_of(node);
  };
}

}  // namespace

Result<EpochRegister> EpochRegister::open(const Voter& self, Electorate electorate,
                                          std::string_view acceptor_record, BootOf boot_of, Random& random) {
  Result<VoteRecord> votes = decode_vote_record(acceptor_record);
  if (!votes.ok()) return votes.status();
  return EpochRegister(self, std::move(electorate), std::move(*votes), std::move(boot_of), random);
}

EpochRegister::EpochRegister(const Voter& self, Electorate electorate, VoteRecord votes, BootOf boot_of,
                             Random& random)
    : self_(self),
      boot_of_(with_own(self, std::move(boot_of))),
      random_(random),
      electorate_(std::move(electorate)),
      acceptor_(self, std::move(votes)) {}

Status EpochRegister::propose(std::string description, Time now, Time deadline, GossipOutbox& outbox) {
  CHECK(!description.empty());
  if (proposer_ || outcome_)
    return unavailable(cat("epoch ", electorate_.epoch + 1, " is being decided: try again"));
  if (description.size() > kDescriptionBytesMax)
    return too_large(cat("the ring description has ", description.size(), " bytes; at most ",
                         kDescriptionBytesMax, " (", human_bytes(kDescriptionBytesMax), ")"));
  proposer_.emplace(self_, electorate_, boot_of_, random_,
                    Proposer::Proposal{std::move(description), deadline, last_round_});
  proposer_->start(now, outbox);
  return {};
}

// A copy of a directory, or a life that was taken for dead, must not win with ballots what it couldn't win
// with votes.
bool EpochRegister::is_latest_life(NodeId from, const Ballot& ballot) const {
  return ballot.node == from && ballot.boot && ballot.boot == boot_of_(from);
}

void EpochRegister::on(NodeId from, const Prepare& prepare, GossipOutbox& outbox) {
  if (is_latest_life(from, prepare.ballot)) acceptor_.on(from, prepare, electorate_, outbox);
}

void EpochRegister::on(NodeId from, const Accept& accept, GossipOutbox& outbox) {
  if (is_latest_life(from, accept.ballot)) acceptor_.on(from, accept, electorate_, outbox);
}

void EpochRegister::on(NodeId from, const Promise& promise, Time now, GossipOutbox& outbox) {
  if (!proposer_) return;
  proposer_->on(from, promise, now, outbox);
  close_finished();
}

void EpochRegister::on(NodeId from, const Accepted& accepted, Time now, GossipOutbox& outbox) {
  if (!proposer_) return;
  proposer_->on(from, accepted, now, outbox);
  close_finished();
}

void EpochRegister::tick(Time now, GossipOutbox& outbox) {
  if (!proposer_) return;
  proposer_->tick(now, outbox);
  close_finished();
}

void EpochRegister::close_finished() {
  if (!proposer_->outcome()) return;
  outcome_ = proposer_->outcome();
  last_round_ = proposer_->last_round();
  proposer_.reset();
}

std::optional<EpochRegister::Outcome> EpochRegister::take_outcome() {
  return std::exchange(outcome_, std::nullopt);
}

void EpochRegister::adopt(Electorate next) {
  if (!electorate_.is_before(next)) return;
  electorate_ = std::move(next);
  if (!proposer_) return;
  proposer_->overtake(electorate_);
  close_finished();
}

}  // namespace ringkv
