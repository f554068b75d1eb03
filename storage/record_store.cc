#include "storage/record_store.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/plants.h"
#include "storage/range_walk.h"
#include "storage/storage_key.h"

namespace ringkv {
namespace {

// A key that is written in life after life would carry them all. A short context isn't worth stripping: what
// is stripped must be filled with the whole floor whenever it leaves the node.
constexpr size_t kContextEntriesKept = 8;

}  // namespace

RecordStore::RecordStore(Engine& engine, RecoveredStore recovered, const Settings& settings)
    : engine_(engine),
      hasher_(settings.secret),
      actor_(recovered.actor),
      past_boots_(std::move(recovered.past_boots)),
      highest_time_(std::max(past_boots_.highest_time, recovered.leaves.end.stamper.highest_time)),
      floors_(std::move(recovered.floors)),
      leaves_(std::move(recovered.leaves.leaves)),
      journal_(leaves_, recovered.leaves.end, recovered.leaves.waiting),
      cache_(settings.cache_bytes),
      open_batch_(engine.new_batch()) {}

Result<std::optional<RecordHead>> RecordStore::newest_head(const Place& place) {
  const auto pinned = pinned_.find(place.identity);
  if (pinned != pinned_.end()) return std::optional<RecordHead>(pinned->second.head);
  if (std::optional<RecordHead> head = cache_.find(place.identity)) return head;

  std::string bytes;
  Result<Lookup> found = engine_.get_cached(Family::kData, place.storage_key, bytes);
  if (!found.ok()) return found.status();
  if (*found == Lookup::kWouldBlock) return std::optional<RecordHead>();
  if (*found == Lookup::kAbsent) return std::optional<RecordHead>(RecordHead());
  Result<RecordHead> head = decode_record_head(bytes);
  if (!head.ok()) return head.status();
  return std::optional<RecordHead>(std::move(*head));
}

std::optional<RecordHead> RecordStore::committed_head(const Place& place) {
  if (pinned_.contains(place.identity)) return std::nullopt;
  return cache_.find(place.identity);
}

Result<Lookup> RecordStore::read_cached(const Place& place, std::string& bytes) const {
  return engine_.get_cached(Family::kData, place.storage_key, bytes);
}

BatchNumber RecordStore::pending(const Place& place) const {
  const auto pinned = pinned_.find(place.identity);
  return pinned == pinned_.end() ? 0 : pinned->second.batch;
}

BatchNumber RecordStore::being_written(const Place& place) const {
  if (under_way_ == 0) return 0;
  const auto pinned = pinned_.find(place.identity);
  if (pinned == pinned_.end()) return 0;
  const bool written = pinned->second.batch == under_way_ || pinned->second.earlier_batch == under_way_;
  return written ? under_way_ : 0;
}

Floor RecordStore::own_lives() const {
  Floor floor = past_boots_;
  floor.vector.raise(actor_, counter_);
  floor.highest_time = highest_time_;
  return floor;
}

Floor RecordStore::floor(Partition partition) const {
  Floor floor = own_lives();
  if (floors_.is_limited(partition)) {
    floor.vector.erase_if([&](const auto& own) { return !floors_.claims_own(partition, own.actor); });
  }
  floor.vector.join(floors_.floor(partition));
  return floor;
}

bool RecordStore::floor_covers(Partition partition, const Dot& dot) const {
  if (dot.actor.node == actor_.node && floors_.claims_own(partition, dot.actor)) {
    if (dot.actor == actor_) return dot.counter <= counter_;
    if (past_boots_.covers(dot)) return true;
  }
  return floors_.covers(partition, dot);
}

// Nobody else can know more of this life than it does itself.
VersionVector RecordStore::unknown_of(const Floor& floor) const {
  VersionVector unknown = floor.vector;
  unknown.erase_if([this](const VersionVector::Entry& entry) {
    return entry.actor == actor_ || past_boots_.covers({entry.actor, entry.counter});
  });
  return unknown;
}

void RecordStore::raise_floor(Partition partition, const Floor& floor, const CausalContext& erased,
                              const std::vector<Actor>& closed) {
  highest_time_ = std::max({highest_time_, floor.highest_time, erased.highest_time});
  // What was erased there lay under its floor, by lives that are closed there perhaps, and not here.
  Floor all = floor;
  all.join(erased);
  if (!floors_.is_limited(partition)) {
    floors_.raise(partition, unknown_of(all), erased);
    return;
  }
  for (const Actor& actor : closed) all.vector.raise(actor, UINT64_MAX);
  floors_.raise(partition, all.vector, erased);
}

void RecordStore::raise_floors(const std::vector<Partition>& partitions, const Floor& floor) {
  highest_time_ = std::max(highest_time_, floor.highest_time);
  floors_.raise(partitions, unknown_of(floor));
}

void RecordStore::close_lives(const std::vector<Actor>& ended) { floors_.close(ended); }

void RecordStore::reset_floor(Partition partition) { floors_.reset(partition); }

BatchNumber RecordStore::last_staged() const { return has_staged() ? open_batch() : under_way_; }

void RecordStore::restore(CausalContext& context) const {
  if (context.stripped) fill(context, past_boots_);
}

EncodedRecord RecordStore::encoded(const Place& place, std::string_view key, const Record& record) const {
  CHECK(!record.context.stripped);
  EncodedRecord encoded;
  encoded.head = head_of(record, hasher_.hash(place.digest, record), content_bytes(key, record));
  auto bytes = std::make_shared<std::string>();
  encode_record(record, encoded.head.hash, encoded.head.content_bytes, *bytes);
  encoded.bytes = std::move(bytes);
  return encoded;
}

// A bare context stays whole: its hash is over it.
void RecordStore::strip_for_disk(Partition partition, EncodedRecord& record) const {
  if (record.head.dots.empty() || floors_.is_limited(partition)) return;
  if (record.head.context.vector.entries().size() <= kContextEntriesKept) return;
  strip(record.head.context, past_boots_, actor_);
  if (!record.head.context.stripped) return;
  Result<Record> stripped = decode_record(*record.bytes);
  CHECK(stripped.ok());  // whoever stages has encoded or decoded it
  stripped->context = record.head.context;
  auto bytes = std::make_shared<std::string>();
  encode_record(*stripped, record.head.hash, record.head.content_bytes, *bytes);
  record.bytes = std::move(bytes);
}

void RecordStore::stage(const Place& place, EncodedRecord record, const RecordHead& before) {
  CHECK(!record.head.absent());
  highest_time_ = std::max(highest_time_, record.head.context.highest_time);
  strip_for_disk(place.partition, record);
  open_batch_->put(Family::kData, place.storage_key, *record.bytes);
  if (record.head.transient) open_batch_->put(Family::kDigests, transient_key(place.storage_key), "");
  update_leaf(place, before, record.head);
  pin(place, std::move(record.head));
}

void RecordStore::erase(const Place& place, const RecordHead& before, const CausalContext& context) {
  CausalContext remembered = context;
  restore(remembered);
  for (const Dot& dot : before.dots) remembered.vector.raise(dot.actor, dot.counter);
  floors_.add_erased(place.partition, remembered);
  highest_time_ = std::max(highest_time_, remembered.highest_time);
  open_batch_->erase(Family::kData, place.storage_key);
  open_batch_->erase(Family::kDigests, transient_key(place.storage_key));
  update_leaf(place, before, {});
  pin(place, {});
}

void RecordStore::forget_transient(const Place& place) {
  const Result<std::optional<RecordHead>> head = newest_head(place);
  if (!head.ok() || !*head || ((*head)->transient && !(*head)->absent())) return;
  open_batch_->erase(Family::kDigests, transient_key(place.storage_key));
}

void RecordStore::pin(const Place& place, RecordHead head) {
  const auto [pinned, is_new] = pinned_.try_emplace(place.identity);
  Pinned& pin = pinned->second;
  if (is_new || pin.batch != open_batch()) {
    open_keys_.push_back(place.identity);
    pin.earlier_batch = pin.batch;
    pin.batch = open_batch();
  }
  pin.head = std::move(head);
}

void RecordStore::update_leaf(const Place& place, const RecordHead& before, const RecordHead& after) {
  Leaf leaf = leaves_.at(place.leaf);
  leaf.hash ^= before.hash;
  leaf.hash ^= after.hash;
  leaf.keys += (after.content_bytes > 0 ? 1 : 0);
  leaf.keys -= (before.content_bytes > 0 ? 1 : 0);
  leaf.bytes += after.content_bytes - before.content_bytes;
  leaves_.set(place.leaf, leaf);
  if (!planted(Plant::kForgetLeaf)) journal_.touch(place.leaf);
}

void RecordStore::stage(const MetaRecord& record) {
  open_batch_->put(Family::kMeta, record.key, record.value);
  open_sync_ = true;
}

void RecordStore::stage(Family family, std::string_view key, std::string_view value) {
  open_batch_->put(family, key, value);
}

void RecordStore::stage_erasure(Family family, std::string_view key) { open_batch_->erase(family, key); }

void RecordStore::correct_leaf(LeafId id, const Leaf& leaf) {
  leaves_.set(id, leaf);
  journal_.touch(id);
  require_sync();
}

void RecordStore::drop(Partition partition, const VersionVector& own_lives) {
  const StorageKeyRange range = storage_key_range(partition, partition, leaves_.partitions());
  open_batch_->erase_range(Family::kData, range.lower, range.upper);
  open_batch_->erase_range(Family::kDigests, transient_key(range.lower), transient_key(range.upper));
  if (leaves_.page(partition) != nullptr) {
    for (uint32_t leaf = 0; leaf < kLeavesPerPartition; ++leaf) {
      const LeafId id = partition * kLeavesPerPartition + leaf;
      if (leaves_.at(id) != Leaf()) journal_.touch(id);
    }
    leaves_.set_page(partition, {});
  }
  if (!planted(Plant::kKeepFloorOfDropped)) floors_.limit(partition, own_lives);
  dropping_[partition] = open_batch();
}

Commit RecordStore::take() {
  CHECK(under_way_ == 0);
  floors_.put_changes(*open_batch_);
  Commit commit;
  commit.number = under_way_ = open_batch();
  commit.sync = std::exchange(open_sync_, false);
  journal_.finish(*open_batch_, {.boot = actor_.boot, .counter = counter_, .highest_time = highest_time_});
  commit.batch = std::exchange(open_batch_, engine_.new_batch());
  commit.keys = std::exchange(open_keys_, {});
  commit.bytes = under_way_bytes_ = commit.batch->bytes();
  return commit;
}

void RecordStore::committed(const Commit& commit) {
  under_way_ = 0;
  under_way_bytes_ = 0;
  synced_ = commit.sync;
  for (const KeyIdentity& key : commit.keys) {
    const auto pinned = pinned_.find(key);
    if (pinned == pinned_.end() || pinned->second.batch != commit.number) continue;  // staged again since
    cache_.insert(key, pinned->second.head);
    pinned_.erase(pinned);
  }
  // Heads that are remembered may be of a partition that is gone now.
  if (std::erase_if(dropping_, [&](const auto& drop) { return drop.second <= commit.number; }) > 0)
    cache_.clear();
}

}  // namespace ringkv
