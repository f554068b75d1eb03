#include "replication/coordinator.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/limits.h"
#include "base/text.h"
#include "replication/admission.h"
#include "replication/answers.h"
#include "storage/record_codec.h"

namespace ringkv {
namespace {

constexpr size_t kScanEntriesMax = 10'000;              // a page
constexpr size_t kCursorBytesMax = kKeyBytesMax + 128;  // token, bucket, key

ClientReply refusal(Status status) {
  ClientReply reply;
  reply.status = std::move(status);
  return reply;
}

uint64_t milliseconds(WallMicros wall) { return wall / 1000; }

Conflict conflict_of(const BucketDescription& bucket) {
  return bucket.conflict == BucketConflict::kLastWriterWins ? Conflict::kLastWriterWins : Conflict::kSiblings;
}

OperationTable::Outcome outcome_of(const Status& status) {
  if (status.ok()) return OperationTable::Outcome::kApplied;
  return status.code() == StatusCode::kUnknownOutcome ? OperationTable::Outcome::kUnknown
                                                      : OperationTable::Outcome::kRefused;
}

RequestKind kind_of(GetPurpose purpose) {
  return purpose == GetPurpose::kExists ? RequestKind::kExists : RequestKind::kGet;
}

}  // namespace

Load Coordinator::load(const Arrival& arrival) const {
  return {.requests = under_way(),
          .requests_max = settings_.requests_max,
          .held_bytes = held_bytes_ + arrival.backlog_bytes,
          .held_bytes_max = settings_.held_bytes_max};
}

Place Coordinator::place(std::string_view bucket, std::string_view key) const {
  return place_of({ring_->partitions(), settings_.token}, bucket, key);
}

std::vector<NodeId> Coordinator::owners_of(Partition partition) const {
  std::vector<NodeId> owners;
  for (const uint16_t position : ring_->preference_list(partition))
    owners.push_back(ring_->member(position).node);
  return owners;
}

RequestNumber Coordinator::next_number(Time deadline) {
  deadlines_.push_back({deadline, ++last_number_});
  std::push_heap(deadlines_.begin(), deadlines_.end(), std::greater<>());
  return last_number_;
}

void Coordinator::answer(Requester requester, ClientReply reply, MessageOutbox& outbox) const {
  reply.epoch = ring_->epoch();
  reply.boot = settings_.boot;
  outbox.send(settings_.self, ClientAnswer{requester, std::move(reply)});
}

void Coordinator::on(const Arrival& arrival, ClientPut put, MessageOutbox& outbox) {
  Result<const BucketDescription*> bucket = check_put(ring_->description(), put);
  if (!bucket.ok()) return answer(arrival.requester, refusal(bucket.status()), outbox);
  Place where = place(put.bucket, put.key);
  // First of all: a retry must not be refused as if nothing had been written.
  if (answered_as_retry(arrival, put, **bucket, where, outbox)) return;
  Status room = check_room(load(arrival), bytes_of(put));
  if (!put.tombstone && !puts_refused_.empty()) {
    room = out_of_space(cat("key ", display_key(put.key), " is not stored: ", puts_refused_));
  }
  if (!room.ok()) {
    if (put.operation && put.first_tried) {
      operations_.begin(
          put.operation,
          {.request = ++last_number_, .token = where.token, .outcome = OperationTable::Outcome::kRefused},
          arrival.deadline);
    }
    return answer(arrival.requester, refusal(std::move(room)), outbox);
  }
  start_put(arrival, std::move(put), **bucket, std::move(where), outbox);
}

bool Coordinator::answered_as_retry(const Arrival& arrival, const ClientPut& put,
                                    const BucketDescription& bucket, const Place& place,
                                    MessageOutbox& outbox) {
  if (!put.operation) return false;
  if (const OperationTable::Entry* known = operations_.find(put.operation)) {
    if (known->token != place.token) {
      answer(arrival.requester,
             refusal(invalid_argument(
                 cat("key ", display_key(put.key), ": this operation id belongs to a put of another key"))),
             outbox);
      return true;
    }
    if (known->outcome == OperationTable::Outcome::kUnderWay) {
      puts_.at(known->request).add_requester(arrival.requester);
      return true;
    }
    if (known->outcome == OperationTable::Outcome::kApplied) {
      answer(arrival.requester, receipt({settings_.self}, known->synced), outbox);
      return true;
    }
    if (known->outcome == OperationTable::Outcome::kRefused) {
      if (put.first_tried) {  // it wrote nothing, and its client tries it again
        operations_.forget(put.operation);
        return false;
      }
      // A first try that comes late, on a connection that its client has given up: he has been told that
      // nothing was written.
      answer(arrival.requester, refusal(unavailable("this operation was refused before")), outbox);
      return true;
    }
    read_for_retry(arrival, put, bucket, place, outbox);
    return true;
  }
  if (!put.first_tried) return false;
  // The boot that it was sent to first would know it, had it come; only one that may have forgotten it, or
  // another boot, can't tell a try that never came from one that was superseded.
  if (put.first_tried == settings_.boot && !operations_.may_have_forgotten(put.operation)) return false;
  read_for_retry(arrival, put, bucket, place, outbox);
  return true;
}

// Whether the operation was applied stands in the record, as long as its version is there.
void Coordinator::read_for_retry(const Arrival& arrival, const ClientPut& put,
                                 const BucketDescription& bucket, const Place& place, MessageOutbox& outbox) {
  std::vector<NodeId> owners = owners_of(place.partition);
  const uint32_t read_quorum = majority_of(static_cast<uint32_t>(owners.size()));
  start_get(arrival,
            {.owners = std::move(owners),
             .read_quorum = read_quorum,
             .deadline = arrival.deadline,
             .place = place,
             .key = put.key,
             .conflict = conflict_of(bucket),
             .purpose = GetPurpose::kRetriedPut,
             .operation = put.operation,
             .first_tried = put.first_tried ? put.first_tried : settings_.boot},
            outbox);
}

void Coordinator::start_put(const Arrival& arrival, ClientPut put, const BucketDescription& bucket,
                            Place place, MessageOutbox& outbox) {
  std::vector<NodeId> owners = owners_of(place.partition);
  const Result<uint32_t> write_quorum = quorum_for("w", put.w, bucket.write_quorum, owners.size());
  if (!write_quorum.ok()) return answer(arrival.requester, refusal(write_quorum.status()), outbox);

  StampPut stamp;
  if (put.context) {
    Result<CausalContext> context = CausalContext();
    if (!put.context->empty()) context = decode_client_context(*put.context, place.token);
    if (!context.ok()) {
      return answer(
          arrival.requester,
          refusal(invalid_argument(cat("key ", display_key(put.key), ": ", context.status().message()))),
          outbox);
    }
    stamp.context = std::move(*context);
  }
  const size_t bytes = bytes_of(put);
  const RequestNumber number = next_number(arrival.deadline);
  const uint64_t ttl_ms = put.ttl_ms.value_or(bucket.ttl_ms);
  stamp.request = number;
  stamp.place = std::move(place);
  stamp.key = put.key;
  stamp.kind = put.tombstone ? VersionKind::kTombstone : VersionKind::kValue;
  stamp.value = std::move(put.value);
  stamp.expires_at_ms = ttl_ms == 0 || put.tombstone ? 0 : milliseconds(arrival.wall_now) + ttl_ms;
  stamp.operation = put.operation;
  stamp.conflict = conflict_of(bucket);
  stamp.sync = put.durability.value_or(settings_.durability) == Durability::kSynced;
  stamp.deadline = arrival.deadline;

  if (put.operation) {
    operations_.begin(put.operation, {.request = number, .token = stamp.place.token, .synced = stamp.sync},
                      arrival.deadline);
  }
  held_bytes_ += bytes;
  const NodeId stamping_owner = owners.front();
  puts_.emplace(number, PutRequest(arrival.requester,
                                   {.owners = std::move(owners),
                                    .write_quorum = *write_quorum,
                                    .sync = stamp.sync,
                                    .deadline = arrival.deadline,
                                    .operation = put.operation,
                                    .place_token = stamp.place.token,
                                    .key = std::move(put.key),
                                    .held_bytes = bytes,
                                    .tombstone = put.tombstone},
                                   arrival.now));
  outbox.send(stamping_owner, std::move(stamp));
}

void Coordinator::on(const StampPutAck& ack, Time now, MessageOutbox& outbox) {
  const auto at = puts_.find(ack.request);
  if (at == puts_.end()) return;  // already answered
  PutRequest& put = at->second;
  put.on_ack(ack);
  if (!put.decided()) return;
  finish_put(ack.request, put.refusal().ok() ? receipt_of(put) : refusal(put.refusal()), now, outbox);
}

void Coordinator::finish_put(RequestNumber number, const ClientReply& reply, Time now,
                             MessageOutbox& outbox) {
  const auto at = puts_.find(number);
  const PutRequest put = std::move(at->second);
  puts_.erase(at);
  held_bytes_ -= put.asked().held_bytes;
  const RequestKind kind = put.asked().tombstone ? RequestKind::kDelete : RequestKind::kPut;
  statistics_.count(kind, reply.status, now - put.started());
  for (const Requester& requester : put.requesters()) answer(requester, reply, outbox);
  if (put.asked().operation) operations_.decide(put.asked().operation, outcome_of(reply.status));
}

ClientReply Coordinator::receipt(const std::vector<NodeId>& acknowledged_by, bool synced) const {
  PutReceipt receipt;
  receipt.epoch = ring_->epoch();
  for (const NodeId node : acknowledged_by) {
    const Member* member = ring_->description().find_member(node);
    receipt.acks.push_back(
        {.node = member == nullptr ? hex(node.value) : member->name,
         .kind = synced ? Acknowledgement::Kind::kSynced : Acknowledgement::Kind::kBuffered,
         .hint_for = {}});
  }
  ClientReply reply;
  reply.body = std::move(receipt);
  return reply;
}

ClientReply Coordinator::receipt_of(const PutRequest& put) const {
  ClientReply reply = receipt(put.acknowledged_by(), put.asked().sync);
  if (put.context()) {
    std::get<PutReceipt>(reply.body).context =
        Context(encode_client_context(*put.context(), put.asked().place_token));
  }
  return reply;
}

ClientReply Coordinator::unknown_outcome_of(const PutRequest& put, std::string_view reason) const {
  std::string message = cat("key ", display_key(put.asked().key), ": ", reason, "; it may have been written");
  if (put.asked().operation) {
    message +=
        cat(": repeat it with operation id ", to_text(OperationName{put.asked().operation, settings_.boot}));
  }
  return refusal(unknown_outcome(std::move(message)));
}

void Coordinator::on(const Arrival& arrival, const ClientGet& get, MessageOutbox& outbox) {
  Result<const BucketDescription*> bucket = check_target(ring_->description(), get.bucket, get.key);
  if (!bucket.ok()) return answer(arrival.requester, refusal(bucket.status()), outbox);
  Place where = place(get.bucket, get.key);
  std::vector<NodeId> owners = owners_of(where.partition);
  const Result<uint32_t> read_quorum = quorum_for("r", get.r, (*bucket)->read_quorum, owners.size());
  if (!read_quorum.ok()) return answer(arrival.requester, refusal(read_quorum.status()), outbox);
  start_get(arrival,
            {.owners = std::move(owners),
             .read_quorum = *read_quorum,
             .deadline = arrival.deadline,
             .place = std::move(where),
             .key = get.key,
             .conflict = conflict_of(**bucket),
             .purpose = get.values ? GetPurpose::kGet : GetPurpose::kExists,
             .operation = {},
             .first_tried = {}},
            outbox);
}

void Coordinator::on(const Arrival& arrival, const ClientLocalGet& get, MessageOutbox& outbox) {
  Result<const BucketDescription*> bucket = check_target(ring_->description(), get.bucket, get.key);
  if (!bucket.ok()) return answer(arrival.requester, refusal(bucket.status()), outbox);
  const Member* member = ring_->description().find_member(get.node);
  if (member == nullptr) {
    return answer(arrival.requester,
                  refusal(invalid_argument(cat("no member of the ring is named ", display_key(get.node)))),
                  outbox);
  }
  start_get(arrival,
            {.owners = {member->node},
             .read_quorum = 1,
             .deadline = arrival.deadline,
             .place = place(get.bucket, get.key),
             .key = get.key,
             .conflict = conflict_of(**bucket),
             .purpose = GetPurpose::kLocalGet,
             .operation = {},
             .first_tried = {}},
            outbox);
}

void Coordinator::on(const Arrival& arrival, const ClientExplain& explain, MessageOutbox& outbox) {
  Result<const BucketDescription*> bucket = check_target(ring_->description(), explain.bucket, explain.key);
  if (!bucket.ok()) return answer(arrival.requester, refusal(bucket.status()), outbox);
  Place where = place(explain.bucket, explain.key);
  std::vector<NodeId> owners = owners_of(where.partition);
  const auto all = static_cast<uint32_t>(owners.size());
  start_get(arrival,
            {.owners = std::move(owners),
             .read_quorum = all,
             .deadline = arrival.deadline,
             .place = std::move(where),
             .key = explain.key,
             .conflict = conflict_of(**bucket),
             .purpose = GetPurpose::kExplain,
             .operation = {},
             .first_tried = {}},
            outbox);
}

void Coordinator::start_get(const Arrival& arrival, GetRequest::Asked asked, MessageOutbox& outbox) {
  if (Status status = check_room(load(arrival), asked.key.size()); !status.ok()) {
    return answer(arrival.requester, failure_of(asked, std::move(status)), outbox);
  }
  const RequestNumber number = next_number(arrival.deadline);
  for (const NodeId owner : asked.owners) {
    outbox.send(owner, ReplicaGet{number, asked.place, asked.key, asked.deadline});
  }
  gets_.emplace(number, GetRequest(arrival.requester, std::move(asked), arrival.now));
}

void Coordinator::on(ReplicaGetReply reply, Time now, WallMicros wall_now, MessageOutbox& outbox) {
  const auto at = gets_.find(reply.request);
  if (at == gets_.end()) return;  // already answered
  GetRequest& get = at->second;
  get.on_reply(std::move(reply));
  if (!get.decided()) return;
  ClientReply answered = answer_of(get, wall_now);
  statistics_.count(kind_of(get.asked().purpose), answered.status, now - get.started());
  answer(get.requester(), std::move(answered), outbox);
  gets_.erase(at);
}

ClientReply Coordinator::answer_of(const GetRequest& get, WallMicros wall_now) const {
  ClientReply reply;
  if (!get.succeeded() && get.asked().purpose != GetPurpose::kExplain)
    return failure_of(get.asked(), get.failure());
  const uint64_t now_ms = milliseconds(wall_now);
  switch (get.asked().purpose) {
    case GetPurpose::kGet: {
      GetResult result = get_result(get, now_ms);
      result.epoch = ring_->epoch();
      reply.body = std::move(result);
      break;
    }
    case GetPurpose::kExists:
      reply.body = ExistsAnswer{get.record().has_live_value(now_ms)};
      break;
    case GetPurpose::kLocalGet:
      reply.body = local_record(get, now_ms);
      break;
    case GetPurpose::kExplain:
      reply.body = explanation(get, *ring_, now_ms);
      break;
    case GetPurpose::kRetriedPut:
      if (std::optional<PutReceipt> receipt = receipt_in_record(get)) {
        receipt->epoch = ring_->epoch();
        reply.body = std::move(*receipt);
      } else {
        reply.status = unknown_outcome(cat("key ", display_key(get.asked().key),
                                           ": the operation was first sent to an earlier life of a node and ",
                                           "its version isn't in the record: it was never written, or was "
                                           "replaced since; get the key to see"));
      }
      break;
  }
  return reply;
}

// A read that fails has read nothing; but of a put that was tried before that would be a lie.
ClientReply Coordinator::failure_of(const GetRequest::Asked& asked, Status status) const {
  if (asked.purpose != GetPurpose::kRetriedPut) return refusal(std::move(status));
  return refusal(unknown_outcome(
      cat("key ", display_key(asked.key), ": what became of its first try isn't known (", status.message(),
          "): repeat it with operation id ", to_text(OperationName{asked.operation, asked.first_tried}))));
}

void Coordinator::on(const Arrival& arrival, const ClientScan& scan, MessageOutbox& outbox) {
  if (ring_->description().find_bucket(scan.bucket) == nullptr) {
    return answer(arrival.requester,
                  refusal(invalid_argument(cat("there is no bucket ", display_key(scan.bucket)))), outbox);
  }
  const std::optional<std::string> after = from_base64(scan.after);
  if (!after) {
    return answer(
        arrival.requester,
        refusal(invalid_argument(cat("cursor ", display_key(scan.after), " is not one that a scan gave"))),
        outbox);
  }
  if (scan.prefix.size() > kKeyBytesMax || after->size() > kCursorBytesMax) {
    return answer(arrival.requester, refusal(too_large("the scan's prefix or cursor is longer than any key")),
                  outbox);
  }
  if (Status status = check_room(load(arrival), scan.prefix.size() + after->size()); !status.ok()) {
    return answer(arrival.requester, refusal(std::move(status)), outbox);
  }
  const RequestNumber number = next_number(arrival.deadline);
  scans_.emplace(number, ScanRequest{arrival.requester, arrival.now});
  const size_t limit = scan.limit == 0 ? kScanEntriesMax : std::min<size_t>(scan.limit, kScanEntriesMax);
  outbox.send(settings_.self, ReadSlice{number,
                                        {.bucket = scan.bucket,
                                         .prefix = scan.prefix,
                                         .after = *after,
                                         .entries_max = limit,
                                         .values = scan.values,
                                         .now_ms = milliseconds(arrival.wall_now)},
                                        arrival.deadline});
}

void Coordinator::on(SliceRead slice, Time now, MessageOutbox& outbox) {
  const auto at = scans_.find(slice.request);
  if (at == scans_.end()) return;
  ClientReply reply;
  reply.status = slice.status;
  if (slice.status.ok()) {
    reply.body = ScanPage{std::move(slice.slice.entries), slice.slice.at_end ? "" : base64(slice.slice.last)};
  }
  statistics_.count(RequestKind::kScan, reply.status, now - at->second.started);
  answer(at->second.requester, std::move(reply), outbox);
  scans_.erase(at);
}

void Coordinator::tick(Time now, WallMicros wall_now, MessageOutbox& outbox) {
  while (!deadlines_.empty() && deadlines_.front().at <= now) {
    const RequestNumber number = deadlines_.front().request;
    std::pop_heap(deadlines_.begin(), deadlines_.end(), std::greater<>());
    deadlines_.pop_back();
    expire(number, now, wall_now, outbox);
  }
  // Requests are answered long before their deadlines; what they leave behind here is swept now and then.
  if (deadlines_.size() > 4 * under_way() + 16'384) {
    std::erase_if(deadlines_, [this](const Deadline& deadline) {
      return !puts_.contains(deadline.request) && !gets_.contains(deadline.request) &&
             !scans_.contains(deadline.request);
    });
    std::make_heap(deadlines_.begin(), deadlines_.end(), std::greater<>());
  }
  operations_.tick(now);
}

void Coordinator::expire(RequestNumber number, Time now, WallMicros wall_now, MessageOutbox& outbox) {
  if (const auto put = puts_.find(number); put != puts_.end()) {
    return finish_put(number,
                      unknown_outcome_of(put->second, "timed out before enough owners acknowledged it"), now,
                      outbox);
  }
  if (const auto get = gets_.find(number); get != gets_.end()) {
    const GetRequest& expired = get->second;
    ClientReply reply;
    if (expired.asked().purpose == GetPurpose::kExplain) {
      reply.body = explanation(expired, *ring_, milliseconds(wall_now));
    } else {
      reply = failure_of(expired.asked(), unavailable(cat("key ", display_key(expired.asked().key),
                                                          ": timed out with ", expired.replies().size(),
                                                          " of ", expired.asked().read_quorum, " answers")));
    }
    statistics_.count(kind_of(expired.asked().purpose), reply.status, now - expired.started());
    answer(expired.requester(), std::move(reply), outbox);
    gets_.erase(get);
    return;
  }
  if (const auto scan = scans_.find(number); scan != scans_.end()) {
    answer(scan->second.requester, refusal(unavailable("the scan timed out; go on from its last cursor")),
           outbox);
    scans_.erase(scan);
  }
}

void Coordinator::fail_all(const Status& why, Time now, MessageOutbox& outbox) {
  while (!puts_.empty()) {
    const auto& [number, put] = *puts_.begin();
    finish_put(number, unknown_outcome_of(put, why.message()), now, outbox);
  }
  for (const auto& [number, get] : gets_) {
    answer(get.requester(), failure_of(get.asked(), unavailable(why.message())), outbox);
  }
  for (const auto& [number, scan] : scans_)
    answer(scan.requester, refusal(unavailable(why.message())), outbox);
  gets_.clear();
  scans_.clear();
}

}  // namespace ringkv
