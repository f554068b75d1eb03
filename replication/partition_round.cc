#include "replication/partition_round.h"

#include <utility>

#include "base/plants.h"
#include "base/text.h"
#include "storage/record_codec.h"
#include "storage/storage_key.h"

namespace ringkv {
namespace {

// More than writes under way can explain: this node is behind, and waits for nothing.
constexpr size_t kFewLeaves = 16;
constexpr Duration kBusyPause = std::chrono::milliseconds(200);
// Of what is pulled together: so much is listed here, and held in memory.
constexpr uint64_t kKeysAtOnce = 4096;
constexpr uint64_t kBytesAtOnce = uint64_t{8} << 20;
constexpr size_t kFetchedAtOnce = 1000;
constexpr size_t kFetchedKeyBytesMax = size_t{256} << 10;

}  // namespace

Leaf PartitionRound::own_leaf(uint32_t leaf) const {
  return environment_.store.leaves().at(partition_ * kLeavesPerPartition + leaf);
}

void PartitionRound::start(Moment moment, MessageOutbox& outbox) {
  heard_at_ = moment.now;
  question_ = environment_.next_number();
  outbox.send(source_, RoundOpen{.round = question_,
                                 .partition = partition_,
                                 .hash = environment_.store.leaves().partition_hash(partition_),
                                 .limited = environment_.store.floors().is_limited(partition_)});
}

// The source's side is of one moment. Whatever is equal to it here, at any moment from when this node asked,
// holds what the source had then: states only grow.
bool PartitionRound::on(RoundLeaves& leaves, Moment moment, MessageOutbox& outbox) {
  if (question_ == 0 || leaves.round != question_) return false;
  question_ = 0;
  heard_at_ = moment.now;
  if (!leaves.status.ok()) {
    fail(std::move(leaves.status));
    return true;
  }
  claims_ = {std::move(leaves.floor), std::move(leaves.closed)};
  erased_ = std::move(leaves.erased);
  source_is_whole_ = leaves.whole;
  if (planted(Plant::kFloorBeforeRecords))
    environment_.store.raise_floor(partition_, claims_.floor, erased_, claims_.closed);
  if (leaves.equal) {
    finish();
    return true;
  }
  LeafPage theirs{};
  for (const RoundLeaves::LeafDigest& digest : leaves.leaves) theirs[digest.leaf] = digest.value;
  for (uint32_t leaf = 0; leaf < kLeavesPerPartition; ++leaf) {
    if (theirs[leaf].hash != own_leaf(leaf).hash) to_pull_[leaf] = theirs[leaf];
  }
  if (to_pull_.empty()) {
    finish();
  } else if (to_pull_.size() <= kFewLeaves) {
    pauses_until_ = moment.now + kSecondLook;
  } else {
    begin_pull(moment, outbox);
  }
  return true;
}

void PartitionRound::resume(Moment moment, MessageOutbox& outbox) {
  pauses_until_.reset();
  heard_at_ = moment.now;
  std::erase_if(to_pull_,
                [&](const auto& theirs) { return theirs.second.hash == own_leaf(theirs.first).hash; });
  begin_pull(moment, outbox);
}

void PartitionRound::begin_pull(Moment moment, MessageOutbox& outbox) {
  environment_.statistics.leaves_opened += to_pull_.size();
  if (to_pull_.empty()) return finish();
  for (const auto& [leaf, theirs] : to_pull_) {
    const Leaf own = own_leaf(leaf);
    lacking_[leaf] = may_lack_keys_only(own, theirs);
    surplus_[leaf] = may_lack_keys_only(theirs, own);
  }
  advance(moment, outbox);
}

void PartitionRound::pull_leaves(Moment moment, MessageOutbox& outbox) {
  if (to_pull_.empty()) return finish();
  with_records_.reset();
  keys_only_.reset();
  own_.clear();
  uint64_t keys = 0;
  uint64_t bytes = 0;
  while (!to_pull_.empty() && keys < kKeysAtOnce && bytes < kBytesAtOnce) {
    const auto [leaf, theirs] = *to_pull_.begin();
    to_pull_.erase(to_pull_.begin());
    const Leaf own = own_leaf(leaf);
    keys += own.keys + theirs.keys;
    bytes += theirs.bytes;
    (wants_records(own, theirs) ? with_records_ : keys_only_).set(leaf);
  }
  list_own(outbox);
  advance(moment, outbox);
}

// ---- What is held here

// What is staged counts too, and is on disk once it is committed.
void PartitionRound::list_own(MessageOutbox& outbox) {
  own_position_.clear();
  own_listed_ = false;
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
  outbox.send(environment_.settings.self, ReadRange{own_ticket_, own_step()});
}

RangeStep PartitionRound::own_step() const {
  RangeStep step{.partition = partition_,
                 .ring_partitions = environment_.view.ring().partitions(),
                 .leaves = with_records_ | keys_only_,
                 .after = own_position_,
                 .records = false};
  for (const auto& [leaf, theirs] : to_pull_) {
    if (surplus_[leaf]) step.leaves_elsewhere.push_back({static_cast<uint8_t>(leaf), theirs.hash});
  }
  return step;
}

bool PartitionRound::on(RangeRead& read, Moment moment, MessageOutbox& outbox) {
  if (own_ticket_ == 0 || read.ticket != own_ticket_) return false;
  own_ticket_ = 0;
  heard_at_ = moment.now;
  if (!read.status.ok()) {
    fail(std::move(read.status));
    return true;
  }
  keep_own(read.slice);
  own_position_ = std::move(read.slice.last);
  own_listed_ = read.slice.at_end;
  for (const LeafAnswer& answer : read.slice.answered) surplus_.reset(answer.leaf);
  std::erase_if(to_pull_, [&](const auto& theirs) { return read.slice.told[theirs.first]; });
  if (!own_listed_) read_own(outbox);
  advance(moment, outbox);
  return true;
}

// Of what the source hasn't only that is of interest which it has let go.
void PartitionRound::keep_own(RangeSlice& slice) {
  const bool is_surplus = surplus_.any();
  for (RangeEntry& entry : slice.entries) {
    RecordHead& head = entry.head;
    environment_.store.restore(head.context);
    OwnKey own{std::move(head.dots), std::move(head.context), head.transient};
    if (is_surplus && gone_dots(own, {}, claims_).empty()) continue;
    own_[std::move(entry.storage_key)] = {std::move(own), false};
  }
}

// ---- What the source lists

// One thing at a time: what the source can tell to be lacking; what is only here; then of the leaves that
// differ still the own list, what the source sends with records, its keys, what is lacking of those.
void PartitionRound::advance(Moment moment, MessageOutbox& outbox) {
  if (ended_ || !own_listed_ || question_ != 0 || ask_again_at_ || !puts_.empty()) return;
  if (must_wait(moment.now)) return;
  if (walk_ != Walk::kNone) return ask(outbox);
  if (lacking_.any()) return begin(Walk::kLacking, outbox);
  drop_equal_leaves();
  if (surplus_.any()) return list_own(outbox);
  if (with_records_.any()) return begin(Walk::kWithRecords, outbox);
  if (keys_only_.any()) return begin(Walk::kKeysOnly, outbox);
  if (!to_fetch_.empty()) return begin(Walk::kFetch, outbox);
  drop_unlisted(moment, outbox);
  if (puts_.empty() && !ended_) pull_leaves(moment, outbox);
}

// For its turn: transfers have a pace.
bool PartitionRound::must_wait(Time now) {
  if (environment_.pace.may_ask(now)) return false;
  heard_at_ = now;
  ask_again_at_ = environment_.pace.may_ask_at(now);
  return true;
}

void PartitionRound::begin(Walk walk, MessageOutbox& outbox) {
  walk_ = walk;
  walk_position_.clear();
  ask(outbox);
}

void PartitionRound::ask(MessageOutbox& outbox) {
  if (!environment_.puts_refused.empty()) return fail(out_of_space(environment_.puts_refused));
  question_ = environment_.next_number();
  reserved_ = environment_.pace.reserve();
  RoundWalk asked{.round = question_, .partition = partition_};
  asked.records = walk_ != Walk::kKeysOnly;
  if (walk_ == Walk::kFetch) {
    size_t bytes = 0;
    for (const std::string& key : to_fetch_) {
      bytes += key.size();
      if (asked.storage_keys.size() == kFetchedAtOnce) break;
      if (bytes > kFetchedKeyBytesMax && !asked.storage_keys.empty()) break;
      asked.storage_keys.push_back(key);
    }
    fetching_ = asked.storage_keys.size();
  } else if (walk_ == Walk::kLacking) {
    for (uint32_t leaf = 0; leaf < kLeavesPerPartition; ++leaf) {
      if (lacking_[leaf]) asked.lacking.push_back({static_cast<uint8_t>(leaf), own_leaf(leaf).hash});
    }
  } else {
    asked.leaves = walk_ == Walk::kWithRecords ? with_records_ : keys_only_;
    asked.after = walk_position_;
  }
  outbox.send(source_, std::move(asked));
}

bool PartitionRound::on(RoundSlice& slice, Moment moment, MessageOutbox& outbox) {
  if (question_ == 0 || slice.round != question_) return false;
  question_ = 0;
  settle(slice);
  if (slice.status.code() == StatusCode::kOverloaded) {
    ask_again_at_ = moment.now + kBusyPause;
    return true;
  }
  heard_at_ = moment.now;
  if (!slice.status.ok()) {
    fail(std::move(slice.status));
  } else if (!slice.floor.vector.covers(claims_.floor.vector)) {
    fail(unavailable("has lost some of what it had when the round began"));
  } else {
    take(slice, moment, outbox);
    go_behind(slice);
    advance(moment, outbox);
  }
  return true;
}

void PartitionRound::settle(const RoundSlice& slice) {
  uint64_t bytes = 0;
  uint64_t records = 0;
  for (const RoundSlice::Entry& entry : slice.entries) {
    if (entry.record == nullptr) continue;
    ++records;
    bytes += entry.record->size();
  }
  environment_.pace.settle(std::exchange(reserved_, 0), bytes, records);
}

void PartitionRound::take(RoundSlice& slice, Moment moment, MessageOutbox& outbox) {
  const SourceClaims claims{slice.floor, std::move(slice.closed)};
  const auto floor = std::make_shared<const Floor>(std::move(slice.floor));
  for (RoundSlice::Entry& entry : slice.entries) {
    if (ended_) return;
    take(entry, floor, claims, moment, outbox);
  }
}

void PartitionRound::take(RoundSlice::Entry& entry, const std::shared_ptr<const Floor>& floor,
                          const SourceClaims& claims, Moment moment, MessageOutbox& outbox) {
  const auto held = own_.find(entry.storage_key);
  if (held != own_.end()) held->second.listed = true;
  const OwnKey* own = held == own_.end() ? nullptr : &held->second.own;
  if (entry.dots.empty()) return take_bare(entry, own, floor, claims, moment, outbox);
  if (walk_ != Walk::kFetch) {
    const Difference difference = difference_of(entry.dots, own, claims, [this](const Dot& dot) {
      return environment_.store.floor_covers(partition_, dot);
    });
    if (difference == Difference::kNone) return;
    // That a tombstone is gone there is no news.
    if (difference == Difference::kLacking || !own->transient) count_difference();
  }
  if (entry.record == nullptr) return to_fetch_.push_back(std::move(entry.storage_key));
  count_received(entry.record->size());
  if (planted(Plant::kForgetReceived)) return;
  const std::vector<Dot> gone = own == nullptr ? std::vector<Dot>() : gone_dots(*own, entry.dots, claims);
  put(entry.storage_key, std::move(entry.record), floor_for(gone, floor), moment, outbox);
}

// At once, whatever becomes of the pull: who looks at the figures sees it happen.
void PartitionRound::count_difference() {
  ++counts_.differences;
  ++environment_.statistics.differences;
}

void PartitionRound::count_received(size_t bytes) {
  ++counts_.keys;
  counts_.bytes += bytes;
  ++environment_.statistics.keys_received;
  environment_.statistics.bytes_received += bytes;
}

// Only the source's copy knows what it supersedes: there is no telling by its dots.
void PartitionRound::take_bare(RoundSlice::Entry& entry, const OwnKey* own,
                               const std::shared_ptr<const Floor>& floor, const SourceClaims& claims,
                               Moment moment, MessageOutbox& outbox) {
  if (entry.record == nullptr) return fail(corruption("has sent neither versions nor a context"));
  const Result<RecordHead> head = decode_record_head(*entry.record);
  if (!head.ok()) return fail(head.status());
  const Difference difference = bare_difference_of(head->context, own, claims, [this](const Dot& dot) {
    return environment_.store.floor_covers(partition_, dot);
  });
  if (difference == Difference::kNone) return;
  // What it lacks is no value and no tombstone.
  if (difference == Difference::kSuperseded && !own->transient) count_difference();
  const std::vector<Dot> gone = own == nullptr ? std::vector<Dot>() : gone_dots(*own, {}, claims);
  put(entry.storage_key, std::move(entry.record), floor_for(gone, floor), moment, outbox);
}

void PartitionRound::go_behind(RoundSlice& slice) {
  if (walk_ == Walk::kFetch) {
    // What was asked for and isn't there has gone there since it was listed: the next round sees that.
    size_t seen = fetching_;
    if (!slice.at_end) {
      seen = 0;
      while (seen < fetching_ && to_fetch_[seen++] != slice.last) {
      }
    }
    to_fetch_.erase(to_fetch_.begin(), to_fetch_.begin() + static_cast<ptrdiff_t>(seen));
    if (to_fetch_.empty()) walk_ = Walk::kNone;
  } else if (walk_ == Walk::kLacking) {
    note_answered(slice);
  } else if (slice.at_end) {
    (walk_ == Walk::kWithRecords ? with_records_ : keys_only_).reset();
    walk_ = Walk::kNone;
  } else {
    walk_position_ = std::move(slice.last);
  }
}

void PartitionRound::note_answered(const RoundSlice& slice) {
  for (const LeafAnswer& answer : slice.answered) {
    if (!lacking_[answer.leaf]) return fail(corruption("has answered for a leaf that wasn't asked for"));
    lacking_.reset(answer.leaf);
    answered_.push_back(answer);
  }
  if (slice.at_end || slice.answered.empty()) lacking_.reset();
  if (lacking_.none()) walk_ = Walk::kNone;
}

// Once what came is staged here. What is equal to what the source has now holds all that it had when its
// leaves were read. Of a leaf that was too large for an answer nothing is known.
void PartitionRound::drop_equal_leaves() {
  for (const LeafAnswer& there : std::exchange(answered_, {})) {
    if (there.hash && own_leaf(there.leaf).hash == *there.hash) to_pull_.erase(there.leaf);
  }
}

void PartitionRound::drop_unlisted(Moment moment, MessageOutbox& outbox) {
  for (const auto& [storage_key, held] : std::exchange(own_, {})) {
    if (held.listed) continue;
    const std::vector<Dot> gone = gone_dots(held.own, {}, claims_);
    if (gone.empty()) continue;
    if (!held.own.transient) count_difference();
    auto bytes = std::make_shared<std::string>();
    encode_record(Record{context_over(gone, held.own), {}}, {}, 0, *bytes);
    put(storage_key, std::move(bytes), nullptr, moment, outbox);
  }
}

// ---- What changes here

void PartitionRound::put(std::string_view storage_key, SharedBytes record, std::shared_ptr<const Floor> floor,
                         Moment moment, MessageOutbox& outbox) {
  const std::optional<StorageKeyParts> parts = parse_storage_key(storage_key);
  const BucketDescription* bucket =
      parts ? environment_.view.ring().description().find_bucket(parts->bucket) : nullptr;
  if (bucket == nullptr) return fail(corruption("a record of no bucket came"));
  const RequestNumber number = environment_.next_number();
  puts_.insert(number);
  outbox.send(environment_.settings.self,
              ReplicaPut{.request = number,
                         .place = environment_.view.place(parts->bucket, parts->key),
                         .bucket = std::string(parts->bucket),
                         .key = std::string(parts->key),
                         .record = std::move(record),
                         .conflict = conflict_of(*bucket),
                         .source = Source::kAntiEntropy,
                         .sync = false,
                         .deadline = moment.now + kPatience,
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
  if (std::exchange(ended_, true)) return;
  environment_.store.raise_floor(partition_, claims_.floor, erased_, claims_.closed);
  environment_.floors_raised = true;
}

void PartitionRound::fail(Status why) {
  if (std::exchange(ended_, true)) return;
  give_up();
  status_ = std::move(why);
}

void PartitionRound::give_up() { environment_.pace.give_back(std::exchange(reserved_, 0)); }

void PartitionRound::tick(Moment moment, MessageOutbox& outbox) {
  if (ended_ || pauses()) return;
  if (moment.now >= heard_at_ + kPatience) return fail(unavailable("has been silent for too long"));
  if (!ask_again_at_ || moment.now < *ask_again_at_) return;
  ask_again_at_.reset();
  advance(moment, outbox);
}

}  // namespace ringkv
