#include "replication/replica.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/limits.h"
#include "base/plants.h"
#include "base/text.h"

namespace ringkv {
namespace {

constexpr WallMicros kSkewBoundMicros = 5'000'000;

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
  if (const auto* merge = std::get_if<Merge>(&change)) return merge->put.place;
  return std::get<EraseRecord>(change).place;
}

Time Replica::deadline_of(const Change& change) {
  if (const auto* put = std::get_if<StampPut>(&change)) return put->deadline;
  if (const auto* merge = std::get_if<Merge>(&change)) return merge->put.deadline;
  return Time::max();
}

size_t Replica::bytes_of(const Change& change) {
  const Place& place = place_of_change(change);
  if (const auto* put = std::get_if<StampPut>(&change)) {
    return put->key.size() + place.storage_key.size() + put->value.size();
  }
  const auto* merge = std::get_if<Merge>(&change);
  if (merge == nullptr) return place.storage_key.size();
  return merge->put.key.size() + place.storage_key.size() + merge->put.record->size();
}

void Replica::on(StampPut put, Time now, WallMicros wall_now, MessageOutbox& outbox) {
  store_.prefetch(put.place);
  if (Status status = check_owned(put.place, put.key); !status.ok())
    return refuse(put, std::move(status), outbox);
  take(std::move(put), now, wall_now, outbox);
}

void Replica::on(NodeId from, ReplicaPut put, Time now, WallMicros wall_now, MessageOutbox& outbox) {
  if (from != settings_.self) put.place = place_of(settings_.placement, put.bucket, put.key);
  store_.prefetch(put.place);
  Merge merge{from, std::move(put), {}};
  Status status = check_key(merge.put.key);
  if (status.ok()) status = check_owned(merge.put.place, merge.put.key);
  if (status.ok()) {
    Result<RecordOutline> outline = decode_record_outline(*merge.put.record);
    if (outline.ok() && !outline->head.context.stripped && !outline->head.absent()) {
      merge.arriving = std::move(*outline);
      // A bare context may come from one that has made it up, without a hash.
      merge.as_it_came = !merge.arriving.head.dots.empty();
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

void Replica::on(EraseRecord erase, Time now, WallMicros wall_now, MessageOutbox& outbox) {
  take(std::move(erase), now, wall_now, outbox);
}

Status Replica::check_owned(const Place& place, std::string_view key) const {
  if (store_.is_dropping(place.partition)) {
    return unavailable(cat("key ", display_key(key), ": what lay here of partition ", place.partition,
                           " from an earlier ownership is just being dropped: try again"));
  }
  if (ring_->is_owner(settings_.self, place.partition)) return {};
  return forbidden(cat("key ", display_key(key), " isn't this node's in epoch ", ring_->epoch()));
}

// Hints and rounds mean the data of two nodes, by whatever ring.
Status Replica::check_still_routed(const Change& change) const {
  const auto* put = std::get_if<StampPut>(&change);
  const auto* merge = std::get_if<Merge>(&change);
  const Place& place = place_of_change(change);
  if (!ring_->is_owner(settings_.self, place.partition))
    return check_owned(place, put != nullptr ? put->key : merge != nullptr ? merge->put.key : "");
  if (merge == nullptr || (merge->put.source != Source::kPut && merge->put.source != Source::kReadRepair))
    return {};
  return {StatusCode::kStaleEpoch, cat("key ", display_key(merge->put.key), " wasn't written before epoch ",
                                       ring_->epoch(), " began")};
}

// A latch that is left without changes goes when what it waits for comes.
void Replica::set_ring(const Ring& ring, MessageOutbox& outbox) {
  ring_ = &ring;
  for (auto& [key, latch] : latches_) {
    std::erase_if(latch.changes, [&](const Change& change) {
      const Status status = check_still_routed(change);
      if (status.ok()) return false;
      latched_bytes_ -= bytes_of(change);
      ++statistics_.refused_by_ring;
      refuse_change(change, status, outbox);
      return true;
    });
  }
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
    const auto* put = std::get_if<StampPut>(&change);  // an erasure has no deadline
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
  if (auto* merge = std::get_if<Merge>(&change)) merge->onto_bare = newest.dots.empty() && !newest.absent();
  // What an absent key must not forget. (To go it needn't come back first.)
  if (newest.absent() && !std::holds_alternative<EraseRecord>(change))
    newest.context.join(store_.erased(place.partition));
  if (auto* merge = std::get_if<Merge>(&change)) apply_floors(*merge, newest);
  // Filled by the floor, as what leaves a node must be (Gonçalves et al., "DottedDB", SRDS 2017): others may
  // hold what the floor covers.
  if (std::holds_alternative<StampPut>(change)) newest.context.join(store_.floor(place.partition));
  const auto apply_change = [&](const Record* held) {
    if (auto* put = std::get_if<StampPut>(&change)) {
      apply(*put, newest, held, wall_now, outbox);
    } else if (auto* merge = std::get_if<Merge>(&change)) {
      apply(*merge, newest, held, outbox);
    } else {
      apply(std::get<EraseRecord>(change), newest, held, wall_now, outbox);
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
  held->context = newest.context;
  return apply_change(&*held);
}

Replica::Step Replica::wait_for_read(const Change& change, MessageOutbox& outbox) {
  const Place& place = place_of_change(change);
  read({.place = place, .deadline = deadline_of(change)}, LatchRead{place.identity}, outbox);
  return Step::kWaits;
}

void Replica::read(ReadRecord what, std::variant<LatchRead, Get> purpose, MessageOutbox& outbox) {
  what.ticket = ++last_ticket_;
  reads_.emplace(what.ticket, std::move(purpose));
  outbox.send(settings_.self, std::move(what));
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

void Replica::apply_floors(Merge& merge, RecordHead& newest) {
  const Partition partition = merge.put.place.partition;
  const auto holds = [](const std::vector<Dot>& dots, const Dot& dot) {
    return std::binary_search(dots.begin(), dots.end(), dot);
  };
  for (const Dot& dot : merge.arriving.head.dots) {
    if (holds(newest.dots, dot) || newest.context.covers(dot)) continue;
    if (!store_.floor_covers(partition, dot)) continue;
    newest.context.vector.raise(dot.actor, dot.counter);
    if (!std::exchange(merge.under_floor, true)) ++statistics_.arrivals_under_floor;
  }
  if (merge.put.floor == nullptr) return;
  for (const Dot& dot : newest.dots) {
    CausalContext& theirs = merge.arriving.head.context;
    if (holds(merge.arriving.head.dots, dot) || theirs.covers(dot) || !merge.put.floor->covers(dot)) continue;
    theirs.vector.raise(dot.actor, dot.counter);
    merge.as_it_came = false;
  }
}

bool Replica::needs_values(const Merge& merge, const RecordHead& newest) {
  return effect_of(merge.arriving, newest, merge.put.conflict, merge.put.source) == ArrivalEffect::kNeedsOurs;
}

// Nothing of it is live, and the floor says all that it says.
bool Replica::is_under_floor(Partition partition, const RecordHead& head) const {
  const auto covered = [&](const Dot& dot) { return store_.floor_covers(partition, dot); };
  const std::vector<VersionVector::Entry>& entries = head.context.vector.entries();
  return std::all_of(head.dots.begin(), head.dots.end(), covered) &&
         std::all_of(entries.begin(), entries.end(), [&](const auto& entry) {
           return covered({entry.actor, entry.counter});
         });
}

// What is held has all that arrives, by the floor where not by its own context.
bool Replica::tells_nothing(Merge& merge, const RecordHead& newest) const {
  const RecordHead& theirs = merge.arriving.head;
  const auto known = [&](const Dot& dot) {
    return newest.context.covers(dot) || std::binary_search(newest.dots.begin(), newest.dots.end(), dot);
  };
  const auto stays = [&](const Dot& dot) {
    return !theirs.context.covers(dot) || std::binary_search(theirs.dots.begin(), theirs.dots.end(), dot);
  };
  if (!std::all_of(theirs.dots.begin(), theirs.dots.end(), known)) return false;
  if (!std::all_of(newest.dots.begin(), newest.dots.end(), stays)) return false;
  const Partition partition = merge.put.place.partition;
  // Of two bare contexts both nodes must come to hold the same.
  const bool both_bare = theirs.dots.empty() && merge.onto_bare;
  for (const VersionVector::Entry& entry : theirs.context.vector.entries()) {
    const Dot dot{entry.actor, entry.counter};
    if (newest.context.covers(dot)) continue;
    if (both_bare || !store_.floor_covers(partition, dot)) return false;
    merge.under_floor = true;
  }
  return newest.dots.empty() || newest.context.highest_time >= theirs.context.highest_time;
}

void Replica::apply(Merge& merge, const RecordHead& newest, const Record* held, MessageOutbox& outbox) {
  const ReplicaPut& put = merge.put;
  if (planted(Plant::kRepairOverwrites) && put.source == Source::kReadRepair)
    return stage(merge, {put.record, std::move(merge.arriving.head)}, newest, outbox);
  if (tells_nothing(merge, newest)) return acknowledge_unchanged(merge, outbox);
  if (Status status = check_space(merge, newest); !status.ok())
    return refuse(merge, std::move(status), outbox);
  const ArrivalEffect effect = effect_of(merge.arriving, newest, put.conflict, put.source);
  if (effect == ArrivalEffect::kReplacesAll && merge.as_it_came) {
    return stage(merge, {put.record, std::move(merge.arriving.head)}, newest, outbox);
  }
  Result<Record> arriving = decode_record(*put.record);
  CHECK(arriving.ok());  // its outline was read
  arriving->context = merge.arriving.head.context;
  const Record merged = effect == ArrivalEffect::kNeedsOurs
                            ? merge_with(*held, std::move(*arriving), put.conflict, put.source)
                            : merge_over(newest, std::move(*arriving), put.conflict, put.source);
  if (!within_limits(merged)) {
    return refuse(merge,
                  too_many_siblings(cat("key ", display_key(put.key), " would have more versions than fit")),
                  outbox);
  }
  stage(merge, store_.encoded(put.place, put.key, merged), newest, outbox);
}

void Replica::stage(const Merge& merge, EncodedRecord record, const RecordHead& newest,
                    MessageOutbox& outbox) {
  const Place& place = merge.put.place;
  if (record.head.content_bytes == 0 && is_under_floor(place.partition, record.head)) {
    erase(place, newest, record.head.context);
  } else {
    store_.stage(place, std::move(record), newest);
  }
  if (merge.put.sync) store_.require_sync();
  outbox.staged();
  if (merge.put.request != 0) {
    outbox.send(merge.from, ReplicaPutAck{merge.put.request, settings_.self, {}, {}});
  }
}

// What expired waits for the skew of the members' clocks too.
void Replica::apply(const EraseRecord& erase, const RecordHead& newest, const Record* held,
                    WallMicros wall_now, MessageOutbox& outbox) {
  if (newest.absent()) return;
  if (!is_under_floor(erase.place.partition, newest) && !planted(Plant::kPurgeAboveFloor)) return;
  const uint64_t expired_before_ms = (wall_now - std::min(wall_now, kSkewBoundMicros)) / 1000;
  if (held != nullptr && held->has_live_value(expired_before_ms)) return;
  this->erase(erase.place, newest, newest.context);
  outbox.staged();
}

// Who has noted what was known before, and reads now, may find it gone.
void Replica::erase(const Place& place, const RecordHead& newest, const CausalContext& context) {
  store_.erase(place, newest, context);
  CausalContext remembered = context;
  for (const Dot& dot : newest.dots) remembered.vector.raise(dot.actor, dot.counter);
  if (const auto noted = noted_.find(place.identity); noted != noted_.end())
    noted->second.erased_meanwhile.join(remembered);
  for (auto& [ticket, scan] : scans_) {
    if (!scan.with_floors) continue;
    if (!std::binary_search(scan.partitions.begin(), scan.partitions.end(), place.partition)) continue;
    if (place.storage_key > scan.after) scan.erased_meanwhile[place.storage_key].join(remembered);
  }
}

// What is held already may still be on its way to the disk, or be there without a sync; a floor too, which
// isn't the key's alone.
void Replica::acknowledge_unchanged(const Merge& merge, MessageOutbox& outbox) {
  const ReplicaPut& put = merge.put;
  if (put.request == 0) return;
  const BatchNumber pending = merge.under_floor ? store_.last_staged() : store_.pending(put.place);
  ReplicaPutAck ack{put.request, settings_.self, {}, {}};
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
              ReplicaPutAck{merge.put.request, settings_.self, named(merge.put.key, std::move(status)), {}});
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
    if (!get->hints_unread.empty()) return on_hint_read(std::move(*get), read, outbox);
    // The worker may have seen what is being written now and isn't synced yet: the answer waits for it.
    const BatchNumber batch = store_.being_written(get->get.place);
    if (batch == 0 || !read.status.ok()) return answer(*get, read.status, read.bytes, outbox);
    gets_waiting_.emplace(batch, WaitingGet{std::move(*get), std::move(read.bytes)});
    return;
  }
  const KeyIdentity key = std::get<LatchRead>(purpose).key;
  if (!read.status.ok()) {
    std::deque<Change>& changes = latches_.at(key).changes;
    if (!changes.empty()) {
      refuse_change(changes.front(), read.status, outbox);
      latched_bytes_ -= bytes_of(changes.front());
      changes.pop_front();
    }
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
      answer_or_read(std::move(waiting.get), outbox);
    }
  }
  while (!scans_waiting_.empty() && scans_waiting_.begin()->first <= batch) {
    outbox.send(settings_.self, std::move(scans_waiting_.begin()->second));
    scans_waiting_.erase(scans_waiting_.begin());
  }
  while (!latches_waiting_.empty() && latches_waiting_.begin()->first <= batch) {
    const KeyIdentity key = latches_waiting_.begin()->second;
    latches_waiting_.erase(latches_waiting_.begin());
    run_latch(key, nullptr, now, wall_now, outbox);
  }
}

}  // namespace ringkv
