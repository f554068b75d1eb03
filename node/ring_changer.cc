#include "node/ring_changer.h"

#include <utility>

#include "base/text.h"

namespace ringkv {

// Who learns first that he is no member any more ends, and would be the only one to know of that ring: the
// others would wait for him.
Result<RingDescription> RingChanger::next_of(const Change& change, const Ring& ring) const {
  const RingDescription& present = ring.description();
  Result<RingDescription> next = change.edit(present);
  if (!next.ok() || *next == present) return next;
  const Member* self = present.find_member(self_);
  if (self != nullptr && next->find_member(self_) == nullptr) {
    return forbidden(cat(self->name, " would be no member of the cluster by this: ask another node"));
  }
  next->epoch = present.epoch + 1;
  return next;
}

void RingChanger::start(const Ring& ring, Time now, GossipOutbox& outbox) {
  while (!changes_.empty() && changes_.front().proposed.empty() && !register_.proposing()) {
    Change& change = changes_.front();
    if (now >= change.deadline) {
      finish(change.tried ? undecided({}) : unavailable("the ring was changed by others until time ran out"));
      continue;
    }
    const Result<RingDescription> next = next_of(change, ring);
    if (!next.ok()) {
      finish(next.status());
      continue;
    }
    if (*next == ring.description()) {
      finish({});
      continue;
    }
    std::string encoded = encode_ring_description(*next);
    // What every later start must read is read once before it is proposed.
    if (const Result<RingDescription> readable = decode_ring_description(encoded); !readable.ok()) {
      finish(readable.status());
      continue;
    }
    change.tried = true;
    change.proposed = encoded;
    if (Status status = register_.propose(std::move(encoded), now, change.deadline, outbox); !status.ok())
      finish(std::move(status));
  }
}

void RingChanger::on_outcome(const EpochRegister::Outcome& outcome) {
  if (changes_.empty() || changes_.front().proposed.empty()) return;
  const std::string proposed = std::exchange(changes_.front().proposed, {});
  if (!outcome.status.ok()) {
    if (!outcome.overtaken) return finish(undecided(outcome));
  } else if (outcome.chosen == proposed) {
    return finish({});
  }
  ++proposals_lost_;  // it is tried again on the ring that came first
}

void RingChanger::finish(Status status) {
  const Done done = std::move(changes_.front().done);
  changes_.pop_front();
  done(std::move(status));
}

Status RingChanger::undecided(const EpochRegister::Outcome& outcome) const {
  std::string names;
  for (const NodeId node : outcome.silent) names += (names.empty() ? "" : ", ") + name_of_(node);
  return unknown_outcome(cat(
      "the ring wasn't changed in time, and may yet be: a majority of its voters must agree",
      names.empty() ? "" : cat(", and these didn't answer: ", names), "; see `kvctl ring` and try again"));
}

void RingChanger::fail_all(const Status& why) {
  while (!changes_.empty()) finish(why);
}

}  // namespace ringkv
