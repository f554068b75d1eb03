#include "replication/replica.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/limits.h"
#include "base/text.h"

namespace ringkv {
namespace {

Status named(std::string_view key, Status status) {
  if (status.code() != StatusCode::kCorruption) return status;
  return corruption(cat("key ", display_key(key), ": ", status.message()));
}

Status timed_out(std::string_view key, std::string_view before_what) {
  return unavailable(cat("key ", display_key(key), ": timed out before it was ", before_what));
}

}  // namespace

const Place& Replica::place_of_change(const Change& change) {
  if (const auto* put = std::get_if<StampPut>(&change)) return put->place;
  return std::get<Merge>(change).put.place;
}

Time Replica::deadline_of(const Change& change) {
  if (const auto* put = std::get_if<StampPut>(&change)) return put->deadline;
  return std::get<Merge>(change).put.deadline;
}

size_t Replica::bytes_of(const Change& change) {
  const Place& place = place_of_change(change);
  if (const auto* put = std::get_if<StampPut>(&change)) {
    return put->key.size() + place.storage_key.size() + put->value.size();
  }
  const ReplicaPut& put = std::get<Merge>(change).put;
  return put.key.size() + place.storage_key.size() + put.record->size();
}

void Replica::on(StampPut put, Time now, WallMicros wall_now, MessageOutbox& outbox) {
  take(std::move(put), now, wall_now, outbox);
}

void Replica::on(NodeId from, ReplicaPut put, Time now, WallMicros wall_now, MessageOutbox& outbox) {
  if (from != settings_.self) put.place = place_of(settings_.placement, put.bucket, put.key);
  Merge merge{from, std::move(put), {}};
  Status status = check_key(merge.put.key);
  if (status.ok()) {
    Result<RecordOutline> outline = decode_record_outline(*merge.put.record);
    if (outline.ok() && !outline->head.context.stripped && !outline->head.dots.empty()) {
      merge.arriving = std::move(*outline);
    } else {
      status = outline.ok() ? corruption("a record that isn't complete was sent") : outline.status();
    }
  }
  const size_t held = store_.staged_bytes() + latched_bytes_;
  if (status.ok() && held > 0 && held + merge.put.record->size() > settings_.held_bytes_max) {
    status = overloaded(cat(human_bytes(held), " of writes wait for the disk"));
  }
  if (!status.ok()) return refuse(merge, std::move(status), outbox);
  take(std::move(merge), now, wall_now, outbox);
}

void Replica::take(Change change, Time now, WallMicros wall_now, MessageOutbox& outbox) {
  const KeyIdentity key = place_of_change(change).identity;
  const bool waits = latches_.contains(key);
  if (!waits && try_change(change, nullptr, now, wall_now, outbox) == Step::kDone) return;
  latched_bytes_ += bytes_of(change);
  latches_[key].changes.push_back(std::move(change));
}

Replica::Step Replica::try_change(Change& change, const std::string* bytes, Time now, WallMicros wall_now,
                                  MessageOutbox& outbox) {
  const Place& place = place_of_change(change);
  const auto refused = [&](const Status& status) {
    refuse_change(change, status, outbox);
    return Step::kDone;
  };
  if (now >= deadline_of(change)) {
    const auto* put = std::get_if<StampPut>(&change);
    return refused(timed_out(put != nullptr ? put->key : std::get<Merge>(change).put.key, "written"));
  }
  RecordHead newest;
  if (bytes == nullptr || store_.pending(place) != 0) {
    Result<std::optional<RecordHead>> found = store_.newest_head(place);
    if (!found.ok()) return refused(found.status());
    if (!found->has_value()) return wait_for_read(change, outbox);
    newest = std::move(**found);
  } else if (!bytes->empty()) {
    Result<RecordHead> decoded = decode_record_head(*bytes);
    if (!decoded.ok()) return refused(decoded.status());
    newest = std::move(*decoded);
  }
  store_.restore(newest.context);
  const auto apply_change = [&](const Record* held) {
    if (auto* put = std::get_if<StampPut>(&change)) {
      apply(*put, newest, held, wall_now, outbox);
    } else {
      apply(std::get<Merge>(change), newest, held, outbox);
    }
    return Step::kDone;
  };
  if (!std::visit([&](const auto& body) { return needs_values(body, newest); }, change)) {
    return apply_change(nullptr);
  }

  // Siblings may stay, so their values are needed: from the disk, once all that is under way on the key is
  // there.
  if (const BatchNumber batch = store_.pending(place); batch != 0) {
    latches_waiting_.emplace(batch, place.identity);
    return Step::kWaits;
  }
  std::string cached;
  if (bytes == nullptr) {
    Result<Lookup> found = store_.read_cached(place, cached);
    if (!found.ok()) return refused(found.status());
    if (*found == Lookup::kWouldBlock) return wait_for_read(change, outbox);
    bytes = &cached;
  }
  Result<Record> held = decode_record(*bytes);
  if (!held.ok()) return refused(held.status());
  store_.restore(held->context);
  return apply_change(&*held);
}

Replica::Step Replica::wait_for_read(const Change& change, MessageOutbox& outbox) {
  const Place& place = place_of_change(change);
  read(place, deadline_of(change), LatchRead{place.identity}, outbox);
  return Step::kWaits;
}

void Replica::read(const Place& place, Time deadline, std::variant<LatchRead, Get> purpose,
                   MessageOutbox& outbox) {
  const uint64_t ticket = ++last_ticket_;
  outbox.send(settings_.self, ReadRecord{ticket, place, deadline});
  reads_.emplace(ticket, std::move(purpose));
}

void Replica::run_latch(const KeyIdentity& key, const std::string* bytes, Time now, WallMicros wall_now,
                        MessageOutbox& outbox) {
  const auto latch = latches_.find(key);
  CHECK(latch != latches_.end());
  std::deque<Change>& changes = latch->second.changes;
  while (!changes.empty()) {
    const size_t latched = bytes_of(changes.front());
    if (try_change(changes.front(), bytes, now, wall_now, outbox) == Step::kWaits) return;
    latched_bytes_ -= latched;
    changes.pop_front();
  }
  latches_.erase(latch);
}

bool Replica::needs_values(const StampPut& put, const RecordHead& newest) {
  return !replaces_all(put.context, newest.dots);
}

void Replica::apply(StampPut& put, const RecordHead& newest, const Record* held, WallMicros wall_now,
                    MessageOutbox& outbox) {
  const StampingLife life{store_.actor(), store_.counter(), store_.highest_time()};
  if (Status status = check_claims(put, life, wall_now); !status.ok())
    return refuse(put, std::move(status), outbox);
  if (newest.context.vector.counter_of(life.actor) > life.counter) {
    return refuse(put, corruption("its record claims writes that this node has yet to make"), outbox);
  }
  Record after = stamped_record(put, held != nullptr ? *held : Record{newest.context, {}}, store_.next_dot(),
                                life.highest_time, wall_now);
  if (Status status = check_size(put, newest, after); !status.ok())
    return refuse(put, std::move(status), outbox);

  EncodedRecord encoded = store_.encoded(put.place, put.key, after);
  // Before the own record: the others write while this disk does. A counter that the disk then loses dies
  // with its boot.
  outbox.send(settings_.self,
              PutStamped{put.request, encoded.bytes, std::move(after.context), after.versions.size() > 1});
  store_.stage(put.place, std::move(encoded), newest);
  if (put.sync) store_.require_sync();
  outbox.staged();
  outbox.send(settings_.self, StampPutAck{put.request, settings_.self, {}});
}

bool Replica::needs_values(const Merge& merge, const RecordHead& newest) {
  return effect_of(merge.arriving, newest, merge.put.conflict, merge.put.source) == ArrivalEffect::kNeedsOurs;
}

void Replica::apply(Merge& merge, const RecordHead& newest, const Record* held, MessageOutbox& outbox) {
  const ReplicaPut& put = merge.put;
  const ArrivalEffect effect = effect_of(merge.arriving, newest, put.conflict, put.source);
  if (effect == ArrivalEffect::kNothingNew) return acknowledge_unchanged(merge, outbox);
  if (Status status = check_space(merge, newest); !status.ok())
    return refuse(merge, std::move(status), outbox);
  if (effect == ArrivalEffect::kReplacesAll) {
    return stage(merge, {put.record, std::move(merge.arriving.head)}, newest, outbox);
  }
  Result<Record> arriving = decode_record(*put.record);
  CHECK(arriving.ok());  // its outline was read
  const Record merged = effect == ArrivalEffect::kLeavesNoneOfOurs
                            ? merge_over(newest, std::move(*arriving), put.conflict, put.source)
                            : merge_with(*held, std::move(*arriving), put.conflict, put.source);
  if (!within_limits(merged)) {
    return refuse(merge,
                  too_many_siblings(cat("key ", display_key(put.key), " would have more versions than fit")),
                  outbox);
  }
  stage(merge, store_.encoded(put.place, put.key, merged), newest, outbox);
}

void Replica::stage(const Merge& merge, EncodedRecord record, const RecordHead& newest,
                    MessageOutbox& outbox) {
  store_.stage(merge.put.place, std::move(record), newest);
  if (merge.put.sync) store_.require_sync();
  outbox.staged();
  if (merge.put.request != 0) {
    outbox.send(merge.from, ReplicaPutAck{merge.put.request, settings_.self, {}});
  }
}

// What is held already may still be on its way to the disk, or be there without a sync.
void Replica::acknowledge_unchanged(const Merge& merge, MessageOutbox& outbox) {
  const ReplicaPut& put = merge.put;
  if (put.request == 0) return;
  const BatchNumber pending = store_.pending(put.place);
  ReplicaPutAck ack{put.request, settings_.self, {}};
  if (put.sync && (pending != 0 || !store_.is_synced())) {
    store_.require_sync();
    outbox.staged();
    return outbox.send(merge.from, std::move(ack));
  }
  answer(merge.from, pending, std::move(ack), outbox);
}

Status Replica::check_space(const Merge& merge, const RecordHead& newest) const {
  const bool may_wait = merge.put.source == Source::kPut || merge.put.source == Source::kReadRepair;
  if (puts_refused_.empty() || !may_wait) return {};
  for (const Version& version : merge.arriving.versions) {
    if (version.kind == VersionKind::kTombstone || newest.context.covers(version.dot)) continue;
    return out_of_space(cat("key ", display_key(merge.put.key), " is not stored: ", puts_refused_));
  }
  return {};
}

void Replica::refuse(const StampPut& put, Status status, MessageOutbox& outbox) {
  outbox.send(settings_.self, StampPutAck{put.request, settings_.self, named(put.key, std::move(status))});
}

void Replica::refuse(const Merge& merge, Status status, MessageOutbox& outbox) {
  if (merge.put.request == 0) return;
  outbox.send(merge.from,
              ReplicaPutAck{merge.put.request, settings_.self, named(merge.put.key, std::move(status))});
}

void Replica::refuse_change(const Change& change, const Status& status, MessageOutbox& outbox) {
  std::visit([&](const auto& body) { refuse(body, status, outbox); }, change);
}

void Replica::on(RecordRead read, Time now, WallMicros wall_now, MessageOutbox& outbox) {
  const auto at = reads_.find(read.ticket);
  if (at == reads_.end()) return;
  std::variant<LatchRead, Get> purpose = std::move(at->second);
  reads_.erase(at);
  if (Get* get = std::get_if<Get>(&purpose)) {
    // The worker may have seen what is being written now and isn't synced yet: the answer waits for it.
    const BatchNumber batch = store_.being_written(get->get.place);
    if (batch == 0 || !read.status.ok()) return answer(*get, read.status, read.bytes, outbox);
    gets_waiting_.emplace(batch, WaitingGet{std::move(*get), std::move(read.bytes)});
    return;
  }
  const KeyIdentity key = std::get<LatchRead>(purpose).key;
  if (!read.status.ok()) {
    std::deque<Change>& changes = latches_.at(key).changes;
    refuse_change(changes.front(), read.status, outbox);
    latched_bytes_ -= bytes_of(changes.front());
    changes.pop_front();
    return run_latch(key, nullptr, now, wall_now, outbox);
  }
  run_latch(key, &read.bytes, now, wall_now, outbox);
}

// Readers first: what a latch stages would hold back their answers.
void Replica::on_committed(BatchNumber batch, Time now, WallMicros wall_now, MessageOutbox& outbox) {
  while (!answers_waiting_.empty() && answers_waiting_.begin()->first <= batch) {
    WaitingAnswer& waiting = answers_waiting_.begin()->second;
    outbox.send(waiting.to, std::move(waiting.message));
    answers_waiting_.erase(answers_waiting_.begin());
  }
  while (!gets_waiting_.empty() && gets_waiting_.begin()->first <= batch) {
    WaitingGet waiting = std::move(gets_waiting_.begin()->second);
    gets_waiting_.erase(gets_waiting_.begin());
    if (waiting.bytes) {
      answer(waiting.get, {}, *waiting.bytes, outbox);
    } else {
      // Nothing is being written now, so it doesn't wait again.
      on(waiting.get.from, std::move(waiting.get.get), now, outbox);
    }
  }
  while (!latches_waiting_.empty() && latches_waiting_.begin()->first <= batch) {
    const KeyIdentity key = latches_waiting_.begin()->second;
    latches_waiting_.erase(latches_waiting_.begin());
    run_latch(key, nullptr, now, wall_now, outbox);
  }
}

}  // namespace ringkv
