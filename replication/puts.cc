#include "replication/puts.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/text.h"
#include "replication/admission.h"
#include "replication/answers.h"
#include "replication/stamp_rules.h"

namespace ringkv {
namespace {

using Reading = PutRequest::Reading;
using Stamping = PutRequest::Stamping;
using Replicating = PutRequest::Replicating;

// What its client has seen goes into the stamp.
Status take_contexts(const ClientPut& put, Token token, StampPut& stamp) {
  if (put.context) {
    stamp.context = CausalContext();
    if (!put.context->empty()) {
      Result<CausalContext> context = decode_client_context(*put.context, token);
      if (!context.ok()) return context.status();
      stamp.context = std::move(*context);
    }
  } else if (!put.seen.empty()) {
    Result<CausalContext> seen = decode_client_context(put.seen, token);
    if (!seen.ok()) return seen.status();
    stamp.seen = std::move(*seen);
  }
  return {};
}

// Whether this node's clock alone would say that what was seen can't have been written yet.
bool is_ahead_of(const StampPut& stamp, WallMicros wall_now) {
  const HybridTime claimed = stamp.context ? stamp.context->highest_time : stamp.seen.highest_time;
  return claimed > wall_now + kSkewBoundMicros;
}

}  // namespace

void Puts::start(const Arrival& arrival, ClientPut put, const BucketDescription& bucket, Place place,
                 MessageOutbox& outbox) {
  const RingView& view = environment_.view;
  const std::vector<NodeId> owners = view.owners_of(place.partition);
  const Result<uint32_t> write_quorum = quorum_for("w", put.w, bucket.write_quorum, owners.size());
  if (!write_quorum.ok())
    return environment_.answer(arrival.requester, refusal(write_quorum.status()), outbox);
  if (Status status = check_reachable(view, put.key, owners, *write_quorum); !status.ok())
    return environment_.answer(arrival.requester, refusal(std::move(status)), outbox);
  StampPut stamp;
  if (Status status = take_contexts(put, place.token, stamp); !status.ok()) {
    return environment_.answer(
        arrival.requester,
        refusal(invalid_argument(cat("key ", display_key(put.key), ": ", status.message()))), outbox);
  }
  const size_t bytes = bytes_of(put);
  const uint64_t ttl_ms = put.ttl_ms.value_or(bucket.ttl_ms);
  stamp.place = place;
  stamp.bucket = put.bucket;
  stamp.key = put.key;
  stamp.kind = put.tombstone ? VersionKind::kTombstone : VersionKind::kValue;
  stamp.value = std::move(put.value);
  stamp.expires_at_ms = ttl_ms == 0 || put.tombstone ? 0 : milliseconds(arrival.wall_now) + ttl_ms;
  stamp.operation = put.operation;
  stamp.conflict = conflict_of(bucket);
  stamp.sync = put.durability.value_or(environment_.settings.durability) == Durability::kSynced;
  stamp.deadline = arrival.deadline;

  environment_.held_bytes += bytes;
  const RequestNumber request = insert(PutRequest(arrival.requester,
                                                  {.bucket = std::move(put.bucket),
                                                   .key = std::move(put.key),
                                                   .place = std::move(place),
                                                   .conflict = stamp.conflict,
                                                   .w = put.w,
                                                   .sync = stamp.sync,
                                                   .deadline = arrival.deadline,
                                                   .operation = put.operation,
                                                   .held_bytes = bytes,
                                                   .tombstone = put.tombstone},
                                                  arrival.now));
  // Alone, a replica knows all that there is, and the latest.
  const bool takes_all = !stamp.context && (put.read_first || put.tombstone);
  if (owners.size() > 1 && (takes_all || is_ahead_of(stamp, arrival.wall_now))) {
    read_first(request, std::move(stamp), takes_all, arrival.now, outbox);
  } else {
    this->stamp(request, std::move(stamp), outbox);
  }
}

RequestNumber Puts::insert(PutRequest put) {
  const RequestNumber request = environment_.numbers.next();
  const PutRequest::Asked& asked = put.asked();
  environment_.numbers.wake(request, asked.deadline);
  if (asked.operation) {
    environment_.operations.begin(asked.operation,
                                  {.request = request, .token = asked.place.token, .synced = asked.sync},
                                  asked.deadline);
  }
  puts_.emplace(request, std::move(put));
  return request;
}

// Only contexts are wanted, so digests do.
void Puts::read_first(RequestNumber request, StampPut stamp, bool takes_all, Time now,
                      MessageOutbox& outbox) {
  const RingView& view = environment_.view;
  PutRequest& put = puts_.at(request);
  const std::vector<NodeId> owners = view.owners_of(put.asked().place.partition);
  const BucketDescription* bucket = view.ring().description().find_bucket(put.asked().bucket);
  CHECK(bucket != nullptr);  // buckets are never taken away
  const Result<uint32_t> read_quorum = quorum_for("r", 0, bucket->read_quorum, owners.size());
  put.stage() = Reading{std::move(stamp), takes_all, Quorum(owners, *read_quorum), {}};
  for (const NodeId owner : owners) {
    if (view.is_reachable(owner)) {
      ask(owner, request, put, outbox);
    } else {
      std::get<Reading>(put.stage()).answers.on_failure(owner);
      put.failures().add(owner, "can't be reached");
    }
  }
  advance(request, now, outbox);
}

void Puts::ask(NodeId owner, RequestNumber request, const PutRequest& put, MessageOutbox& outbox) const {
  const PutRequest::Asked& asked = put.asked();
  outbox.send(owner, ReplicaGet{.request = request,
                                .place = owner == environment_.settings.self ? asked.place : Place(),
                                .bucket = asked.bucket,
                                .key = asked.key,
                                .digest = true,
                                .deadline = asked.deadline});
}

void Puts::stamp(RequestNumber request, StampPut stamp, MessageOutbox& outbox) {
  PutRequest& put = puts_.at(request);
  put.stage() = Stamping();
  put.failures() = {};
  stamp.request = request;
  outbox.send(environment_.settings.self, std::move(stamp));
}

bool Puts::add_requester(RequestNumber request, const Requester& requester) {
  const auto put = puts_.find(request);
  if (put == puts_.end()) return false;
  put->second.add_requester(requester);
  return true;
}

bool Puts::on(const ReplicaGetReply& reply, Time now, MessageOutbox& outbox) {
  const auto put = puts_.find(reply.request);
  if (put == puts_.end()) return false;
  put->second.on_reply(reply);
  advance(reply.request, now, outbox);
  return true;
}

bool Puts::on(const ReplicaPutAck& ack, Time now, MessageOutbox& outbox) {
  const auto put = puts_.find(ack.request);
  if (put == puts_.end()) return false;
  put->second.on_ack(ack.replica, ack.status);
  advance(ack.request, now, outbox);
  return true;
}

void Puts::on(PutStamped stamped, Time now, MessageOutbox& outbox) {
  const auto at = puts_.find(stamped.request);
  if (at == puts_.end()) return;  // answered, as of unknown outcome: it will be found by reads
  PutRequest& put = at->second;
  put.stage() = Replicating{std::move(stamped.record), std::move(stamped.context), stamped.siblings_stay,
                            acknowledgements(put)};
  const RingView& view = environment_.view;
  const std::vector<NodeId> owners = view.owners_of(put.asked().place.partition);
  put.failures().add(view, owners);
  for (const NodeId owner : owners) {
    if (owner != view.self()) send_copy(owner, stamped.request, put, outbox);
  }
  advance(stamped.request, now, outbox);
}

// Of the present owners. One that can't be reached now is sent the record all the same, and counts if it
// acknowledges it.
Quorum Puts::acknowledgements(const PutRequest& put) const {
  const RingView& view = environment_.view;
  const PutRequest::Asked& asked = put.asked();
  const std::vector<NodeId> owners = view.owners_of(asked.place.partition);
  const BucketDescription* bucket = view.ring().description().find_bucket(asked.bucket);
  CHECK(bucket != nullptr);  // buckets are never taken away
  const Result<uint32_t> write_quorum = quorum_for("w", asked.w, bucket->write_quorum, owners.size());
  Quorum quorum(owners, write_quorum.ok() ? *write_quorum : asked.w);
  for (const NodeId owner : owners) {
    if (!view.is_reachable(owner)) quorum.on_failure(owner);
  }
  return quorum;
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

void Puts::on(const StampPutAck& ack, Time now, MessageOutbox& outbox) {
  const auto at = puts_.find(ack.request);
  if (at == puts_.end()) return;  // already answered
  if (!ack.status.ok()) return finish(ack.request, refusal(ack.status), now, outbox);
  at->second.on_ack(ack.replica, ack.status);
  advance(ack.request, now, outbox);
}

void Puts::advance(RequestNumber request, Time now, MessageOutbox& outbox) {
  PutRequest& put = puts_.at(request);
  if (std::holds_alternative<Reading>(put.stage())) return advance_reading(request, now, outbox);
  const auto* replicating = std::get_if<Replicating>(&put.stage());
  if (replicating == nullptr) return;
  if (replicating->acks.reached()) return finish(request, receipt_of(put), now, outbox);
  if (replicating->acks.possible()) return;
  finish(request, unknown_outcome(put, "too few of its owners can acknowledge it"), now, outbox);
}

void Puts::advance_reading(RequestNumber request, Time now, MessageOutbox& outbox) {
  PutRequest& put = puts_.at(request);
  auto& reading = std::get<Reading>(put.stage());
  const Quorum& answers = reading.answers;
  if (!answers.possible()) {
    return finish(
        request,
        refusal(unavailable(cat(
            "key ", display_key(put.asked().key), ": ", answers.succeeded().size(), " of ", answers.needed(),
            " owners said what they hold, and nothing was written", put.failures().text(environment_.view)))),
        now, outbox);
  }
  if (!answers.reached()) return;
  StampPut stamp = std::move(reading.stamp);
  stamp.witnessed = reading.held.highest_time;
  if (reading.takes_all) {
    reading.held.join(stamp.seen);
    stamp.context = std::move(reading.held);
  }
  this->stamp(request, std::move(stamp), outbox);
}

void Puts::finish(RequestNumber request, const ClientReply& reply, Time now, MessageOutbox& outbox) {
  const auto at = puts_.find(request);
  const PutRequest put = std::move(at->second);
  puts_.erase(at);
  environment_.held_bytes -= put.asked().held_bytes;
  const RequestKind kind = put.asked().tombstone ? RequestKind::kDelete : RequestKind::kPut;
  environment_.statistics.count(kind, reply.status, now - put.started());
  for (const Requester& requester : put.requesters()) environment_.answer(requester, reply, outbox);
  if (!put.asked().operation) return;
  environment_.operations.decide(put.asked().operation, outcome_of(reply.status), acknowledged_bits(put));
}

uint32_t Puts::acknowledged_bits(const PutRequest& put) const {
  const auto* replicating = std::get_if<Replicating>(&put.stage());
  if (replicating == nullptr) return 0;
  const std::vector<NodeId> owners = environment_.view.owners_of(put.asked().place.partition);
  return bits_of(owners, replicating->acks.succeeded());
}

ClientReply Puts::receipt_of(const PutRequest& put) const {
  const auto& replicating = std::get<Replicating>(put.stage());
  ClientReply reply;
  reply.body = receipt(environment_.view, replicating.acks.succeeded(), put.asked().sync);
  reply.seen = encode_client_context(replicating.context, put.asked().place.token);
  if (!replicating.siblings_stay) std::get<PutReceipt>(reply.body).context = Context(reply.seen);
  return reply;
}

ClientReply Puts::unknown_outcome(const PutRequest& put, std::string_view reason) const {
  return refusal(unknown_outcome_of(put.asked().key, {put.asked().operation, environment_.settings.boot},
                                    cat(reason, put.failures().text(environment_.view))));
}

void Puts::expire(RequestNumber request, Time now, MessageOutbox& outbox) {
  const auto at = puts_.find(request);
  if (at == puts_.end() || now < at->second.asked().deadline) return;
  const PutRequest& put = at->second;
  if (put.may_be_written()) {
    return finish(request, unknown_outcome(put, "timed out before enough owners acknowledged it"), now,
                  outbox);
  }
  const Quorum& answers = std::get<Reading>(put.stage()).answers;
  finish(request,
         refusal(unavailable(cat("key ", display_key(put.asked().key), ": timed out with ",
                                 answers.succeeded().size(), " of ", answers.needed(),
                                 " answers of what its owners hold, and nothing was written",
                                 put.failures().text(environment_.view)))),
         now, outbox);
}

void Puts::on_ring(Time now, MessageOutbox& outbox) {
  const RingView& view = environment_.view;
  for (const RequestNumber old : sorted_numbers(puts_)) {
    // What is being stamped is this node's own affair; it goes out by the ring of the moment when it is.
    if (std::holds_alternative<Stamping>(puts_.at(old).stage())) continue;
    const std::vector<NodeId> owners = view.owners_of(puts_.at(old).asked().place.partition);
    const bool is_owner = std::find(owners.begin(), owners.end(), view.self()) != owners.end();
    if (!puts_.at(old).may_be_written() && !is_owner) {
      finish(old, refusal(unavailable("the ring has changed and nothing was written: try again")), now,
             outbox);
      continue;
    }
    const RequestNumber request = insert(std::move(puts_.extract(old).mapped()));
    PutRequest& put = puts_.at(request);
    if (auto* reading = std::get_if<Reading>(&put.stage())) {
      StampPut stamp = std::move(reading->stamp);
      const bool takes_all = reading->takes_all;
      read_first(request, std::move(stamp), takes_all, now, outbox);
      continue;
    }
    std::get<Replicating>(put.stage()).acks = acknowledgements(put);
    for (const NodeId owner : owners) send_copy(owner, request, put, outbox);
    advance(request, now, outbox);
  }
}

void Puts::on_view(Time now, MessageOutbox& outbox) {
  const RingView& view = environment_.view;
  for (const RequestNumber request : sorted_numbers(puts_)) {
    PutRequest& put = puts_.at(request);
    Quorum* quorum = nullptr;
    if (auto* reading = std::get_if<Reading>(&put.stage())) quorum = &reading->answers;
    if (auto* replicating = std::get_if<Replicating>(&put.stage())) quorum = &replicating->acks;
    if (quorum == nullptr) continue;
    for (const NodeId owner : std::vector<NodeId>(quorum->waiting())) {
      if (view.is_reachable(owner)) continue;
      quorum->on_failure(owner);
      put.failures().add(owner, "can't be reached");
    }
    advance(request, now, outbox);
  }
}

void Puts::on_link_restored(NodeId node, MessageOutbox& outbox) const {
  for (const RequestNumber request : sorted_numbers(puts_)) {
    const PutRequest& put = puts_.at(request);
    if (const auto* reading = std::get_if<Reading>(&put.stage())) {
      if (reading->answers.awaits(node)) ask(node, request, put, outbox);
    } else if (const auto* replicating = std::get_if<Replicating>(&put.stage())) {
      if (replicating->acks.awaits(node)) send_copy(node, request, put, outbox);
    }
  }
}

void Puts::fail_all(const Status& why, Time now, MessageOutbox& outbox) {
  for (const RequestNumber request : sorted_numbers(puts_)) {
    const PutRequest& put = puts_.at(request);
    finish(request,
           put.may_be_written() ? unknown_outcome(put, why.message()) : refusal(unavailable(why.message())),
           now, outbox);
  }
}

}  // namespace ringkv
