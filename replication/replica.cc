#include "replication/replica.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/text.h"

namespace ringkv {
namespace {

constexpr uint64_t kSkewBoundMicros = 5'000'000;

size_t bytes_of(const StampPut& put) {
  return put.key.size() + put.place.storage_key.size() + put.value.size();
}

bool replaces_all(const std::optional<CausalContext>& context, const std::vector<Dot>& dots) {
  if (!context) return true;  // a blind put takes all that its coordinator holds
  return std::all_of(dots.begin(), dots.end(), [&](const Dot& dot) { return context->covers(dot); });
}

// What a client's context claims must be possible: no later than anything can have been written (a clock may
// be off by the bound), no more of this life than it has stamped. Contexts aren't secret, and one that claims
// the end of time would stop this store's time for good.
Status check_claims(const StampPut& put, const RecordStore& store, WallMicros wall_now) {
  if (!put.context) return {};
  const HybridTime latest = std::max<HybridTime>(store.highest_time(), wall_now) + kSkewBoundMicros;
  const bool possible =
      put.context->highest_time <= latest && put.context->vector.counter_of(store.actor()) <= store.counter();
  if (possible) return {};
  return invalid_argument(cat("key ", display_key(put.key),
                              ": the context claims to have seen what was never written: get the key again"));
}

// Siblings are capped where a version is stamped, unless its context makes the record smaller; a merge never
// is.
Status check_size(const StampPut& put, const RecordHead& head, const Record& after) {
  if (after.versions.size() > kSiblingsMax && after.versions.size() >= head.dots.size()) {
    return too_many_siblings(
        cat("key ", display_key(put.key), " has ", head.dots.size(),
            " siblings, the most there may be: get it and put one value with its context"));
  }
  if (!within_limits(after)) {
    return invalid_argument(cat("key ", display_key(put.key), ": the context names more than ",
                                kContextActorsMax, " lives of nodes: get the key again"));
  }
  const uint64_t bytes = content_bytes(put.key, after);
  if (bytes > kRecordBytesMax && bytes >= head.content_bytes) {
    return too_many_siblings(cat("key ", display_key(put.key), " would hold ", human_bytes(bytes),
                                 " of siblings: get it and put one value with its context"));
  }
  return {};
}

}  // namespace

void Replica::on(StampPut put, Time now, WallMicros wall_now, MessageOutbox& outbox) {
  const KeyIdentity key = put.place.identity;
  const auto latch = latches_.find(key);
  if (latch != latches_.end()) {
    latched_bytes_ += bytes_of(put);
    latch->second.stamps.push_back(std::move(put));
    return;
  }
  if (try_stamp(put, nullptr, now, wall_now, outbox) == Step::kDone) return;
  latched_bytes_ += bytes_of(put);
  latches_[key].stamps.push_back(std::move(put));
}

Replica::Step Replica::try_stamp(StampPut& put, const std::string* bytes, Time now, WallMicros wall_now,
                                 MessageOutbox& outbox) {
  if (now >= put.deadline) {
    refuse(put, unavailable(cat("key ", display_key(put.key), ": timed out before it was written")), outbox);
    return Step::kDone;
  }
  if (Status status = check_claims(put, store_, wall_now); !status.ok()) {
    refuse(put, std::move(status), outbox);
    return Step::kDone;
  }
  RecordHead head;
  if (bytes == nullptr || store_.pending(put.place) != 0) {
    Result<std::optional<RecordHead>> newest = store_.newest_head(put.place);
    if (!newest.ok()) return refuse(put, newest.status(), outbox), Step::kDone;
    if (!newest->has_value())
      return wait_for_read(put.place, put.deadline, StampRead{put.place.identity}, outbox);
    head = std::move(**newest);
  } else if (!bytes->empty()) {
    Result<RecordHead> decoded = decode_record_head(*bytes);
    if (!decoded.ok()) return refuse(put, decoded.status(), outbox), Step::kDone;
    head = std::move(*decoded);
  }
  if (replaces_all(put.context, head.dots)) {
    stamp(put, head, nullptr, wall_now, outbox);
    return Step::kDone;
  }

  // Siblings stay, so their values are needed: from the disk, once all that is under way on the key is there.
  if (const BatchNumber batch = store_.pending(put.place); batch != 0) {
    latches_waiting_.emplace(batch, put.place.identity);
    return Step::kWaits;
  }
  std::string cached;
  if (bytes == nullptr) {
    Result<Lookup> found = store_.read_cached(put.place, cached);
    if (!found.ok()) return refuse(put, found.status(), outbox), Step::kDone;
    if (*found == Lookup::kWouldBlock)
      return wait_for_read(put.place, put.deadline, StampRead{put.place.identity}, outbox);
    bytes = &cached;
  }
  Result<Record> record = decode_record(*bytes);
  if (!record.ok()) return refuse(put, record.status(), outbox), Step::kDone;
  stamp(put, head, &*record, wall_now, outbox);
  return Step::kDone;
}

Replica::Step Replica::wait_for_read(const Place& place, Time deadline, ReadPurpose purpose,
                                     MessageOutbox& outbox) {
  const uint64_t ticket = ++last_ticket_;
  reads_.emplace(ticket, std::move(purpose));
  outbox.send(self_, ReadRecord{ticket, place, deadline});
  return Step::kWaits;
}

void Replica::stamp(StampPut& put, const RecordHead& head, const Record* record, WallMicros wall_now,
                    MessageOutbox& outbox) {
  const Floor stamped_here{.vector = {}, .highest_time = store_.highest_time()};
  Stamp stamp;
  stamp.version.dot = store_.next_dot();
  stamp.version.kind = put.kind;
  stamp.version.time = next_time(wall_now, head.context, put.context ? &*put.context : nullptr, stamped_here);
  stamp.version.expires_at_ms = put.expires_at_ms;
  stamp.version.value = std::move(put.value);
  stamp.version.operation = put.operation;

  // Where nothing of the record stays its versions needn't be known: a blind put on its context.
  Record current = record != nullptr ? *record : Record{head.context, {}};
  store_.restore(current.context);
  if (record != nullptr) {
    stamp.context = std::move(put.context);
  } else if (put.context) {
    current.context.join(*put.context);
  }
  Record after = stamped(current, stamp, put.conflict);
  if (Status status = check_size(put, head, after); !status.ok())
    return refuse(put, std::move(status), outbox);

  StampPutAck ack{put.request, self_, {}, {}};
  if (after.versions.size() == 1) ack.context = after.context;
  store_.stage(put.place, put.key, std::move(after), head);
  if (put.sync) store_.require_sync();
  outbox.staged();
  outbox.send(self_, std::move(ack));
}

void Replica::run_latch(const KeyIdentity& key, const std::string* bytes, Time now, WallMicros wall_now,
                        MessageOutbox& outbox) {
  const auto latch = latches_.find(key);
  CHECK(latch != latches_.end());
  std::deque<StampPut>& stamps = latch->second.stamps;
  while (!stamps.empty()) {
    const size_t latched = bytes_of(stamps.front());
    if (try_stamp(stamps.front(), bytes, now, wall_now, outbox) == Step::kWaits) return;
    latched_bytes_ -= latched;
    stamps.pop_front();
  }
  latches_.erase(latch);
}

void Replica::on(ReplicaGet get, Time now, MessageOutbox& outbox) {
  if (now >= get.deadline) {
    return answer_get(get, unavailable(cat("key ", display_key(get.key), ": timed out before it was read")),
                      {}, outbox);
  }
  if (const BatchNumber batch = store_.being_written(get.place); batch != 0) {
    gets_waiting_.emplace(batch, WaitingGet{std::move(get), std::nullopt});
    return;
  }
  std::string bytes;
  const Result<Lookup> found = store_.read_cached(get.place, bytes);
  if (!found.ok()) return answer_get(get, found.status(), {}, outbox);
  if (*found == Lookup::kWouldBlock) {
    const Place place = get.place;
    const Time deadline = get.deadline;
    wait_for_read(place, deadline, std::move(get), outbox);
    return;
  }
  answer_get(get, {}, bytes, outbox);
}

void Replica::answer_get(const ReplicaGet& get, const Status& status, std::string_view bytes,
                         MessageOutbox& outbox) {
  ReplicaGetReply reply{get.request, self_, status, {}};
  if (status.ok() && !bytes.empty()) {
    Result<Record> record = decode_record(bytes);
    if (record.ok()) {
      reply.record = std::move(*record);
      store_.restore(reply.record.context);
    } else {
      reply.status = record.status();
    }
  }
  if (!reply.status.ok() && reply.status.code() == StatusCode::kCorruption) {
    reply.status = corruption(cat("key ", display_key(get.key), ": ", reply.status.message()));
  }
  outbox.send(self_, std::move(reply));
}

void Replica::on(RecordRead read, Time now, WallMicros wall_now, MessageOutbox& outbox) {
  const auto at = reads_.find(read.ticket);
  if (at == reads_.end()) return;
  ReadPurpose purpose = std::move(at->second);
  reads_.erase(at);
  if (ReplicaGet* get = std::get_if<ReplicaGet>(&purpose)) {
    // The worker may have seen what is being written now and isn't synced yet: the answer waits for it.
    const BatchNumber batch = store_.being_written(get->place);
    if (batch == 0 || !read.status.ok()) return answer_get(*get, read.status, read.bytes, outbox);
    gets_waiting_.emplace(batch, WaitingGet{std::move(*get), std::move(read.bytes)});
    return;
  }
  const KeyIdentity key = std::get<StampRead>(purpose).key;
  if (!read.status.ok()) {
    std::deque<StampPut>& stamps = latches_.at(key).stamps;
    refuse(stamps.front(), read.status, outbox);
    latched_bytes_ -= bytes_of(stamps.front());
    stamps.pop_front();
    return run_latch(key, nullptr, now, wall_now, outbox);
  }
  run_latch(key, &read.bytes, now, wall_now, outbox);
}

void Replica::on_committed(BatchNumber batch, Time now, WallMicros wall_now, MessageOutbox& outbox) {
  while (!latches_waiting_.empty() && latches_waiting_.begin()->first <= batch) {
    const KeyIdentity key = latches_waiting_.begin()->second;
    latches_waiting_.erase(latches_waiting_.begin());
    run_latch(key, nullptr, now, wall_now, outbox);
  }
  while (!gets_waiting_.empty() && gets_waiting_.begin()->first <= batch) {
    WaitingGet waiting = std::move(gets_waiting_.begin()->second);
    gets_waiting_.erase(gets_waiting_.begin());
    if (waiting.bytes) {
      answer_get(waiting.get, {}, *waiting.bytes, outbox);
    } else {
      on(std::move(waiting.get), now, outbox);  // nothing is being written now, so it doesn't wait again
    }
  }
}

void Replica::refuse(const StampPut& put, Status status, MessageOutbox& outbox) {
  if (status.code() == StatusCode::kCorruption) {
    status = corruption(cat("key ", display_key(put.key), ": ", status.message()));
  }
  outbox.send(self_, StampPutAck{put.request, self_, std::move(status), {}});
}

}  // namespace ringkv
