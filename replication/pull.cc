#include "replication/pull.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "base/text.h"
#include "replication/round_source.h"

namespace ringkv {
namespace {

constexpr size_t kPartitionsAsked = 4096;  // in one question
constexpr size_t kTriedAtOnce = 64;

// No other partition would fare better.
bool ends_all(const Status& status) {
  return status.code() == StatusCode::kUnavailable || status.code() == StatusCode::kOutOfSpace;
}

}  // namespace

Pull::Pull(ConvergenceEnvironment& environment, OpenPartitions& open, NodeId source,
           std::vector<Partition> named, Moment moment)
    : environment_(environment),
      open_(open),
      source_(source),
      named_(std::move(named)),
      began_(moment.now),
      epoch_(environment.view.ring().epoch()) {
  shared_ = is_of_all() ? shared_partitions(environment.view, environment.view.self(), source) : named_;
}

// ---- Down to the partitions that differ

void Pull::start(Moment moment, MessageOutbox& outbox) {
  if (is_of_all()) return ask(DigestLevel::kPair, {}, moment, outbox);
  to_compare_.assign(named_.begin(), named_.end());
  ask_next_partitions(moment, outbox);
}

void Pull::ask(DigestLevel level, std::vector<uint32_t> ids, Moment moment, MessageOutbox& outbox) {
  question_ = environment_.next_number();
  asked_at_ = moment.now;
  outbox.send(source_, RoundCompare{.round = question_, .level = level, .ids = std::move(ids)});
}

bool Pull::on(RoundDigests& digests, Moment moment, MessageOutbox& outbox) {
  if (question_ == 0 || digests.round != question_) return false;
  question_ = 0;
  if (!digests.status.ok()) {
    fail(std::move(digests.status));
    return true;
  }
  // What both own is known by the ring: by another one it may be something else.
  if (digests.epoch != epoch_) {
    wait_for_epoch(digests.epoch, moment.now);
    return true;
  }
  for (const VersionVector::Entry& entry : digests.lives.vector.entries()) {
    if (entry.actor.node != source_ || entry.counter < source_counter_) continue;
    source_counter_ = entry.counter;
    source_life_ = entry.actor;
  }
  source_incomplete_.insert(digests.incomplete.begin(), digests.incomplete.end());
  compare(digests, moment, outbox);
  return true;
}

void Pull::wait_for_epoch(uint64_t theirs, Time now) {
  if (++epoch_tries_ > kEpochTries) return fail(unavailable(cat("has epoch ", theirs, ", not ", epoch_)));
  to_compare_.clear();
  to_pull_.clear();
  equal_.clear();
  lives_.reset();
  begin_again_at_ = now + kEpochPause;
}

// Own digests of this moment: equal ones hold all that the source had stamped when it answered.
void Pull::compare(const RoundDigests& digests, Moment moment, MessageOutbox& outbox) {
  if (digests.level == DigestLevel::kPair) {
    const Hash128 own = environment_.store.leaves().hash_of(shared_);
    was_equal_ = digests.digests.size() == 1 && digests.digests.front() == own;
    if (!was_equal_) return ask(DigestLevel::kGroups, {}, moment, outbox);
    found_equal(shared_, digests.lives);
    stage_ = Stage::kPulling;
    return settle(moment, outbox);
  }
  if (!lives_) lives_ = digests.lives;
  if (digests.level == DigestLevel::kGroups) {
    compare_groups(digests);
  } else {
    compare_partitions(digests);
  }
  ask_next_partitions(moment, outbox);
}

void Pull::compare_groups(const RoundDigests& digests) {
  std::map<uint32_t, Hash128> theirs;
  for (size_t i = 0; i < std::min(digests.ids.size(), digests.digests.size()); ++i) {
    theirs[digests.ids[i]] = digests.digests[i];
  }
  for (size_t begin = 0, end = 0; begin < shared_.size(); begin = end) {
    const uint32_t group = shared_[begin] / kPartitionsPerGroup;
    while (end < shared_.size() && shared_[end] / kPartitionsPerGroup == group) ++end;
    const std::span<const Partition> partitions = std::span(shared_).subspan(begin, end - begin);
    const auto at = theirs.find(group);
    if (at != theirs.end() && at->second == environment_.store.leaves().hash_of(partitions)) {
      equal_.insert(equal_.end(), partitions.begin(), partitions.end());
    } else {
      to_compare_.insert(to_compare_.end(), partitions.begin(), partitions.end());
    }
  }
}

// One that the source leaves out is opened too: it will say why.
void Pull::compare_partitions(const RoundDigests& digests) {
  std::map<Partition, Hash128> theirs;
  for (size_t i = 0; i < std::min(digests.ids.size(), digests.digests.size()); ++i) {
    theirs[digests.ids[i]] = digests.digests[i];
  }
  for (const Partition partition : std::exchange(asked_, {})) {
    const auto at = theirs.find(partition);
    if (at != theirs.end() && at->second == environment_.store.leaves().partition_hash(partition)) {
      equal_.push_back(partition);
    } else {
      to_pull_.push_back(partition);
    }
  }
}

void Pull::ask_next_partitions(Moment moment, MessageOutbox& outbox) {
  if (!to_compare_.empty()) {
    const auto end =
        to_compare_.begin() + static_cast<ptrdiff_t>(std::min(to_compare_.size(), kPartitionsAsked));
    asked_.assign(to_compare_.begin(), end);
    to_compare_.erase(to_compare_.begin(), end);
    return ask(DigestLevel::kPartitions, asked_, moment, outbox);
  }
  // All at once: what is on disk of them is one record for each of the source's lives.
  std::sort(equal_.begin(), equal_.end());
  if (!equal_.empty()) found_equal(std::exchange(equal_, {}), *lives_);
  differing_ = to_pull_.size();
  stage_ = Stage::kPulling;
  settle(moment, outbox);
}

void Pull::found_equal(std::vector<Partition> partitions, const Floor& lives) {
  std::erase_if(partitions, [this](Partition partition) {
    if (!environment_.needs_claims(partition)) return false;
    to_pull_.push_back(partition);
    return true;
  });
  environment_.store.raise_floors(partitions, lives);
  environment_.on_round(partitions, source_, source_incomplete_);
  pulled_.insert(pulled_.end(), partitions.begin(), partitions.end());
  environment_.floors_raised = true;
}

// ---- What differs

// Those that have paused first: they are nearer to their end.
void Pull::pull_on(Moment moment, MessageOutbox& outbox) {
  while (!ended() && rounds_.size() < kPartitionsAtOnce && open_.count < OpenPartitions::kMax) {
    if (!paused_.empty() && moment.now >= paused_.front().pauses_until()) {
      PartitionRound& round = rounds_.emplace_back(std::move(paused_.front()));
      paused_.pop_front();
      ++open_.count;
      round.resume(moment, outbox);
    } else if (paused_.size() < kPausedMax && take_next()) {
      PartitionRound& round = rounds_.emplace_back(environment_, source_, to_pull_.front());
      to_pull_.pop_front();
      ++open_.count;
      round.start(moment, outbox);
    } else {
      return;
    }
  }
}

// One that no other pull has open comes to the front; those that are open wait at the end.
bool Pull::take_next() {
  for (size_t tries = std::min(to_pull_.size(), kTriedAtOnce); tries > 0; --tries) {
    if (open_.taken.insert(to_pull_.front()).second) return true;
    to_pull_.push_back(to_pull_.front());
    to_pull_.pop_front();
  }
  return false;
}

void Pull::close_all() {
  open_.count -= rounds_.size();
  for (PartitionRound& round : rounds_) {
    round.give_up();
    open_.taken.erase(round.partition());
  }
  for (const PartitionRound& round : paused_) open_.taken.erase(round.partition());
  rounds_.clear();
  paused_.clear();
}

// Looks which partitions are through, or pause.
void Pull::settle(Moment moment, MessageOutbox& outbox) {
  if (stage_ != Stage::kPulling) return;
  for (bool some = true; some;) {
    some = false;
    pull_on(moment, outbox);
    for (auto at = rounds_.begin(); at != rounds_.end() && !ended();) {
      if (!at->ended() && !at->pauses()) {
        ++at;
        continue;
      }
      const auto round = at++;
      if (round->ended()) take(*round);
      if (ended()) return;
      if (round->pauses()) {
        paused_.push_back(std::move(*round));
      } else {
        open_.taken.erase(round->partition());
      }
      rounds_.erase(round);
      --open_.count;
      some = true;
    }
  }
  if (rounds_.empty() && paused_.empty() && to_pull_.empty()) stage_ = Stage::kEnded;
}

void Pull::take(const PartitionRound& round) {
  counts_.differences += round.counts().differences;
  counts_.keys += round.counts().keys;
  counts_.bytes += round.counts().bytes;
  if (round.status().ok()) {
    if (!round.source_is_whole()) source_incomplete_.insert(round.partition());
    environment_.on_round({round.partition()}, source_, source_incomplete_);
    pulled_.push_back(round.partition());
    return;
  }
  Status status(round.status().code(), cat("partition ", round.partition(), ": ", round.status().message()));
  if (ends_all(status)) return fail(std::move(status));
  if (status_.ok()) status_ = std::move(status);
}

void Pull::tick(Moment moment, MessageOutbox& outbox) {
  if (ended()) return;
  if (question_ != 0 && moment.now >= asked_at_ + kPatience) return fail(unavailable("doesn't answer"));
  if (begin_again_at_ && moment.now >= *begin_again_at_) {
    begin_again_at_.reset();
    return start(moment, outbox);
  }
  for (PartitionRound& round : rounds_) round.tick(moment, outbox);
  settle(moment, outbox);
}

template <class Offer>
bool Pull::offer(Moment moment, MessageOutbox& outbox, Offer offer) {
  for (PartitionRound& round : rounds_) {
    if (!offer(round)) continue;
    if (round.ended() || round.pauses()) settle(moment, outbox);
    return true;
  }
  return false;
}

bool Pull::on(RoundLeaves& leaves, Moment moment, MessageOutbox& outbox) {
  return offer(moment, outbox, [&](PartitionRound& round) { return round.on(leaves, moment, outbox); });
}

bool Pull::on(RoundSlice& slice, Moment moment, MessageOutbox& outbox) {
  return offer(moment, outbox, [&](PartitionRound& round) { return round.on(slice, moment, outbox); });
}

bool Pull::on(RangeRead& read, Moment moment, MessageOutbox& outbox) {
  return offer(moment, outbox, [&](PartitionRound& round) { return round.on(read, moment, outbox); });
}

bool Pull::on(const ReplicaPutAck& ack, Moment moment, MessageOutbox& outbox) {
  return offer(moment, outbox, [&](PartitionRound& round) { return round.on(ack, moment, outbox); });
}

void Pull::on_committed(BatchNumber batch, MessageOutbox& outbox) {
  for (PartitionRound& round : rounds_) round.on_committed(batch, outbox);
}

void Pull::fail(Status why) {
  if (ended()) return;
  stage_ = Stage::kEnded;
  question_ = 0;
  status_ = std::move(why);
  close_all();
  to_pull_.clear();
}

void Pull::make_void(Status why) {
  if (ended()) return;
  void_ = true;
  fail(std::move(why));
}

}  // namespace ringkv
