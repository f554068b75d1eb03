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

}  // namespace

void Puts::start(const Arrival& arrival, ClientPut put, const BucketDescription& bucket, Place place,
                 MessageOutbox& outbox) {
  const RingView& view = environment_.view;
  const Result<WriteTargets> targets = write_targets(view, place.partition, put.w, bucket.write_quorum);
  if (!targets.ok()) return environment_.refuse(arrival, put, place.token, targets.status(), outbox);
  const bool alone = targets->lists.present.size() == 1 && targets->lists.next.empty();
  const bool stand_ins = environment_.settings.hints && !put.primary;
  if (Status status = check_reachable(view, put.key, *targets, stand_ins); !status.ok())
    return environment_.refuse(arrival, put, place.token, std::move(status), outbox);
  StampPut stamp;
  if (Status status = take_contexts(put, place.token, stamp); !status.ok()) {
    return environment_.refuse(arrival, put, place.token,
                               invalid_argument(cat("key ", display_key(put.key), ": ", status.message())),
                               outbox);
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
                                                   .primary = put.primary,
                                                   .sync = stamp.sync,
                                                   .deadline = arrival.deadline,
                                                   .operation = put.operation,
                                                   .held_bytes = bytes,
                                                   .tombstone = put.tombstone},
                                                  arrival.now));
  // Alone, a replica knows all that there is.
  if (!alone && !stamp.context && (put.read_first || put.tombstone)) {
    read_first(request, std::move(stamp), arrival.now, outbox);
  } else {
    this->stamp(request, std::move(stamp), outbox);
  }
}

RequestNumber Puts::insert(PutRequest put) {
  const RequestNumber request = environment_.numbers.next();
  const PutRequest::Asked& asked = put.asked();
  environment_.numbers.wake(request, asked.deadline);
  if (asked.operation && !put.is_answered()) {
    environment_.operations.begin(asked.operation,
                                  {.request = request, .token = asked.place.token, .synced = asked.sync},
                                  asked.deadline);
  }
  puts_.emplace(request, std::move(put));
  return request;
}

