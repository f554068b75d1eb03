// How a stamped put goes out: to its owners, and to those that keep hints for them.

#include <utility>

#include "base/check.h"
#include "replication/admission.h"
#include "replication/puts.h"

namespace ringkv {
namespace {

using Replicating = PutRequest::Replicating;

}  // namespace

void Puts::on(PutStamped stamped, Time now, MessageOutbox& outbox) {
  const auto at = puts_.find(stamped.request);
  if (at == puts_.end()) return;  // answered, as of unknown outcome: it will be found by reads
  PutRequest& put = at->second;
  put.stage() = Replicating{std::move(stamped.record), std::move(stamped.context), stamped.siblings_stay,
                            copies_of(put, now)};
  send_out(stamped.request, put, now, outbox);
  advance(stamped.request, now, outbox);
}

// By the ring of now.
PutCopies Puts::copies_of(const PutRequest& put, Time now) const {
  const RingView& view = environment_.view;
  const PutRequest::Asked& asked = put.asked();
  const BucketDescription* bucket = view.ring().description().find_bucket(asked.bucket);
  CHECK(bucket != nullptr);  // buckets are never taken away
  Result<WriteTargets> targets = write_targets(view, asked.place.partition, asked.w, bucket->write_quorum);
  // More than a ring that came meanwhile has: no number of owners is enough.
  const uint32_t never = asked.w;
  return {targets.ok() ? std::move(targets->lists) : view.write_lists(asked.place.partition), view.self(),
          PutCopies::Rules{.needed = targets.ok() ? targets->needed : never,
                           .needed_next = targets.ok() ? targets->needed_next : never,
                           .primary = asked.primary,
                           .hints = environment_.settings.hints,
                           .hint_delay = environment_.settings.hint_delay},
          now};
}

// One that can't be reached now is sent the record all the same, and counts if it acknowledges it.
void Puts::send_out(RequestNumber request, PutRequest& put, Time now, MessageOutbox& outbox) {
  PutCopies& copies = std::get<Replicating>(put.stage()).copies;
  for (const NodeId owner : copies.owners_without()) send_copy(owner, request, put, outbox);
  for (const NodeId owner : copies.on_view(environment_.view)) {
    put.failures().add(owner, "can't be reached");
  }
  if (environment_.settings.hints) environment_.numbers.wake(request, now + environment_.settings.hint_delay);
}

void Puts::send_copy(NodeId owner, RequestNumber request, const PutRequest& put,
                     MessageOutbox& outbox) const {
  const PutRequest::Asked& asked = put.asked();
  outbox.send(owner, ReplicaPut{.request = request,
                                .place = owner == environment_.settings.self ? asked.place : Place(),
                                .bucket = asked.bucket,
                                .key = asked.key,
                                .record = std::get<Replicating>(put.stage()).record,
                                .conflict = asked.conflict,
                                .source = Source::kPut,
                                .sync = asked.sync,
                                .deadline = asked.deadline});
}

void Puts::send_hint(const PutCopies::Hint& hint, RequestNumber request, const PutRequest& put,
                     MessageOutbox& outbox) const {
  const PutRequest::Asked& asked = put.asked();
  outbox.send(hint.keeper, HintPut{.request = request,
                                   .intended = hint.intended,
                                   .place = hint.keeper == environment_.settings.self ? asked.place : Place(),
                                   .bucket = asked.bucket,
                                   .key = asked.key,
                                   .record = std::get<Replicating>(put.stage()).record,
                                   .conflict = asked.conflict,
                                   .sync = asked.sync,
                                   .deadline = asked.deadline});
}

// Of this record: what else the hint holds by then, the keeper keeps.
void Puts::cancel(const std::vector<PutCopies::Hint>& hints, const PutRequest& put,
                  MessageOutbox& outbox) const {
  const PutRequest::Asked& asked = put.asked();
  for (const PutCopies::Hint& hint : hints) {
    outbox.send(hint.keeper,
                HintCovered{.intended = hint.intended,
                            .place = hint.keeper == environment_.settings.self ? asked.place : Place(),
                            .bucket = asked.bucket,
                            .key = asked.key,
                            .context = std::get<Replicating>(put.stage()).context});
  }
}

void Puts::ask_keepers(RequestNumber request, PutRequest& put, Time now, MessageOutbox& outbox) {
  auto& replicating = std::get<Replicating>(put.stage());
  const std::vector<PutCopies::Hint> hints =
      replicating.copies.ask_keepers(environment_.view, put.asked().place.partition, now);
  for (const PutCopies::Hint& hint : hints) send_hint(hint, request, put, outbox);
  if (!hints.empty()) environment_.numbers.wake(request, now + environment_.settings.hint_delay);
}

bool Puts::on(const ReplicaPutAck& ack, Time now, MessageOutbox& outbox) {
  const auto at = puts_.find(ack.request);
  if (at == puts_.end()) return false;
  if (ack.hint_for && ack.status.ok()) environment_.statistics.count_hinted();
  cancel(at->second.on_ack(ack), at->second, outbox);
  advance(ack.request, now, outbox);
  return true;
}

void Puts::on(const StampPutAck& ack, Time now, MessageOutbox& outbox) {
  const auto at = puts_.find(ack.request);
  if (at == puts_.end() || at->second.is_answered()) return;
  if (!ack.status.ok()) return finish(ack.request, refusal(ack.status), now, outbox);
  at->second.on_ack({.request = ack.request, .replica = ack.replica, .status = {}, .hint_for = {}});
  advance(ack.request, now, outbox);
}

// Answers that are counted together are of one epoch. Once the client has his answer, who holds the record
// holds it.
void Puts::replicate_anew(RequestNumber request, Time now, MessageOutbox& outbox) {
  PutRequest& put = puts_.at(request);
  auto& replicating = std::get<Replicating>(put.stage());
  const std::vector<NodeId> holders = replicating.copies.held_by();
  replicating.copies = copies_of(put, now);
  if (replicating.answered) {
    for (const NodeId holder : holders) replicating.copies.on_held(holder);
  }
  send_out(request, put, now, outbox);
  advance(request, now, outbox);
}

bool Puts::linger(PutRequest& put, Time now, MessageOutbox& outbox) {
  auto& replicating = std::get<Replicating>(put.stage());
  if (!environment_.settings.hints || replicating.copies.settled()) return false;
  const size_t bytes = lingering_bytes_of(put);
  if (lingering_ >= kLingeringMax || lingering_bytes_ + bytes > kLingeringBytesMax) {
    environment_.statistics.count_not_waited_for();
    for (const PutCopies::Hint& hint : replicating.copies.ask_keepers(
             environment_.view, put.asked().place.partition, now, /*at_once=*/true)) {
      send_hint(hint, /*request=*/0, put, outbox);
    }
    return false;
  }
  replicating.answered = true;
  lingering_ += 1;
  lingering_bytes_ += bytes;
  environment_.statistics.set_lingering(lingering_);
  return true;
}

void Puts::end_lingering(Table::iterator put) {
  lingering_ -= 1;
  lingering_bytes_ -= lingering_bytes_of(put->second);
  environment_.statistics.set_lingering(lingering_);
  puts_.erase(put);
}

size_t Puts::lingering_bytes_of(const PutRequest& put) {
  return put.asked().key.size() + std::get<Replicating>(put.stage()).record->size();
}

}  // namespace ringkv
