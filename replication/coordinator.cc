#include "replication/coordinator.h"

#include <algorithm>
#include <utility>

#include "base/limits.h"
#include "base/text.h"
#include "replication/answers.h"

namespace ringkv {
namespace {

constexpr size_t kCursorBytesMax = kKeyBytesMax + 128;  // token, bucket, key
constexpr Duration kExplainTimeout = std::chrono::milliseconds(800);

Moment moment_of(const Arrival& arrival) { return {arrival.now, arrival.wall_now}; }

}  // namespace

Load Coordinator::load(const Arrival& arrival) const {
  return {.requests = under_way(),
          .requests_max = environment_.settings.requests_max,
          .held_bytes = environment_.held_bytes + arrival.backlog_bytes,
          .held_bytes_max = environment_.settings.held_bytes_max};
}

void Coordinator::on(const Arrival& arrival, ClientPut put, MessageOutbox& outbox) {
  const Result<const BucketDescription*> bucket = check_put(environment_.view.ring().description(), put);
  if (!bucket.ok()) return environment_.answer(arrival.requester, refusal(bucket.status()), outbox);
  Place place = environment_.view.place(put.bucket, put.key);
  // First of all: a retry must not be refused as if nothing had been written.
  if (answered_as_retry(arrival, put, **bucket, place, outbox)) return;
  route(arrival, std::move(put), **bucket, std::move(place), outbox);
}

void Coordinator::route(const Arrival& arrival, ClientPut put, const BucketDescription& bucket, Place place,
                        MessageOutbox& outbox) {
  const std::vector<NodeId> owners = environment_.view.owners_of(place.partition);
  const bool is_owner = std::find(owners.begin(), owners.end(), environment_.settings.self) != owners.end();
  if (!is_owner && arrival.requester.forwarded_by) {
    return environment_.answer(
        arrival.requester,
        refusal({StatusCode::kStaleEpoch, cat("key ", display_key(put.key), " has other owners in epoch ",
                                              environment_.view.ring().epoch())}),
        outbox);
  }
  Status room = check_room(load(arrival), bytes_of(put));
  if (is_owner && !put.tombstone && !puts_refused_.empty()) {
    room = out_of_space(cat("key ", display_key(put.key), " is not stored: ", puts_refused_));
  }
  if (!room.ok()) return environment_.refuse(arrival, put, place.token, std::move(room), outbox);
  if (!is_owner) return hand_on(arrival, std::move(put), place.token, owners, outbox);
  puts_.start(arrival, std::move(put), bucket, std::move(place), outbox);
}

void Coordinator::hand_on(const Arrival& arrival, ClientPut put, Token token,
                          const std::vector<NodeId>& owners, MessageOutbox& outbox) {
  const RingView& view = environment_.view;
  const auto best =
      std::find_if(owners.begin(), owners.end(), [&view](NodeId owner) { return view.is_reachable(owner); });
  if (best == owners.end()) {
    return environment_.refuse(
        arrival, put, token,
        unavailable(cat("key ", display_key(put.key), ": none of its owners ", view.names_of(owners),
                        " can be reached; nothing was written")),
        outbox);
  }
  forwards_.start(arrival, {.body = std::move(put)}, *best, {}, outbox);
}

void Coordinator::forward(const Arrival& arrival, ClientRequest request, NodeId to, MessageOutbox& outbox) {
  Status status = check_room(load(arrival), 0);
  if (status.ok() && !environment_.view.is_reachable(to)) status = environment_.view.unreachable(to);
  if (!status.ok()) return environment_.answer(arrival.requester, refusal(std::move(status)), outbox);
  forwards_.start(arrival, std::move(request), to, {}, outbox);
}

void Coordinator::on(const Arrival& arrival, ForwardedRequest request, MessageOutbox& outbox) {
  if (auto* put = std::get_if<ClientPut>(&request.body.body)) return on(arrival, std::move(*put), outbox);
  environment_.answer(arrival.requester,
                      refusal(invalid_argument("only puts are handed on to the owner of a key")), outbox);
}

void Coordinator::on(ForwardedReply reply, Time now, WallMicros wall_now, MessageOutbox& outbox) {
  std::optional<Forwards::Returned> returned = forwards_.on(std::move(reply), outbox);
  if (returned) take_back(std::move(*returned), {now, wall_now}, outbox);
}

// Its target did nothing: it had a newer ring, by which the put begins anew, or no room, and the next owner
// may have some.
void Coordinator::take_back(Forwards::Returned returned, Moment moment, MessageOutbox& outbox) {
  for (const Requester& requester : returned.requesters) {
    const Arrival arrival{.requester = requester,
                          .deadline = returned.deadline,
                          .now = moment.now,
                          .wall_now = moment.wall_now};
    const bool under_way =
        returned.put.operation && environment_.operations.find(returned.put.operation) != nullptr;
    if (returned.full.empty() || under_way) {
      on(arrival, returned.put, outbox);
    } else {
      hand_on_again(arrival, returned, outbox);
    }
  }
}

void Coordinator::hand_on_again(const Arrival& arrival, const Forwards::Returned& returned,
                                MessageOutbox& outbox) {
  const RingView& view = environment_.view;
  const Place place = view.place(returned.put.bucket, returned.put.key);
  const std::vector<NodeId> owners = view.owners_of(place.partition);
  const auto next = std::find_if(owners.begin(), owners.end(), [&](NodeId owner) {
    return view.is_reachable(owner) &&
           std::find(returned.full.begin(), returned.full.end(), owner) == returned.full.end();
  });
  if (next == owners.end())
    return environment_.refuse(arrival, returned.put, place.token, returned.why_full, outbox);
  forwards_.start(arrival, {.body = returned.put}, *next, returned.full, outbox);
}

bool Coordinator::answered_as_retry(const Arrival& arrival, const ClientPut& put,
                                    const BucketDescription& bucket, const Place& place,
                                    MessageOutbox& outbox) {
  if (!put.operation) return false;
  if (environment_.operations.find(put.operation) != nullptr) {
    return answered_from_table(arrival, put, bucket, place, outbox);
  }
  if (!put.first_tried) return false;
  // The boot that it was sent to first would know it, had it come; only one that may have forgotten it, or
  // another boot, can't tell a try that never came from one that was superseded.
  const bool is_first_boot = put.first_tried == environment_.settings.boot;
  if (is_first_boot && !environment_.operations.may_have_forgotten(put.operation)) return false;
  // From now on this life has spoken of it, and may be named as the one that knows: it must never stamp it.
  environment_.operations.begin(put.operation,
                                {.request = environment_.numbers.next(),
                                 .token = place.token,
                                 .outcome = OperationTable::Outcome::kUnknown,
                                 .seen = {}},
                                arrival.deadline);
  read_for_retry(arrival, put, bucket, place, outbox);
  return true;
}

bool Coordinator::answered_from_table(const Arrival& arrival, const ClientPut& put,
                                      const BucketDescription& bucket, const Place& place,
                                      MessageOutbox& outbox) {
  const OperationTable::Entry known = *environment_.operations.find(put.operation);
  const auto answer = [&](ClientReply reply) {
    environment_.answer(arrival.requester, std::move(reply), outbox);
    return true;
  };
  if (known.token != place.token) {
    return answer(refusal(invalid_argument(
        cat("key ", display_key(put.key), ": this operation id belongs to a put of another key"))));
  }
  switch (known.outcome) {
    case OperationTable::Outcome::kUnderWay:
      if (!puts_.add_requester(known.request, arrival.requester)) {
        forwards_.add_requester(known.request, arrival.requester);
      }
      return true;
    case OperationTable::Outcome::kApplied: {
      const RingView& view = environment_.view;
      ClientReply reply;
      reply.body =
          receipt(view, chosen_by(known.acknowledged, view.owners_of(place.partition)), known.synced);
      reply.seen = known.seen;
      return answer(std::move(reply));
    }
    case OperationTable::Outcome::kRefused:
      // It wrote nothing, and its client tries it again, maybe through a node that hands it on as a first
      // try. What such a node sends twice it may have answered already.
      if (static_cast<bool>(arrival.requester.forwarded_by) != static_cast<bool>(put.first_tried)) {
        environment_.operations.forget(put.operation);
        return false;
      }
      // A first try that comes late, on a connection that its client has given up: he has been told that
      // nothing was written.
      return answer(refusal(unavailable("this operation was refused before")));
    case OperationTable::Outcome::kUnknown:
      break;
  }
  read_for_retry(arrival, put, bucket, place, outbox);
  return true;
}

// Whether the operation was applied stands in the record, as long as its version is there.
void Coordinator::read_for_retry(const Arrival& arrival, const ClientPut& put,
                                 const BucketDescription& bucket, const Place& place, MessageOutbox& outbox) {
  start_get(arrival,
            {.purpose = GetPurpose::kRetriedPut,
             .bucket = put.bucket,
             .key = put.key,
             .place = place,
             .conflict = conflict_of(bucket),
             .deadline = arrival.deadline,
             .operation = put.operation,
             .first_tried = put.first_tried ? put.first_tried : environment_.settings.boot,
             .w = put.w},
            outbox);
}

void Coordinator::on(const Arrival& arrival, const ClientGet& get, MessageOutbox& outbox) {
  const Result<const BucketDescription*> bucket =
      check_target(environment_.view.ring().description(), get.bucket, get.key);
  if (!bucket.ok()) return environment_.answer(arrival.requester, refusal(bucket.status()), outbox);
  start_get(arrival,
            {.purpose = get.values ? GetPurpose::kGet : GetPurpose::kExists,
             .bucket = get.bucket,
             .key = get.key,
             .place = environment_.view.place(get.bucket, get.key),
             .conflict = conflict_of(**bucket),
             .r = get.r,
             .deadline = arrival.deadline},
            outbox);
}

void Coordinator::on(const Arrival& arrival, const ClientLocalGet& get, MessageOutbox& outbox) {
  const RingDescription& ring = environment_.view.ring().description();
  const Result<const BucketDescription*> bucket = check_target(ring, get.bucket, get.key);
  if (!bucket.ok()) return environment_.answer(arrival.requester, refusal(bucket.status()), outbox);
  const Member* member = ring.find_member(get.node);
  if (member == nullptr) {
    return environment_.answer(
        arrival.requester,
        refusal(invalid_argument(cat("no member of the ring is named ", display_key(get.node)))), outbox);
  }
  start_get(arrival,
            {.purpose = GetPurpose::kLocalGet,
             .bucket = get.bucket,
             .key = get.key,
             .place = environment_.view.place(get.bucket, get.key),
             .conflict = conflict_of(**bucket),
             .node = member->node,
             .deadline = arrival.deadline},
            outbox);
}

void Coordinator::on(const Arrival& arrival, const ClientExplain& explain, MessageOutbox& outbox) {
  const Result<const BucketDescription*> bucket =
      check_target(environment_.view.ring().description(), explain.bucket, explain.key);
  if (!bucket.ok()) return environment_.answer(arrival.requester, refusal(bucket.status()), outbox);
  start_get(arrival,
            {.purpose = GetPurpose::kExplain,
             .bucket = explain.bucket,
             .key = explain.key,
             .place = environment_.view.place(explain.bucket, explain.key),
             .conflict = conflict_of(**bucket),
             .deadline = std::min(arrival.deadline, arrival.now + kExplainTimeout)},
            outbox);
}

void Coordinator::start_get(const Arrival& arrival, GetRequest::Question question, MessageOutbox& outbox) {
  if (Status status = check_room(load(arrival), question.key.size()); !status.ok()) {
    return environment_.answer(arrival.requester, get_failure(question, std::move(status)), outbox);
  }
  gets_.start(arrival.requester, std::move(question), moment_of(arrival), outbox);
}

void Coordinator::on(const Arrival& arrival, const ClientScan& scan, MessageOutbox& outbox) {
  const auto refuse = [&](Status status) {
    environment_.answer(arrival.requester, refusal(std::move(status)), outbox);
  };
  const BucketDescription* bucket = environment_.view.ring().description().find_bucket(scan.bucket);
  if (bucket == nullptr)
    return refuse(invalid_argument(cat("there is no bucket ", display_key(scan.bucket))));
  const std::optional<std::string> after = from_base64(scan.after);
  if (!after) {
    return refuse(invalid_argument(cat("cursor ", display_key(scan.after), " is not one that a scan gave")));
  }
  if (scan.prefix.size() > kKeyBytesMax || after->size() > kCursorBytesMax) {
    return refuse(too_large("the scan's prefix or cursor is longer than any key"));
  }
  if (Status status = check_room(load(arrival), scan.prefix.size() + after->size()); !status.ok()) {
    return refuse(std::move(status));
  }
  const size_t limit = scan.limit == 0 ? ScanRequest::kEntriesMax : scan.limit;
  scans_.start(arrival.requester,
               {.bucket = scan.bucket,
                .prefix = scan.prefix,
                .after = *after,
                .limit = std::min(limit, ScanRequest::kEntriesMax),
                .values = scan.values,
                .conflict = conflict_of(*bucket),
                .deadline = arrival.deadline},
               moment_of(arrival), outbox);
}

void Coordinator::on(PutStamped stamped, Time now, MessageOutbox& outbox) {
  puts_.on(std::move(stamped), now, outbox);
}

void Coordinator::on(const StampPutAck& ack, Time now, MessageOutbox& outbox) { puts_.on(ack, now, outbox); }

void Coordinator::on(const ReplicaPutAck& ack, Time now, WallMicros wall_now, MessageOutbox& outbox) {
  if (ack.status.code() == StatusCode::kStaleEpoch) environment_.statistics.count_stale_epoch();
  if (!puts_.on(ack, now, outbox)) gets_.on(ack, {now, wall_now}, outbox);
}

void Coordinator::on(ReplicaGetReply reply, Time now, WallMicros wall_now, MessageOutbox& outbox) {
  if (reply.status.code() == StatusCode::kStaleEpoch) environment_.statistics.count_stale_epoch();
  if (!puts_.on(reply, now, outbox)) gets_.on(std::move(reply), {now, wall_now}, outbox);
}

void Coordinator::on(ReplicaScanReply reply, Time now, WallMicros wall_now, MessageOutbox& outbox) {
  if (reply.status.code() == StatusCode::kStaleEpoch) environment_.statistics.count_stale_epoch();
  scans_.on(std::move(reply), {now, wall_now}, outbox);
}

void Coordinator::set_ring(const Ring& ring, Time now, WallMicros wall_now, MessageOutbox& outbox) {
  environment_.view.set_ring(ring);
  environment_.operations.forget_who_acknowledged();
  puts_.on_ring(now, outbox);
  gets_.on_ring({now, wall_now}, outbox);
  scans_.on_ring({now, wall_now}, outbox);
  for (Forwards::Returned& returned : forwards_.on_ring(outbox)) {
    take_back(std::move(returned), {now, wall_now}, outbox);
  }
}

void Coordinator::set_view(ClusterView view, Time now, WallMicros wall_now, MessageOutbox& outbox) {
  environment_.view.set_view(std::move(view));
  puts_.on_view(now, outbox);
  gets_.on_view({now, wall_now}, outbox);
  scans_.on_view({now, wall_now}, outbox);
  forwards_.on_view(outbox);
}

void Coordinator::on_link_restored(NodeId node, MessageOutbox& outbox) {
  puts_.on_link_restored(node, outbox);
  gets_.on_link_restored(node, outbox);
  scans_.on_link_restored(node, outbox);
  forwards_.on_link_restored(node, outbox);
}

void Coordinator::tick(Time now, WallMicros wall_now, MessageOutbox& outbox) {
  RequestNumbers& numbers = environment_.numbers;
  for (const RequestNumber request : numbers.take_due(now)) wake(request, {now, wall_now}, outbox);
  if (numbers.alarms() > 4 * (under_way() + puts_.lingering()) + 16'384) {
    numbers.forget_alarms_unless([this](RequestNumber request) {
      return puts_.contains(request) || gets_.contains(request) || scans_.contains(request) ||
             forwards_.contains(request);
    });
  }
  environment_.operations.tick(now);
}

void Coordinator::wake(RequestNumber request, Moment moment, MessageOutbox& outbox) {
  puts_.wake(request, moment.now, outbox);
  gets_.wake(request, moment, outbox);
  scans_.wake(request, moment, outbox);
  forwards_.expire(request, moment.now, outbox);
}

void Coordinator::fail_all(const Status& why, Time now, MessageOutbox& outbox) {
  puts_.fail_all(why, now, outbox);
  gets_.fail_all(why, outbox);
  scans_.fail_all(why, outbox);
  forwards_.fail_all(why, outbox);
}

}  // namespace ringkv