// Only contexts are wanted, so digests do.
void Puts::read_first(RequestNumber request, StampPut stamp, Time now, MessageOutbox& outbox) {
  const RingView& view = environment_.view;
  PutRequest& put = puts_.at(request);
  const std::vector<NodeId> owners = view.owners_of(put.asked().place.partition);
  const BucketDescription* bucket = view.ring().description().find_bucket(put.asked().bucket);
  CHECK(bucket != nullptr);  // buckets are never taken away
  const Result<uint32_t> read_quorum = quorum_for("r", 0, bucket->read_quorum, owners.size());
  put.stage() = Reading{std::move(stamp), Quorum(owners, *read_quorum), {}};
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

void Puts::advance(RequestNumber request, Time now, MessageOutbox& outbox) {
  const auto at = puts_.find(request);
  PutRequest& put = at->second;
  if (std::holds_alternative<Reading>(put.stage())) return advance_reading(request, now, outbox);
  const auto* replicating = std::get_if<Replicating>(&put.stage());
  if (replicating == nullptr) return;
  ask_keepers(request, put, now, outbox);
  if (replicating->answered) {
    if (replicating->copies.settled()) end_lingering(at);
    return;
  }
  if (replicating->copies.reached()) return finish(request, receipt_of(put), now, outbox);
  if (replicating->copies.possible()) return;
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
  reading.held.join(stamp.seen);
  stamp.context = std::move(reading.held);
  this->stamp(request, std::move(stamp), outbox);
}

void Puts::finish(RequestNumber request, const ClientReply& reply, Time now, MessageOutbox& outbox) {
  const auto at = puts_.find(request);
  PutRequest& put = at->second;
  environment_.held_bytes -= put.asked().held_bytes;
  const RequestKind kind = put.asked().tombstone ? RequestKind::kDelete : RequestKind::kPut;
  environment_.statistics.count(kind, reply.status, now - put.started());
  for (const Requester& requester : put.requesters()) environment_.answer(requester, reply, outbox);
  if (put.asked().operation) {
    environment_.operations.decide(put.asked().operation, outcome_of(reply.status), acknowledged_bits(put),
                                   reply.seen);
  }
  if (!reply.status.ok() || !linger(put, now, outbox)) puts_.erase(at);
}

uint32_t Puts::acknowledged_bits(const PutRequest& put) const {
  const auto* replicating = std::get_if<Replicating>(&put.stage());
  if (replicating == nullptr) return 0;
  const std::vector<NodeId> owners = environment_.view.owners_of(put.asked().place.partition);
  return bits_of(owners, replicating->copies.held_by());
}

ClientReply Puts::receipt_of(const PutRequest& put) const {
  const auto& replicating = std::get<Replicating>(put.stage());
  ClientReply reply;
  const PutCopies& copies = replicating.copies;
  reply.body = receipt(environment_.view, copies.held_by(), put.asked().sync, copies.hints_kept());
  reply.seen = encode_client_context(replicating.context, put.asked().place.token);
  if (!replicating.siblings_stay) std::get<PutReceipt>(reply.body).context = Context(reply.seen);
  return reply;
}

ClientReply Puts::unknown_outcome(const PutRequest& put, std::string_view reason) const {
  return refusal(unknown_outcome_of(put.asked().key, {put.asked().operation, environment_.settings.boot},
                                    cat(reason, put.failures().text(environment_.view))));
}

void Puts::wake(RequestNumber request, Time now, MessageOutbox& outbox) {
  const auto at = puts_.find(request);
  if (at == puts_.end()) return;
  if (now < at->second.asked().deadline) return advance(request, now, outbox);
  if (at->second.is_answered()) return end_lingering(at);
  expire(request, now, outbox);
}

void Puts::expire(RequestNumber request, Time now, MessageOutbox& outbox) {
  const PutRequest& put = puts_.at(request);
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
      read_first(request, std::move(stamp), now, outbox);
      continue;
    }
    replicate_anew(request, now, outbox);
  }
}

void Puts::on_view(Time now, MessageOutbox& outbox) {
  const RingView& view = environment_.view;
  for (const RequestNumber request : sorted_numbers(puts_)) {
    PutRequest& put = puts_.at(request);
    std::vector<NodeId> given_up;
    if (auto* reading = std::get_if<Reading>(&put.stage())) {
      for (const NodeId owner : reading->answers.waiting()) {
        if (!view.is_reachable(owner)) given_up.push_back(owner);
      }
      for (const NodeId owner : given_up) reading->answers.on_failure(owner);
    } else if (auto* replicating = std::get_if<Replicating>(&put.stage())) {
      given_up = replicating->copies.on_view(view);
    }
    for (const NodeId owner : given_up) put.failures().add(owner, "can't be reached");
    advance(request, now, outbox);
  }
}

void Puts::on_link_restored(NodeId node, MessageOutbox& outbox) const {
  for (const RequestNumber request : sorted_numbers(puts_)) {
    const PutRequest& put = puts_.at(request);
    if (const auto* reading = std::get_if<Reading>(&put.stage())) {
      if (reading->answers.awaits(node)) ask(node, request, put, outbox);
    } else if (const auto* replicating = std::get_if<Replicating>(&put.stage())) {
      const PutCopies& copies = replicating->copies;
      if (copies.awaits_owner(node)) send_copy(node, request, put, outbox);
      if (const std::optional<NodeId> intended = copies.awaits_keeper(node)) {
        send_hint({.intended = *intended, .keeper = node}, request, put, outbox);
      }
    }
  }
}

void Puts::fail_all(const Status& why, Time now, MessageOutbox& outbox) {
  for (const RequestNumber request : sorted_numbers(puts_)) {
    const auto at = puts_.find(request);
    const PutRequest& put = at->second;
    if (put.is_answered()) {
      end_lingering(at);
      continue;
    }
    finish(request,
           put.may_be_written() ? unknown_outcome(put, why.message()) : refusal(unavailable(why.message())),
           now, outbox);
  }
}

}  // namespace ringkv
