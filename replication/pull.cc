#include "replication/pull.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "replication/round_source.h"

namespace ringkv {
namespace {

constexpr size_t kPartitionsAsked = 4096;  // in one question

}  // namespace

Pull::Pull(ConvergenceEnvironment& environment, NodeId source, std::optional<Partition> only, Moment moment)
    : environment_(environment),
      source_(source),
      only_(only),
      began_(moment.now),
      epoch_(environment.view.ring().epoch()) {
  if (only) {
    shared_ = {*only};
  } else {
    shared_ = shared_partitions(environment.view, environment.view.self(), source);
  }
}

void Pull::start(Moment moment, MessageOutbox& outbox) {
  if (only_) {
    differing_groups_ = shared_;
    return ask_next_partitions(moment, outbox);
  }
  ask(DigestLevel::kPair, {}, moment, outbox);
}

void Pull::ask(DigestLevel level, std::vector<uint32_t> ids, Moment moment, MessageOutbox& outbox) {
  stage_ = level == DigestLevel::kPair     ? Stage::kPair
           : level == DigestLevel::kGroups ? Stage::kGroups
                                           : Stage::kPartitions;
  number_ = environment_.next_number();
  asked_at_ = moment.now;
  outbox.send(source_, RoundCompare{.round = number_, .level = level, .ids = std::move(ids)});
}

bool Pull::on(RoundDigests& digests, Moment moment, MessageOutbox& outbox) {
  if (digests.round != number_ || ended()) return false;
  number_ = 0;
  if (!digests.status.ok()) {
    fail(std::move(digests.status));
    return true;
  }
  // What both own is known by the ring: by another one it may be something else.
  if (digests.epoch != epoch_) {
    fail(unavailable(cat("has epoch ", digests.epoch, ", not ", epoch_)));
    return true;
  }
  for (const VersionVector::Entry& entry : digests.lives.vector.entries()) {
    if (entry.actor.node != source_ || entry.counter < source_counter_) continue;
    source_counter_ = entry.counter;
    source_life_ = entry.actor;
  }
  compare(digests, moment, outbox);
  return true;
}

// Own digests of this moment: equal ones hold all that the source had stamped when it answered.
void Pull::compare(const RoundDigests& digests, Moment moment, MessageOutbox& outbox) {
  const LeafTable& leaves = environment_.store.leaves();
  if (digests.level == DigestLevel::kPair) {
    if (digests.digests.size() == 1 && digests.digests.front() == leaves.hash_of(shared_)) {
      found_equal(shared_, digests.lives);
      return settle(moment, outbox);
    }
    return ask(DigestLevel::kGroups, {}, moment, outbox);
  }
  std::vector<Partition> equal;
  if (digests.level == DigestLevel::kGroups) {
    std::map<uint32_t, Hash128> theirs;
    for (size_t i = 0; i < std::min(digests.ids.size(), digests.digests.size()); ++i)
      theirs[digests.ids[i]] = digests.digests[i];
    for (size_t begin = 0, end = 0; begin < shared_.size(); begin = end) {
      const uint32_t group = shared_[begin] / kPartitionsPerGroup;
      while (end < shared_.size() && shared_[end] / kPartitionsPerGroup == group) ++end;
      const std::span<const Partition> partitions = std::span(shared_).subspan(begin, end - begin);
      const auto at = theirs.find(group);
      const bool is_equal = at != theirs.end() && at->second == leaves.hash_of(partitions);
      auto& list = is_equal ? equal : differing_groups_;
      list.insert(list.end(), partitions.begin(), partitions.end());
    }
  } else {
    for (size_t i = 0; i < std::min(digests.ids.size(), digests.digests.size()); ++i) {
      const Partition partition = digests.ids[i];
      if (!std::binary_search(shared_.begin(), shared_.end(), partition)) continue;
      if (leaves.partition_hash(partition) == digests.digests[i]) {
        equal.push_back(partition);
      } else {
        to_pull_.push_back(partition);
      }
    }
  }
  found_equal(equal, digests.lives);
  ask_next_partitions(moment, outbox);
}

void Pull::found_equal(const std::vector<Partition>& partitions, const Floor& lives) {
  if (partitions.empty()) return;
  environment_.store.raise_floors(partitions, lives);
  environment_.wholeness.on_round(partitions, source_, environment_.view.ring());
  environment_.floors_raised = true;
}

void Pull::ask_next_partitions(Moment moment, MessageOutbox& outbox) {
  if (!differing_groups_.empty()) {
    const size_t count = std::min(differing_groups_.size(), kPartitionsAsked);
    const auto end = differing_groups_.begin() + static_cast<ptrdiff_t>(count);
    std::vector<uint32_t> ids(differing_groups_.begin(), end);
    differing_groups_.erase(differing_groups_.begin(), end);
    return ask(DigestLevel::kPartitions, std::move(ids), moment, outbox);
  }
  differing_ = to_pull_.size();
  if (to_pull_.empty()) return settle(moment, outbox);
  stage_ = Stage::kPause;
  pause_until_ = moment.now + kSecondLook;
}

void Pull::pull_on(Moment moment, MessageOutbox& outbox) {
  while (rounds_.size() < kPartitionsAtOnce && !to_pull_.empty()) {
    const RequestNumber number = environment_.next_number();
    const Partition partition = to_pull_.front();
    to_pull_.pop_front();
    PartitionRound& round =
        rounds_.try_emplace(number, environment_, number, source_, partition).first->second;
    round.start(moment, outbox);
  }
}

// Looks which partitions are through.
void Pull::settle(Moment moment, MessageOutbox& outbox) {
  if (ended()) return;
  for (auto at = rounds_.begin(); at != rounds_.end();) {
    const PartitionRound& round = at->second;
    if (!round.ended()) {
      ++at;
      continue;
    }
    counts_.differences += round.counts().differences;
    counts_.keys += round.counts().keys;
    counts_.bytes += round.counts().bytes;
    if (!round.status().ok()) return fail(round.status());
    environment_.wholeness.on_round({round.partition()}, source_, environment_.view.ring());
    at = rounds_.erase(at);
  }
  if (stage_ == Stage::kPulling) pull_on(moment, outbox);
  const bool compared = stage_ == Stage::kPulling || (number_ == 0 && stage_ != Stage::kPause);
  if (compared && rounds_.empty() && to_pull_.empty()) stage_ = Stage::kEnded;
}

void Pull::tick(Moment moment, MessageOutbox& outbox) {
  if (ended()) return;
  if (number_ != 0 && moment.now >= asked_at_ + kPatience) return fail(unavailable("doesn't answer"));
  if (stage_ == Stage::kPause && moment.now >= pause_until_) {
    stage_ = Stage::kPulling;
    pull_on(moment, outbox);
  }
  for (auto& [number, round] : rounds_) round.give_up_if_silent(moment.now);
  if (stage_ == Stage::kPulling) settle(moment, outbox);
}

template <class Offer>
bool Pull::offer(Moment moment, MessageOutbox& outbox, Offer offer) {
  for (auto& [number, round] : rounds_) {
    if (!offer(round)) continue;
    if (round.ended()) settle(moment, outbox);
    return true;
  }
  return false;
}

bool Pull::on(RoundLeaves& leaves, Moment moment, MessageOutbox& outbox) {
  const auto at = rounds_.find(leaves.round);
  if (at == rounds_.end()) return false;
  at->second.on(std::move(leaves), moment, outbox);
  if (at->second.ended()) settle(moment, outbox);
  return true;
}

bool Pull::on(RoundSlice& slice, Moment moment, MessageOutbox& outbox) {
  const auto at = rounds_.find(slice.round);
  if (at == rounds_.end()) return false;
  at->second.on(std::move(slice), moment, outbox);
  if (at->second.ended()) settle(moment, outbox);
  return true;
}

bool Pull::on(RangeRead& read, Moment moment, MessageOutbox& outbox) {
  return offer(moment, outbox, [&](PartitionRound& round) { return round.on(read, moment, outbox); });
}

bool Pull::on(const ReplicaPutAck& ack, Moment moment, MessageOutbox& outbox) {
  return offer(moment, outbox, [&](PartitionRound& round) { return round.on(ack, moment, outbox); });
}

void Pull::on_committed(BatchNumber batch, MessageOutbox& outbox) {
  for (auto& [number, round] : rounds_) round.on_committed(batch, outbox);
}

void Pull::fail(Status why) {
  if (ended()) return;
  stage_ = Stage::kEnded;
  status_ = std::move(why);
  rounds_.clear();
  to_pull_.clear();
}

}  // namespace ringkv
