#include "replication/partition_round.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "storage/record_codec.h"
#include "storage/storage_key.h"

namespace ringkv {
namespace {

constexpr Duration kPatience = std::chrono::seconds(10);
constexpr uint64_t kSmallLeafBytes = 4096;
// Of what is pulled together: so much is listed here, and held in memory.
constexpr uint64_t kKeysAtOnce = 4096;
constexpr uint64_t kBytesAtOnce = uint64_t{8} << 20;
constexpr size_t kFetchedAtOnce = 1000;

bool contains(const std::vector<Dot>& dots, const Dot& dot) {
  return std::binary_search(dots.begin(), dots.end(), dot);
}

bool floor_says(const Floor& floor, const std::vector<Actor>& closed, const Dot& dot) {
  return floor.covers(dot) || std::binary_search(closed.begin(), closed.end(), dot.actor);
}

}  // namespace

void PartitionRound::start(Moment moment, MessageOutbox& outbox) {
  heard_at_ = moment.now;
  outbox.send(source_, RoundOpen{.round = number_,
                                 .partition = partition_,
                                 .closed_digest = environment_.store.floors().closed_digest()});
}

// Both sides in one moment each: a leaf that is equal to what the source had then holds what it had.
void PartitionRound::on(RoundLeaves leaves, Moment moment, MessageOutbox& outbox) {
  if (ended_ || opened_) return;
  heard_at_ = moment.now;
  if (!leaves.status.ok()) return fail(std::move(leaves.status));
  opened_ = true;
  floor_ = std::move(leaves.floor);
  erased_ = std::move(leaves.erased);
  for (const RoundLeaves::LeafDigest& digest : leaves.leaves) theirs_[digest.leaf] = digest.value;
  for (uint32_t leaf = 0; leaf < kLeavesPerPartition; ++leaf) {
    const Leaf own = environment_.store.leaves().at(partition_ * kLeavesPerPartition + leaf);
    const auto their = theirs_.find(leaf);
    if ((their == theirs_.end() ? Leaf() : their->second) != own) to_pull_.push_back(leaf);
  }
  environment_.statistics.leaves_opened += to_pull_.size();
  next_leaves(moment, outbox);
}

void PartitionRound::next_leaves(Moment moment, MessageOutbox& outbox) {
  with_records_.reset();
  keys_only_.reset();
  own_leaves_.reset();
  own_.clear();
  has_first_floor_ = false;
  if (to_pull_.empty()) return finish();
  if (!environment_.puts_refused.empty()) return fail(out_of_space(environment_.puts_refused));
  uint64_t keys = 0;
  uint64_t bytes = 0;
  while (!to_pull_.empty() && keys < kKeysAtOnce && bytes < kBytesAtOnce) {
    const uint32_t leaf = to_pull_.front();
    to_pull_.pop_front();
    const Leaf own = environment_.store.leaves().at(partition_ * kLeavesPerPartition + leaf);
    const Leaf their = theirs_.contains(leaf) ? theirs_[leaf] : Leaf();
    keys += own.keys + their.keys;
    bytes += their.bytes;
    const bool empty_here = own == Leaf();
    if (!empty_here) own_leaves_.set(leaf);
    (empty_here || their.bytes <= kSmallLeafBytes ? with_records_ : keys_only_).set(leaf);
  }
  list_own(outbox);
  advance(moment, outbox);
}

// What is staged counts too, and is on disk once it is committed.
void PartitionRound::list_own(MessageOutbox& outbox) {
  own_position_.clear();
  own_listed_ = own_leaves_.none();
  if (own_listed_) return;
  own_waits_for_ = environment_.store.last_staged();
  if (own_waits_for_ == 0) read_own(outbox);
}

void PartitionRound::on_committed(BatchNumber batch, MessageOutbox& outbox) {
  if (own_waits_for_ == 0 || batch < own_waits_for_ || ended_) return;
  own_waits_for_ = 0;
  read_own(outbox);
}

void PartitionRound::read_own(MessageOutbox& outbox) {
  own_ticket_ = environment_.next_number();
  outbox.send(environment_.settings.self, ReadRange{own_ticket_,
                                                    {.partition = partition_,
                                                     .ring_partitions = environment_.view.ring().partitions(),
                                                     .leaves = own_leaves_,
                                                     .after = own_position_,
                                                     .records = false}});
}

bool PartitionRound::on(RangeRead& read, Moment moment, MessageOutbox& outbox) {
  if (own_ticket_ == 0 || read.ticket != own_ticket_) return false;
  own_ticket_ = 0;
  heard_at_ = moment.now;
  if (ended_) return true;
  if (!read.status.ok()) {
    fail(std::move(read.status));
    return true;
  }
  for (RangeEntry& entry : read.slice.entries) {
    environment_.store.restore(entry.head.context);
    own_[std::move(entry.storage_key)] = {std::move(entry.head.dots), std::move(entry.head.context),
                                          entry.head.transient};
  }
  own_position_ = std::move(read.slice.last);
  own_listed_ = read.slice.at_end;
  if (!own_listed_) read_own(outbox);
  advance(moment, outbox);
  return true;
}

void PartitionRound::walk(MessageOutbox& outbox) {
  RoundWalk asked{.round = number_, .partition = partition_, .after = walk_position_};
  if (walk_ == Walk::kFetch) {
    const size_t count = std::min(to_fetch_.size(), kFetchedAtOnce);
    asked.storage_keys.assign(to_fetch_.end() - static_cast<ptrdiff_t>(count), to_fetch_.end());
    asked.after.clear();
  } else {
    asked.leaves = walk_ == Walk::kWithRecords ? with_records_ : keys_only_;
  }
  asked.records = walk_ != Walk::kKeysOnly;
  outbox.send(source_, std::move(asked));
}

// One thing at a time: the own list, what the source sends with records, its keys, what is lacking of those.
void PartitionRound::advance(Moment moment, MessageOutbox& outbox) {
  if (ended_ || !opened_ || !own_listed_ || !puts_.empty()) return;
  if (walk_ != Walk::kNone) {
    if (std::exchange(walk_goes_on_, false)) walk(outbox);
    return;
  }
  walk_position_.clear();
  if (with_records_.any()) {
    walk_ = Walk::kWithRecords;
    return walk(outbox);
  }
  if (keys_only_.any()) {
    walk_ = Walk::kKeysOnly;
    return walk(outbox);
  }
  if (!to_fetch_.empty()) {
    walk_ = Walk::kFetch;
    return walk(outbox);
  }
  if (!own_.empty()) {
    drop_unlisted(moment, outbox);
    if (!puts_.empty()) return;
  }
  next_leaves(moment, outbox);
}

void PartitionRound::on(RoundSlice slice, Moment moment, MessageOutbox& outbox) {
  if (ended_ || walk_ == Walk::kNone) return;
  heard_at_ = moment.now;
  if (!slice.status.ok()) return fail(std::move(slice.status));
  take(slice, moment, outbox);
  if (walk_ == Walk::kFetch) {
    // Those before the last one looked at are here, or gone there; the list was asked for from its end.
    if (slice.at_end) {
      to_fetch_.resize(to_fetch_.size() - std::min(to_fetch_.size(), kFetchedAtOnce));
    } else {
      const auto end = to_fetch_.end();
      const auto begin = end - static_cast<ptrdiff_t>(std::min(to_fetch_.size(), kFetchedAtOnce));
      const auto last = std::find(begin, end, slice.last);
      if (last == end) return fail(unavailable("an answer to another question came"));
      to_fetch_.erase(begin, last + 1);
    }
    walk_ = Walk::kNone;
  } else if (slice.at_end) {
    (walk_ == Walk::kWithRecords ? with_records_ : keys_only_).reset();
    walk_ = Walk::kNone;
  } else {
    walk_position_ = std::move(slice.last);
    walk_goes_on_ = true;  // when all of this is written
  }
  advance(moment, outbox);
}

void PartitionRound::take(RoundSlice& slice, Moment moment, MessageOutbox& outbox) {
  if (!has_first_floor_) {
    first_floor_ = slice.floor;
    first_closed_ = slice.closed;
    has_first_floor_ = true;
  }
  const auto floor = std::make_shared<const Floor>(slice.floor);
  for (RoundSlice::Entry& entry : slice.entries) {
    const auto at = own_.find(entry.storage_key);
    Own* own = at == own_.end() ? nullptr : &at->second;
    if (own != nullptr) own->listed = true;
    const bool lacking = is_lacking(entry, own);
    if (walk_ != Walk::kFetch) {
      if (!lacking && !is_superseded(slice, entry, own)) continue;
      if (lacking || (own != nullptr && !own->transient)) ++counts_.differences;
    }
    if (entry.record == nullptr) {
      to_fetch_.push_back(std::move(entry.storage_key));
      continue;
    }
    ++counts_.keys;
    counts_.bytes += entry.record->size();
    put(entry.storage_key, std::move(entry.record), floor, moment, outbox);
  }
}

// The source has a version that was never merged here.
bool PartitionRound::is_lacking(const RoundSlice::Entry& entry, const Own* own) const {
  return std::any_of(entry.dots.begin(), entry.dots.end(), [&](const Dot& dot) {
    if (own != nullptr && (contains(own->dots, dot) || own->context.covers(dot))) return false;
    return !environment_.store.floor_covers(partition_, dot);
  });
}

// A version here is gone there.
bool PartitionRound::is_superseded(const RoundSlice& slice, const RoundSlice::Entry& entry,
                                   const Own* own) const {
  return own != nullptr && std::any_of(own->dots.begin(), own->dots.end(), [&](const Dot& dot) {
           return !contains(entry.dots, dot) && floor_says(slice.floor, slice.closed, dot);
         });
}

// Raised by just the versions at hand: the record that says so needn't carry the floor.
void PartitionRound::drop_unlisted(Moment moment, MessageOutbox& outbox) {
  for (const auto& [storage_key, own] : std::exchange(own_, {})) {
    if (own.listed) continue;
    Record gone;
    for (const Dot& dot : own.dots) {
      if (floor_says(first_floor_, first_closed_, dot)) gone.context.vector.raise(dot.actor, dot.counter);
    }
    if (gone.context.vector.empty()) continue;
    gone.context.highest_time = own.context.highest_time;
    if (!own.transient) ++counts_.differences;
    auto bytes = std::make_shared<std::string>();
    encode_record(gone, {}, 0, *bytes);
    put(storage_key, std::move(bytes), nullptr, moment, outbox);
  }
}

void PartitionRound::put(std::string_view storage_key, SharedBytes record, std::shared_ptr<const Floor> floor,
                         Moment moment, MessageOutbox& outbox) {
  const std::optional<StorageKeyParts> parts = parse_storage_key(storage_key);
  const BucketDescription* bucket =
      parts ? environment_.view.ring().description().find_bucket(parts->bucket) : nullptr;
  if (bucket == nullptr) return fail(corruption("a record of no bucket came"));
  const RequestNumber number = environment_.next_number();
  const Time until = moment.now + kPatience;
  puts_.emplace(number, until);
  outbox.send(environment_.settings.self,
              ReplicaPut{.request = number,
                         .place = environment_.view.place(parts->bucket, parts->key),
                         .bucket = std::string(parts->bucket),
                         .key = std::string(parts->key),
                         .record = std::move(record),
                         .conflict = conflict_of(*bucket),
                         .source = Source::kAntiEntropy,
                         .sync = false,
                         .deadline = until,
                         .floor = std::move(floor)});
}

bool PartitionRound::on(const ReplicaPutAck& ack, Moment moment, MessageOutbox& outbox) {
  if (puts_.erase(ack.request) == 0) return false;
  heard_at_ = moment.now;
  if (!ack.status.ok()) {
    fail(ack.status);
  } else if (puts_.empty()) {
    advance(moment, outbox);
  }
  return true;
}

// Behind all records that it speaks of.
void PartitionRound::finish() {
  ended_ = true;
  environment_.store.raise_floor(partition_, floor_, erased_);
  environment_.floors_raised = true;
}

void PartitionRound::fail(Status why) {
  if (ended_) return;
  ended_ = true;
  status_ = std::move(why);
}

void PartitionRound::give_up_if_silent(Time now) {
  if (!ended_ && now >= heard_at_ + kPatience) fail(unavailable("has been silent for too long"));
}

}  // namespace ringkv
