// How a replica answers reads: of one key, and of a step of a walk.

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/limits.h"
#include "base/plants.h"
#include "base/text.h"
#include "replication/replica.h"

namespace ringkv {
namespace {

constexpr size_t kScanRecordsMax = 10'000;
constexpr size_t kHintsReadMax = 8;  // of one key, from the disk

// Its context, and the hash that stands for its versions.
ReplicaGetReply digest_reply(RecordHead head) {
  ReplicaGetReply reply;
  reply.digest = true;
  if (!head.dots.empty()) reply.hash = head.hash;
  reply.record.context = std::move(head.context);
  return reply;
}

// Keys that the walk may have found gone, by what is remembered of them.
void add_erased(std::map<std::string, CausalContext> erased, ReplicaScanReply& reply) {
  if (erased.empty()) return;
  std::vector<ReplicaScanReply::Entry>& entries = reply.entries;
  for (const ReplicaScanReply::Entry& entry : entries) erased.erase(entry.storage_key);
  for (auto& [storage_key, context] : erased) {
    if (!reply.at_end && storage_key > reply.last) break;
    auto bytes = std::make_shared<std::string>();
    encode_record({std::move(context), {}}, {}, 0, *bytes);
    entries.push_back({storage_key, std::move(bytes)});
  }
  std::sort(entries.begin(), entries.end(),
            [](const auto& a, const auto& b) { return a.storage_key < b.storage_key; });
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
  if (!head->dots.empty()) reply.hash = head->hash;
  return reply;
}

}  // namespace

Status Replica::not_whole() const {
  if (settings_.damage.empty())
    return unavailable("isn't whole yet: it is still fetching what it may have missed");
  return unavailable(cat("isn't whole yet: it has lost ", settings_.damage,
                         " and is fetching what that held from the other owners; without any, `kvctl repair "
                         "--accept-loss` takes what is left for the whole"));
}

void Replica::on(NodeId from, ReplicaGet get, Time now, MessageOutbox& outbox) {
  if (from != settings_.self) get.place = place_of(settings_.placement, get.bucket, get.key);
  Get waiting{from, std::move(get), {}};
  const ReplicaGet& asked = waiting.get;
  Status refusal = check_key(asked.key);
  if (refusal.ok() && !asked.inspect) refusal = check_owned(asked.place, asked.key);
  if (refusal.ok() && now >= asked.deadline) {
    refusal = unavailable(cat("key ", display_key(asked.key), ": timed out before it was read"));
  }
  const bool is_whole = wholeness_.is_whole(asked.place.partition) || planted(Plant::kReadUnwhole);
  if (refusal.ok() && !is_whole && !asked.inspect) refusal = not_whole();
  if (refusal.ok() && reads_.size() + gets_waiting_.size() >= settings_.reads_max) {
    refusal = overloaded(cat(reads_.size() + gets_waiting_.size(), " reads wait for the disk"));
  }
  if (!refusal.ok()) return answer(waiting, refusal, {}, outbox);

  if (asked.inspect) find_hints(waiting);
  begin(std::move(waiting), outbox);
}

void Replica::begin(Get waiting, MessageOutbox& outbox) {
  const ReplicaGet& asked = waiting.get;
  if (!waiting.hints_unread.empty()) {
    const NodeId intended = waiting.hints_unread.back();
    return read({.place = asked.place, .deadline = asked.deadline, .hint_for = intended}, waiting, outbox);
  }
  if (asked.with_floor) {
    waiting.floor = store_.floor(asked.place.partition).vector;
    waiting.floor_noted = true;
    ++noted_[asked.place.identity].count;
    if (const BatchNumber batch = store_.last_staged(); batch != 0) {
      gets_waiting_.emplace(batch, WaitingGet{std::move(waiting), std::nullopt});
      return;
    }
  }
  answer_or_read(std::move(waiting), outbox);
}

// Of committed state: it waits, once, while the key is being written.
void Replica::answer_or_read(Get waiting, MessageOutbox& outbox) {
  const ReplicaGet& asked = waiting.get;
  const BatchNumber batch = store_.being_written(asked.place);
  if (batch != 0 && !planted(Plant::kReadUncommitted)) {
    gets_waiting_.emplace(batch, WaitingGet{std::move(waiting), std::nullopt});
    return;
  }
  if (asked.digest && !asked.with_floor && answered_from_memory(waiting, outbox)) return;
  std::string bytes;
  const Result<Lookup> found = store_.read_cached(asked.place, bytes);
  if (!found.ok()) return answer(waiting, found.status(), {}, outbox);
  if (*found != Lookup::kWouldBlock) return answer(waiting, {}, bytes, outbox);
  read({.place = asked.place, .deadline = asked.deadline}, waiting, outbox);
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
  if (get.floor_noted) add_floor(get, reply);
  if (get.get.inspect) inspect(get, reply);
  reply.request = get.get.request;
  reply.replica = settings_.self;
  outbox.send(get.from, std::move(reply));
}

// What was erased of the key since the floor was noted isn't under that floor yet.
void Replica::add_floor(const Get& get, ReplicaGetReply& reply) {
  reply.with_floor = true;
  reply.floor = get.floor;
  reply.closed = store_.closed(get.get.place.partition);
  const auto noted = noted_.find(get.get.place.identity);
  reply.record.context.join(noted->second.erased_meanwhile);
  if (--noted->second.count == 0) noted_.erase(noted);
}

// What people want to know beside the record.
void Replica::inspect(const Get& get, ReplicaGetReply& reply) const {
  const Place& place = get.get.place;
  reply.whole = wholeness_.is_whole(place.partition);
  reply.hints = get.hints;
  if (!is_transient(reply.record.versions)) return;
  for (const VersionVector::Entry& entry : reply.record.context.vector.entries()) {
    const Dot dot{entry.actor, entry.counter};
    if (!store_.floor_covers(place.partition, dot)) reply.blocked_by.push_back(dot);
  }
}

void Replica::find_hints(Get& waiting) const {
  for (const auto& [intended, count] : hints_.counts()) {
    const Result<std::optional<std::string>> hint = hints_.newest(intended, waiting.get.place.storage_key);
    if (!hint.ok()) continue;
    if (!*hint) {
      if (waiting.hints_unread.size() < kHintsReadMax) waiting.hints_unread.push_back(intended);
    } else if (Result<Record> record = decode_record(**hint); record.ok()) {
      waiting.hints.push_back({intended, *std::move(record)});
    }
  }
}

void Replica::on_hint_read(Get waiting, const RecordRead& read, MessageOutbox& outbox) {
  const NodeId intended = waiting.hints_unread.back();
  waiting.hints_unread.pop_back();
  if (Result<Record> record = decode_record(read.bytes); record.ok())
    waiting.hints.push_back({intended, *std::move(record)});
  begin(std::move(waiting), outbox);
}

void Replica::answer(NodeId to, BatchNumber after, Message message, MessageOutbox& outbox) {
  if (after == 0) return outbox.send(to, std::move(message));
  answers_waiting_.emplace(after, WaitingAnswer{to, std::move(message)});
}

void Replica::on(NodeId from, ReplicaScan scan, Time now, MessageOutbox& outbox) {
  Status refusal;
  if (now >= scan.deadline) refusal = unavailable("timed out before it was read");
  const auto lacks = [this](Partition partition) {
    return partition >= settings_.placement.partitions || !wholeness_.is_whole(partition);
  };
  if (refusal.ok() && std::any_of(scan.partitions.begin(), scan.partitions.end(), lacks))
    refusal = not_whole();
  if (refusal.ok() && scan.with_floors && scan.partitions.size() > kFlooredPartitionsMax)
    refusal = invalid_argument("floors of too many partitions were asked for");
  if (refusal.ok() && scans_.size() >= settings_.reads_max) {
    refusal = overloaded(cat(scans_.size(), " scans wait for the disk"));
  }
  if (!refusal.ok()) {
    ReplicaScanReply reply{.request = scan.request, .replica = settings_.self};
    reply.status = std::move(refusal);
    return outbox.send(from, std::move(reply));
  }
  const uint64_t ticket = ++last_ticket_;
  Scan& waiting = scans_.emplace(ticket, Scan{from, scan.request, scan.partitions, scan.after}).first->second;
  waiting.with_floors = scan.with_floors;
  if (scan.with_floors) note_floors(waiting);
  ReadSlice read{ticket,
                 {.bucket = std::move(scan.bucket),
                  .prefix = std::move(scan.prefix),
                  .after = std::move(scan.after),
                  .partitions = std::move(scan.partitions),
                  .ring_partitions = settings_.placement.partitions,
                  .records_max = std::min<size_t>(scan.records_max, kScanRecordsMax),
                  .values = scan.values},
                 scan.deadline};
  // A floor claims what is staged: of other keys of its partition too.
  const BatchNumber staged = scan.with_floors ? store_.last_staged() : 0;
  if (staged == 0) return outbox.send(settings_.self, std::move(read));
  scans_waiting_.emplace(staged, std::move(read));
}

// Closed lives are named once, unless they don't count in one of the partitions.
void Replica::note_floors(Scan& scan) const {
  const auto limited = [this](Partition partition) { return store_.floors().is_limited(partition); };
  const bool each = std::any_of(scan.partitions.begin(), scan.partitions.end(), limited);
  for (const Partition partition : scan.partitions) {
    VersionVector floor = store_.floor(partition).vector;
    if (each) {
      for (const Actor& actor : store_.closed(partition)) floor.raise(actor, UINT64_MAX);
    }
    scan.floors.push_back({partition, std::move(floor)});
  }
  if (!each) scan.closed = store_.floors().closed();
}

// The worker may have seen what is being written and isn't synced yet: the answer waits for it.
void Replica::on(SliceRead read, MessageOutbox& outbox) {
  const auto at = scans_.find(read.ticket);
  if (at == scans_.end()) return;
  Scan scan = std::move(at->second);
  scans_.erase(at);
  ReplicaScanReply reply{.request = scan.request, .replica = settings_.self};
  reply.floors = std::move(scan.floors);
  reply.closed = std::move(scan.closed);
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
  add_erased(std::move(scan.erased_meanwhile), reply);
  answer(scan.from, store_.under_way(), std::move(reply), outbox);
}

}  // namespace ringkv
