// In Family::kDigests; numbers without a size are varints:
//
//   partition: key   'f' | u32 partition, big-endian
//              value u8 version (1) | vector of the floor | u64 highest time | vector of what was erased
//   wide:      key   'w' | u64 node | u64 boot
//              value u8 version (1) | counter | one bit a partition, the lowest bit first
//   closed:    key   'c'
//              value u8 version (1) | actors | each: u64 node, u64 boot
//   limits:    key   "limits", in Family::kMeta
//              value u8 version (1) | groups | each: vector of the own lives | one bit a partition
//   a vector:  entries | each: u64 node, u64 boot, counter
//
// The floor of a partition is the maximum of its own record and of the wide ones that name it. Where a wide
// record is replaced by one that names fewer partitions, what it said of the others goes into their own.
#include "storage/floor_table.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/bytes.h"
#include "base/text.h"

namespace ringkv {
namespace {

constexpr char kPartitionPrefix = 'f';
constexpr char kWidePrefix = 'w';
constexpr char kClosedKey = 'c';
constexpr std::string_view kLimitsKey = "limits";
constexpr uint8_t kVersion = 1;
constexpr size_t kActorBytes = 16;
constexpr size_t kEntryBytesMin = 17;

std::string partition_key(Partition partition) {
  std::string key(1, kPartitionPrefix);
  for (int shift = 24; shift >= 0; shift -= 8) key.push_back(static_cast<char>(partition >> shift));
  return key;
}

std::optional<Partition> partition_of_key(std::string_view key) {
  if (key.size() != 5) return std::nullopt;
  Partition partition = 0;
  for (const char byte : key.substr(1)) partition = partition << 8 | static_cast<uint8_t>(byte);
  return partition;
}

std::string wide_key(const Actor& actor) {
  std::string key(1, kWidePrefix);
  ByteWriter writer(key);
  writer.u64(actor.node.value);
  writer.u64(actor.boot.value);
  return key;
}

void write_actor(ByteWriter& writer, const Actor& actor) {
  writer.u64(actor.node.value);
  writer.u64(actor.boot.value);
}

Actor read_actor(ByteReader& reader) {
  const NodeId node{reader.u64()};
  return {node, Boot{reader.u64()}};
}

void write_vector(ByteWriter& writer, const VersionVector& vector) {
  writer.varint(vector.entries().size());
  for (const VersionVector::Entry& entry : vector.entries()) {
    write_actor(writer, entry.actor);
    writer.varint(entry.counter);
  }
}

VersionVector read_vector(ByteReader& reader) {
  VersionVector vector;
  for (size_t left = reader.count(kEntryBytesMin); left > 0 && reader.ok(); --left) {
    const Actor actor = read_actor(reader);
    vector.raise(actor, reader.varint());
  }
  return vector;
}

size_t words_of(size_t partitions) { return (partitions + 63) / 64; }

bool has_bit(const std::vector<uint64_t>& bits, Partition partition) {
  return (bits[partition / 64] >> partition % 64 & 1) != 0;
}

void set_bit(std::vector<uint64_t>& bits, Partition partition) {
  bits[partition / 64] |= uint64_t{1} << partition % 64;
}

bool is_subset(const std::vector<uint64_t>& part, const std::vector<uint64_t>& whole) {
  for (size_t i = 0; i < part.size(); ++i) {
    if ((part[i] & ~whole[i]) != 0) return false;
  }
  return true;
}

std::unique_ptr<Cursor> seek_all(Engine& engine, char prefix) {
  return engine.seek(Family::kDigests, std::string(1, prefix), std::string(1, static_cast<char>(prefix + 1)));
}

Status damaged(std::string_view key) {
  return corruption(cat("floors: the record at ", display_key(key), " is damaged"));
}

}  // namespace

FloorTable::FloorTable(uint32_t partitions) : partitions_(partitions), is_limited_(partitions) {}

Result<FloorTable> FloorTable::recover(Engine& engine, uint32_t partitions) {
  FloorTable table(partitions);
  std::string limits;
  const Result<Lookup> found = engine.get(Family::kMeta, kLimitsKey, limits);
  if (!found.ok()) return found.status();
  if (*found == Lookup::kFound) {
    if (Status status = table.read_limits(limits); !status.ok()) return status;
  }
  for (const char prefix : {kClosedKey, kPartitionPrefix, kWidePrefix}) {
    const std::unique_ptr<Cursor> cursor = seek_all(engine, prefix);
    for (; cursor->valid(); cursor->next()) {
      if (Status status = table.read(cursor->key(), cursor->value()); !status.ok()) return status;
    }
    if (!cursor->status().ok()) return cursor->status();
  }
  table.forget_closed();
  table.changed_wide_.clear();
  return table;
}

Status FloorTable::forget_all(Engine& engine) {
  const std::unique_ptr<Batch> batch = engine.new_batch();
  for (const char prefix : {kClosedKey, kPartitionPrefix, kWidePrefix}) {
    const std::unique_ptr<Cursor> cursor = seek_all(engine, prefix);
    for (; cursor->valid(); cursor->next()) batch->erase(Family::kDigests, cursor->key());
    if (!cursor->status().ok()) return cursor->status();
  }
  return engine.write(*batch, true);
}

Status FloorTable::read(std::string_view key, std::string_view value) {
  if (key.front() == kPartitionPrefix) return read_partition(key, value);
  if (key.front() == kWidePrefix) return read_wide(key, value);
  ByteReader reader(value);
  const bool known = key.size() == 1 && reader.u8() == kVersion;
  for (size_t left = reader.count(kActorBytes); left > 0 && reader.ok(); --left)
    closed_.push_back(read_actor(reader));
  const bool in_order = std::is_sorted(closed_.begin(), closed_.end());
  return known && in_order && reader.finished() ? Status() : damaged(key);
}

Status FloorTable::read_partition(std::string_view key, std::string_view value) {
  const std::optional<Partition> partition = partition_of_key(key);
  ByteReader reader(value);
  if (!partition || *partition >= partitions_.size() || reader.u8() != kVersion) return damaged(key);
  PartitionFloor& floor = partitions_[*partition];
  floor.floor = read_vector(reader);
  floor.erased.highest_time = reader.u64();
  floor.erased.vector = read_vector(reader);
  return reader.finished() ? Status() : damaged(key);
}

Status FloorTable::read_wide(std::string_view key, std::string_view value) {
  ByteReader actor_reader(key.substr(1));
  const Actor actor = read_actor(actor_reader);
  ByteReader reader(value);
  const bool known = reader.u8() == kVersion && actor_reader.finished();
  WideFloor wide{reader.varint(), PartitionBits(words_of(partitions_.size()))};
  const std::string_view bits = reader.bytes((partitions_.size() + 7) / 8);
  if (!known || !reader.finished()) return damaged(key);
  for (Partition partition = 0; partition < partitions_.size(); ++partition) {
    if ((bits[partition / 8] >> partition % 8 & 1) == 0) continue;
    set_bit(wide.partitions, partition);
    partitions_[partition].floor.raise(actor, wide.counter);
  }
  wide_.emplace(actor, std::move(wide));
  return {};
}

Status FloorTable::read_limits(std::string_view value) {
  ByteReader reader(value);
  if (reader.u8() != kVersion) return damaged(kLimitsKey);
  const size_t bytes = (partitions_.size() + 7) / 8;
  for (size_t left = reader.count(1 + bytes); left > 0 && reader.ok(); --left) {
    const VersionVector own_lives = read_vector(reader);
    const std::string_view bits = reader.bytes(bytes);
    for (Partition partition = 0; partition < partitions_.size() && reader.ok(); ++partition) {
      if ((bits[partition / 8] >> partition % 8 & 1) == 0) continue;
      limits_[partition] = own_lives;
      is_limited_[partition] = true;
    }
  }
  return reader.finished() ? Status() : damaged(kLimitsKey);
}

const VersionVector& FloorTable::floor(Partition partition) const { return partitions_[partition].floor; }

const CausalContext& FloorTable::erased(Partition partition) const { return partitions_[partition].erased; }

bool FloorTable::covers(Partition partition, const Dot& dot) const {
  return partitions_[partition].floor.covers(dot) || (!is_limited_[partition] && is_closed(dot.actor));
}

const std::vector<Actor>& FloorTable::closed(Partition partition) const {
  static const std::vector<Actor> none;
  return is_limited_[partition] ? none : closed_;
}

bool FloorTable::is_closed(const Actor& actor) const {
  return std::binary_search(closed_.begin(), closed_.end(), actor);
}

bool FloorTable::raise(Partition partition, const VersionVector& floor, const CausalContext& erased) {
  VersionVector& held = partitions_[partition].floor;
  bool is_new = add_erased(partition, erased);
  for (const VersionVector::Entry& entry : floor.entries()) {
    const bool is_known = !is_limited_[partition] && is_closed(entry.actor);
    if (held.counter_of(entry.actor) >= entry.counter || is_known) continue;
    held.raise(entry.actor, entry.counter);
    is_new = true;
  }
  if (is_new) changed_.insert(partition);
  if (is_limited_[partition]) lift_limit(partition);
  return is_new;
}

bool FloorTable::raise(const std::vector<Partition>& partitions, const VersionVector& floor) {
  const auto limited = [this](Partition partition) { return is_limited_[partition]; };
  if (!limits_.empty() && std::any_of(partitions.begin(), partitions.end(), limited)) {
    std::vector<Partition> others = partitions;
    std::erase_if(others, limited);
    return raise(others, floor);
  }
  PartitionBits named(words_of(partitions_.size()));
  for (const Partition partition : partitions) set_bit(named, partition);
  bool is_new = false;
  for (const VersionVector::Entry& entry : floor.entries()) {
    if (is_closed(entry.actor)) continue;
    is_new = raise_wide(partitions, named, entry) || is_new;
  }
  return is_new;
}

bool FloorTable::raise_wide(const std::vector<Partition>& partitions, const PartitionBits& named,
                            const VersionVector::Entry& entry) {
  const auto held = wide_.find(entry.actor);
  const bool is_behind = held == wide_.end() || held->second.counter < entry.counter;
  // Most lives have ended: of them a round says the same again and again.
  if (!is_behind && is_subset(named, held->second.partitions)) return false;

  std::vector<Partition> raised;
  for (const Partition partition : partitions) {
    VersionVector& floor = partitions_[partition].floor;
    if (floor.counter_of(entry.actor) >= entry.counter) continue;
    floor.raise(entry.actor, entry.counter);
    raised.push_back(partition);
  }
  if (raised.empty()) return false;

  // One record can't say two counters: an older answer that comes late goes into the partitions' own.
  if (!is_behind) {
    changed_.insert(raised.begin(), raised.end());
    return true;
  }
  if (held != wide_.end()) {
    const PartitionBits& before = held->second.partitions;
    for (Partition partition = 0; partition < partitions_.size(); ++partition) {
      if (has_bit(before, partition) && !has_bit(named, partition)) changed_.insert(partition);
    }
  }
  wide_[entry.actor] = {entry.counter, named};
  changed_wide_.insert(entry.actor);
  return true;
}

bool FloorTable::add_erased(Partition partition, const CausalContext& context) {
  if (context.vector.empty()) return false;
  CausalContext& erased = partitions_[partition].erased;
  if (erased.vector.covers(context.vector) && erased.highest_time >= context.highest_time) return false;
  erased.vector.join(context.vector);
  erased.highest_time = std::max(erased.highest_time, context.highest_time);
  changed_.insert(partition);
  return true;
}

bool FloorTable::close(const std::vector<Actor>& ended) {
  const size_t before = closed_.size();
  closed_.insert(closed_.end(), ended.begin(), ended.end());
  std::sort(closed_.begin(), closed_.end());
  closed_.erase(std::unique(closed_.begin(), closed_.end()), closed_.end());
  if (closed_.size() == before) return false;
  closed_changed_ = true;
  forget_closed();
  return true;
}

// Partitions' records on disk may keep what they said of a closed life: it is left out when they are read.
void FloorTable::forget_closed() {
  if (closed_.empty()) return;
  for (Partition partition = 0; partition < partitions_.size(); ++partition) {
    if (is_limited_[partition]) continue;
    partitions_[partition].floor.erase_if(
        [this](const VersionVector::Entry& entry) { return is_closed(entry.actor); });
  }
  for (auto wide = wide_.begin(); wide != wide_.end();) {
    if (is_closed(wide->first)) {
      changed_wide_.insert(wide->first);
      wide = wide_.erase(wide);
    } else {
      ++wide;
    }
  }
}

void FloorTable::limit_closed(const std::vector<Partition>& partitions) {
  if (closed_.empty()) return;
  VersionVector all;
  for (const Actor& actor : std::exchange(closed_, {})) all.raise(actor, UINT64_MAX);
  closed_changed_ = true;
  raise(partitions, all);
  // What records on disk still say of those lives counts again from now on.
  for (Partition partition = 0; partition < partitions_.size(); ++partition) changed_.insert(partition);
}

void FloorTable::reset(Partition partition) {
  partitions_[partition] = {};
  changed_.insert(partition);
  for (auto& [actor, wide] : wide_) {
    if (!has_bit(wide.partitions, partition)) continue;
    wide.partitions[partition / 64] &= ~(uint64_t{1} << partition % 64);
    changed_wide_.insert(actor);
  }
}

void FloorTable::limit(Partition partition, const VersionVector& own_lives) {
  reset(partition);
  limits_[partition] = own_lives;
  is_limited_[partition] = true;
  limits_changed_ = true;
}

std::vector<Partition> FloorTable::limited() const {
  std::vector<Partition> partitions;
  for (const auto& [partition, own_lives] : limits_) partitions.push_back(partition);
  return partitions;
}

bool FloorTable::claims_own(Partition partition, const Actor& own) const {
  if (!is_limited_[partition]) return true;
  const uint64_t counter = limits_.at(partition).counter_of(own);
  return counter == 0 || partitions_[partition].floor.covers({own, counter});
}

void FloorTable::lift_limit(Partition partition) {
  const VersionVector& floor = partitions_[partition].floor;
  const bool has_closed = std::all_of(closed_.begin(), closed_.end(), [&](const Actor& actor) {
    return floor.counter_of(actor) == UINT64_MAX;
  });
  if (!has_closed || !floor.covers(limits_.at(partition))) return;
  limits_.erase(partition);
  is_limited_[partition] = false;
  limits_changed_ = true;
  // They count there as everywhere from now on.
  partitions_[partition].floor.erase_if(
      [this](const VersionVector::Entry& entry) { return is_closed(entry.actor); });
}

void FloorTable::put_changes(Batch& batch) {
  for (const Partition partition : std::exchange(changed_, {})) put_partition(partition, batch);
  for (const Actor& actor : std::exchange(changed_wide_, {})) put_wide(actor, batch);
  if (std::exchange(limits_changed_, false)) put_limits(batch);
  if (!std::exchange(closed_changed_, false)) return;
  std::string value;
  ByteWriter writer(value);
  writer.u8(kVersion);
  writer.varint(closed_.size());
  for (const Actor& actor : closed_) write_actor(writer, actor);
  batch.put(Family::kDigests, std::string(1, kClosedKey), value);
}

void FloorTable::put_partition(Partition partition, Batch& batch) const {
  const PartitionFloor& floor = partitions_[partition];
  if (floor.empty()) return batch.erase(Family::kDigests, partition_key(partition));
  std::string value;
  ByteWriter writer(value);
  writer.u8(kVersion);
  write_vector(writer, floor.floor);
  writer.u64(floor.erased.highest_time);
  write_vector(writer, floor.erased.vector);
  batch.put(Family::kDigests, partition_key(partition), value);
}

// Most have the same own lives: those that were let go together.
void FloorTable::put_limits(Batch& batch) const {
  std::vector<std::pair<const VersionVector*, std::string>> groups;
  for (const auto& [partition, own_lives] : limits_) {
    auto group = groups.begin();
    while (group != groups.end() && *group->first != own_lives) ++group;
    if (group == groups.end())
      group = groups.insert(group, {&own_lives, std::string((partitions_.size() + 7) / 8, '\0')});
    char& byte = group->second[partition / 8];
    byte = static_cast<char>(byte | 1 << partition % 8);
  }
  std::string value;
  ByteWriter writer(value);
  writer.u8(kVersion);
  writer.varint(groups.size());
  for (const auto& [own_lives, bits] : groups) {
    write_vector(writer, *own_lives);
    writer.bytes(bits);
  }
  batch.put(Family::kMeta, kLimitsKey, value);
}

void FloorTable::put_wide(const Actor& actor, Batch& batch) const {
  const auto wide = wide_.find(actor);
  if (wide == wide_.end()) return batch.erase(Family::kDigests, wide_key(actor));
  std::string value;
  ByteWriter writer(value);
  writer.u8(kVersion);
  writer.varint(wide->second.counter);
  for (size_t i = 0; i < (partitions_.size() + 7) / 8; ++i) {
    writer.u8(static_cast<uint8_t>(wide->second.partitions[i / 8] >> i % 8 * 8));
  }
  batch.put(Family::kDigests, wide_key(actor), value);
}

}  // namespace ringkv
