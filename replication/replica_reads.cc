// How a replica answers reads: of one key, and of a step of a walk.

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/limits.h"
#include "base/text.h"
#include "replication/replica.h"

namespace ringkv {
namespace {

constexpr size_t kScanRecordsMax = 10'000;

Status not_whole() { return unavailable("isn't whole yet: it is still fetching what it may have missed"); }

// Its context, and the hash that stands for its versions.
ReplicaGetReply digest_reply(RecordHead head) {
  ReplicaGetReply reply;
  reply.digest = true;
  reply.hash = head.hash;
  reply.record.context = std::move(head.context);
  return reply;
}

Result<ReplicaGetReply> reply_from(std::string_view bytes, bool digest) {
  if (bytes.empty()) return digest ? digest_reply({}) : ReplicaGetReply();
  Result<RecordHead> head = decode_record_head(bytes);
  if (!head.ok()) return head.status();
  if (digest) return digest_reply(std::move(*head));
  Result<Record> record = decode_record(bytes);
  if (!record.ok()) return record.status();
  ReplicaGetReply reply;
  reply.record = std::move(*record);
  reply.hash = head->hash;
  return reply;
}

}  // namespace

void Replica::on(NodeId from, ReplicaGet get, Time now, MessageOutbox& outbox) {
  if (from != settings_.self) get.place = place_of(settings_.placement, get.bucket, get.key);
  const Get waiting{from, std::move(get)};
  const ReplicaGet& asked = waiting.get;
  Status refusal = check_key(asked.key);
  if (refusal.ok() && now >= asked.deadline) {
    refusal = unavailable(cat("key ", display_key(asked.key), ": timed out before it was read"));
  }
  if (refusal.ok() && !whole_ && !asked.inspect) refusal = not_whole();
  if (refusal.ok() && reads_.size() + gets_waiting_.size() >= settings_.reads_max) {
    refusal = overloaded(cat(reads_.size() + gets_waiting_.size(), " reads wait for the disk"));
  }
  if (!refusal.ok()) return answer(waiting, refusal, {}, outbox);

  if (const BatchNumber batch = store_.being_written(asked.place); batch != 0) {
    gets_waiting_.emplace(batch, WaitingGet{waiting, std::nullopt});
    return;
  }
  if (asked.digest && answered_from_memory(waiting, outbox)) return;
  std::string bytes;
  const Result<Lookup> found = store_.read_cached(asked.place, bytes);
  if (!found.ok()) return answer(waiting, found.status(), {}, outbox);
  if (*found != Lookup::kWouldBlock) return answer(waiting, {}, bytes, outbox);
  read(asked.place, asked.deadline, waiting, outbox);
}

bool Replica::answered_from_memory(const Get& get, MessageOutbox& outbox) {
  std::optional<RecordHead> head = store_.committed_head(get.get.place);
  if (!head) return false;
  store_.restore(head->context);
  ReplicaGetReply reply = digest_reply(std::move(*head));
  reply.request = get.get.request;
  reply.replica = settings_.self;
  outbox.send(get.from, std::move(reply));
  return true;
}

void Replica::answer(const Get& get, const Status& status, std::string_view bytes, MessageOutbox& outbox) {
  Result<ReplicaGetReply> read =
      status.ok() ? reply_from(bytes, get.get.digest) : Result<ReplicaGetReply>(status);
  ReplicaGetReply reply;
  if (read.ok()) {
    reply = std::move(*read);
    store_.restore(reply.record.context);
  } else if (read.status().code() == StatusCode::kCorruption) {
    reply.status = corruption(cat("key ", display_key(get.get.key), ": ", read.status().message()));
  } else {
    reply.status = read.status();
  }
  reply.request = get.get.request;
  reply.replica = settings_.self;
  outbox.send(get.from, std::move(reply));
}

void Replica::answer(NodeId to, BatchNumber after, Message message, MessageOutbox& outbox) {
  if (after == 0) return outbox.send(to, std::move(message));
  answers_waiting_.emplace(after, WaitingAnswer{to, std::move(message)});
}

void Replica::on(NodeId from, ReplicaScan scan, Time now, MessageOutbox& outbox) {
  Status refusal;
  if (now >= scan.deadline) refusal = unavailable("timed out before it was read");
  if (refusal.ok() && !whole_) refusal = not_whole();
  if (refusal.ok() && scans_.size() >= settings_.reads_max) {
    refusal = overloaded(cat(scans_.size(), " scans wait for the disk"));
  }
  if (!refusal.ok()) {
    ReplicaScanReply reply{.request = scan.request, .replica = settings_.self};
    reply.status = std::move(refusal);
    return outbox.send(from, std::move(reply));
  }
  const uint64_t ticket = ++last_ticket_;
  scans_.emplace(ticket, Scan{from, scan.request});
  outbox.send(settings_.self, ReadSlice{ticket,
                                        {.bucket = std::move(scan.bucket),
                                         .prefix = std::move(scan.prefix),
                                         .after = std::move(scan.after),
                                         .partitions = std::move(scan.partitions),
                                         .ring_partitions = settings_.placement.partitions,
                                         .records_max = std::min<size_t>(scan.records_max, kScanRecordsMax),
                                         .values = scan.values},
                                        scan.deadline});
}

// The worker may have seen what is being written and isn't synced yet: the answer waits for it.
void Replica::on(SliceRead read, MessageOutbox& outbox) {
  const auto at = scans_.find(read.ticket);
  if (at == scans_.end()) return;
  const Scan scan = at->second;
  scans_.erase(at);
  ReplicaScanReply reply{.request = scan.request, .replica = settings_.self};
  reply.status = std::move(read.status);
  reply.last = std::move(read.slice.last);
  reply.at_end = read.slice.at_end;
  for (ScanRecord& found : read.slice.records) {
    if (found.stripped) {
      Result<Record> record = decode_record(found.bytes);
      const Result<RecordHead> head = decode_record_head(found.bytes);
      CHECK(record.ok() && head.ok());  // the worker has decoded it
      store_.restore(record->context);
      found.bytes.clear();
      encode_record(*record, head->hash, head->content_bytes, found.bytes);
    }
    reply.entries.push_back(
        {std::move(found.storage_key), std::make_shared<const std::string>(std::move(found.bytes))});
  }
  answer(scan.from, store_.under_way(), std::move(reply), outbox);
}

}  // namespace ringkv
