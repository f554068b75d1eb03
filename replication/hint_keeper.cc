#include "replication/hint_keeper.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/check.h"
#include "base/limits.h"
#include "base/plants.h"
#include "base/text.h"
#include "replication/arrival_decision.h"

namespace ringkv {
namespace {

// A record without versions stands for what its context covers.
bool is_covered(const RecordHead& held, const CausalContext& context) {
  if (held.dots.empty()) return context.vector.covers(held.context.vector);
  return std::all_of(held.dots.begin(), held.dots.end(), [&](const Dot& dot) { return context.covers(dot); });
}

}  // namespace

NodeId HintKeeper::intended_of(const Change& change) {
  if (const auto* keep = std::get_if<Keep>(&change)) return keep->put.intended;
  return std::get<HintCovered>(change).intended;
}

const std::string& HintKeeper::storage_key_of(const Change& change) {
  if (const auto* keep = std::get_if<Keep>(&change)) return keep->put.place.storage_key;
  return std::get<HintCovered>(change).place.storage_key;
}

size_t HintKeeper::bytes_of(const Change& change) {
  const auto* keep = std::get_if<Keep>(&change);
  return storage_key_of(change).size() +
         (keep == nullptr ? 0 : keep->put.key.size() + keep->put.record->size());
}

void HintKeeper::on(NodeId from, HintPut put, Moment moment, MessageOutbox& outbox) {
  if (from != environment_.settings.self) put.place = environment_.view.place(put.bucket, put.key);
  Keep keep{from, std::move(put), {}};
  Status status = check(keep.put, moment.now);
  if (status.ok()) {
    Result<RecordOutline> outline = decode_record_outline(*keep.put.record);
    if (outline.ok() && !outline->head.context.stripped) {
      keep.arriving = std::move(*outline);
    } else {
      status = outline.ok() ? corruption("a record that isn't complete was sent") : outline.status();
    }
  }
  if (status.ok()) status = check_room(keep.put.record->size());
  if (!status.ok()) return refuse(keep, std::move(status), outbox);
  take(std::move(keep), moment.now, outbox);
}

Status HintKeeper::check(const HintPut& put, Time now) const {
  if (Status status = check_key(put.key); !status.ok()) return status;
  const auto refused = [&](std::string_view why) {
    return cat("key ", display_key(put.key), ": no hint is kept for ",
               environment_.view.name_of(put.intended), ": ", why);
  };
  if (put.intended == environment_.settings.self) return invalid_argument(refused("it is this node itself"));
  if (environment_.view.ring().description().find_member(put.intended) == nullptr) {
    return invalid_argument(refused("it is no member of the ring"));
  }
  if (!environment_.puts_refused.empty()) return out_of_space(refused(environment_.puts_refused));
  if (now >= put.deadline) return unavailable(refused("timed out"));
  return {};
}

Status HintKeeper::check_room(size_t bytes) const {
  if (waiting_ >= kWaitingMax) return overloaded(cat(waiting_, " hints wait for the disk"));
  const size_t held = environment_.store.staged_bytes() + waiting_bytes_;
  if (held == 0 || held + bytes <= kHeldBytesMax) return {};
  return overloaded(cat(human_bytes(held), " of writes wait for the disk"));
}

void HintKeeper::on(HintCovered covered, Moment moment, MessageOutbox& outbox) {
  covered.place = environment_.view.place(covered.bucket, covered.key);
  // Lost for want of room it only costs a delivery of what the intended node has already.
  if (!check_room(0).ok()) return;
  take(std::move(covered), moment.now, outbox);
}

void HintKeeper::take(Change change, Time now, MessageOutbox& outbox) {
  const std::string hint_key = HintStore::hint_key(intended_of(change), storage_key_of(change));
  const auto latch = latches_.find(hint_key);
  if (latch == latches_.end() && try_change(change, nullptr, now, outbox) == Step::kDone) return;
  waiting_ += 1;
  waiting_bytes_ += bytes_of(change);
  if (latch != latches_.end()) return latch->second.changes.push_back(std::move(change));
  const uint64_t ticket = environment_.next_number();
  outbox.send(environment_.settings.self, ReadHint{ticket, intended_of(change), storage_key_of(change)});
  by_ticket_.emplace(ticket, hint_key);
  Latch& made = latches_[hint_key];
  made.ticket = ticket;
  made.changes.push_back(std::move(change));
}

// `read` is what the disk has, as of after all that was staged before the latch was made.
HintKeeper::Step HintKeeper::try_change(Change& change, const std::string* read, Time now,
                                        MessageOutbox& outbox) {
  auto* keep = std::get_if<Keep>(&change);
  if (keep != nullptr && now >= keep->put.deadline) {
    refuse(*keep, unavailable(cat("key ", display_key(keep->put.key), ": timed out before a hint was kept")),
           outbox);
    return Step::kDone;
  }
  Result<std::optional<std::string>> held =
      environment_.hints.newest(intended_of(change), storage_key_of(change));
  if (held.ok() && !held->has_value()) {
    if (read == nullptr) return Step::kWaits;
    *held = *read;
  }
  if (!held.ok()) {
    if (keep != nullptr) refuse(*keep, held.status(), outbox);
    return Step::kDone;
  }
  if (keep != nullptr) {
    apply(*keep, **held, outbox);
  } else {
    apply(std::get<HintCovered>(change), **held, outbox);
  }
  return Step::kDone;
}

bool HintKeeper::on(HintRead& read, Moment moment, MessageOutbox& outbox) {
  const auto ticket = by_ticket_.find(read.ticket);
  if (ticket == by_ticket_.end()) return false;
  const std::string hint_key = std::move(ticket->second);
  by_ticket_.erase(ticket);
  if (read.status.ok()) {
    run(hint_key, &read.record, moment.now, outbox);
    return true;
  }
  // What the disk doesn't tell can't be merged with.
  for (Change& change : latches_.at(hint_key).changes) {
    waiting_ -= 1;
    waiting_bytes_ -= bytes_of(change);
    if (auto* keep = std::get_if<Keep>(&change)) refuse(*keep, read.status, outbox);
  }
  latches_.erase(hint_key);
  return true;
}

// What is read stays true for all of them: the first that changes it makes it known to memory, until it is
// committed; and nothing is committed meanwhile.
void HintKeeper::run(const std::string& hint_key, const std::string* read, Time now, MessageOutbox& outbox) {
  const auto latch = latches_.find(hint_key);
  CHECK(latch != latches_.end());
  for (Change& change : latch->second.changes) {
    waiting_ -= 1;
    waiting_bytes_ -= bytes_of(change);
    CHECK(try_change(change, read, now, outbox) == Step::kDone);
  }
  latches_.erase(latch);
}

void HintKeeper::apply(Keep& keep, const std::string& held, MessageOutbox& outbox) {
  const HintPut& put = keep.put;
  if (held.empty()) return stage(keep, *put.record, held, outbox);
  const Result<RecordHead> head = decode_record_head(held);
  if (!head.ok()) return refuse(keep, head.status(), outbox);
  const ArrivalEffect effect = effect_of(keep.arriving, *head, put.conflict, Source::kPut);
  if (effect == ArrivalEffect::kNothingNew) return acknowledge_unchanged(keep, outbox);
  if (effect == ArrivalEffect::kReplacesAll) return stage(keep, *put.record, held, outbox);
  const Result<Record> ours = decode_record(held);
  if (!ours.ok()) return refuse(keep, ours.status(), outbox);
  Result<Record> arriving = decode_record(*put.record);
  CHECK(arriving.ok());  // its outline was read
  const Record merged = merge_with(*ours, std::move(*arriving), put.conflict, Source::kPut);
  if (!within_limits(merged)) {
    return refuse(
        keep,
        too_many_siblings(cat("key ", display_key(put.key), ": its hint would have more versions than fit")),
        outbox);
  }
  stage(keep, *environment_.store.encoded(put.place, put.key, merged).bytes, held, outbox);
}

void HintKeeper::stage(const Keep& keep, std::string_view record, std::string_view held,
                       MessageOutbox& outbox) {
  const HintPut& put = keep.put;
  const HintCounts& counts = environment_.hints.counts();
  const auto count = counts.find(put.intended);
  const uint64_t before = count == counts.end() ? 0 : count->second.bytes;
  const uint64_t added = held.empty() ? put.place.storage_key.size() + record.size() : record.size();
  const uint64_t budget = environment_.settings.hint_budget_bytes;
  if (added > held.size() && before + added - held.size() > budget) {
    return refuse(keep,
                  out_of_space(cat("key ", display_key(put.key), ": no hint is kept for ",
                                   environment_.view.name_of(put.intended), ", whose hints fill their ",
                                   human_bytes(budget), " here")),
                  outbox);
  }
  if (!planted(Plant::kDropHint)) environment_.hints.stage(put.intended, put.place.storage_key, record, held);
  environment_.statistics.hints_stored += 1;
  if (put.sync) environment_.store.require_sync();
  outbox.staged();
  acknowledge(keep, {}, outbox);
}

// What is kept already may still be on its way to the disk, or be there without a sync.
void HintKeeper::acknowledge_unchanged(const Keep& keep, MessageOutbox& outbox) {
  RecordStore& store = environment_.store;
  if (store.last_staged() != 0 || (keep.put.sync && !store.is_synced())) {
    store.require_sync();
    outbox.staged();
  }
  acknowledge(keep, {}, outbox);
}

void HintKeeper::refuse(const Keep& keep, Status status, MessageOutbox& outbox) {
  environment_.statistics.hints_refused += 1;
  acknowledge(keep, std::move(status), outbox);
}

void HintKeeper::acknowledge(const Keep& keep, Status status, MessageOutbox& outbox) const {
  if (keep.put.request == 0) return;
  outbox.send(keep.from, ReplicaPutAck{.request = keep.put.request,
                                       .replica = environment_.settings.self,
                                       .status = std::move(status),
                                       .hint_for = keep.put.intended});
}

void HintKeeper::apply(const HintCovered& covered, const std::string& held, MessageOutbox& outbox) {
  if (held.empty()) return;
  const Result<RecordHead> head = decode_record_head(held);
  if (!head.ok()) return;
  if (!is_covered(*head, covered.context) && !planted(Plant::kCancelUncoveredHint)) return;
  environment_.hints.erase(covered.intended, covered.place.storage_key, held);
  outbox.staged();
  ConvergenceStatistics& statistics = environment_.statistics;
  switch (covered.reason) {
    case HintCovered::Reason::kAcknowledged:
      statistics.hints_cancelled += 1;
      break;
    case HintCovered::Reason::kDelivered:
      statistics.hints_delivered += 1;
      break;
    case HintCovered::Reason::kRedirected:
      statistics.hints_redirected += 1;
      break;
  }
}

}  // namespace ringkv
