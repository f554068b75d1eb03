// In Family::kDigests; numbers without a size are varints:
//
//   partition: key   'f' | u32 partition, big-endian
//              value u8 version (1) | vector of the floor | u64 highest time | vector of what was erased
//   wide:      key   'w' | u64 node | u64 boot
//              value u8 version (1) | counter | one bit a partition, the lowest bit first
//   closed:    key   'c'
//              value u8 version (1) | actors | each: u64 node, u64 boot
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
constexpr uint8_t kVersion = 1;
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

std::string encode_bits(const std::vector<bool>& bits) {
  std::string bytes((bits.size() + 7) / 8, '\0');
  for (size_t i = 0; i < bits.size(); ++i) {
    if (bits[i]) bytes[i / 8] = static_cast<char>(bytes[i / 8] | 1 << i % 8);
  }
  return bytes;
}

Status damaged(std::string_view key) {
  return corruption(cat("floors: the record at ", display_key(key), " is damaged"));
}

}  // namespace

FloorTable::FloorTable(uint32_t partitions) : partitions_(partitions) {}

Result<FloorTable> FloorTable::recover(Engine& engine, uint32_t partitions) {
  FloorTable table(partitions);
  for (const char prefix : {kClosedKey, kPartitionPrefix, kWidePrefix}) {
    const std::unique_ptr<Cursor> cursor =
        engine.seek(Family::kDigests, std::string(1, prefix), std::string(1, static_cast<char>(prefix + 1)));
    for (; cursor->valid(); cursor->next()) {
      if (Status status = table.read(cursor->key(), cursor->value()); !status.ok()) return status;
    }
    if (!cursor->status().ok()) return cursor->status();
  }
  table.forget_closed();
  table.changed_.clear();
  table.changed_wide_.clear();
  return table;
}

Status FloorTable::read(std::string_view key, std::string_view value) {
  ByteReader reader(value);
  if (reader.u8() != kVersion) return damaged(key);
  switch (key.front()) {
    case kClosedKey:
      for (size_t left = reader.count(16); left > 0 && reader.ok(); --left)
        closed_.push_back(read_actor(reader));
      break;
    case kPartitionPrefix: {
      const std::optional<Partition> partition = partition_of_key(key);
      if (!partition || *partition >= partitions_.size()) return damaged(key);
      PartitionFloor& floor = partitions_[*partition];
      floor.floor = read_vector(reader);
      floor.erased.highest_time = reader.u64();
      floor.erased.vector = read_vector(reader);
      break;
    }
    default: {
      ByteReader actor_reader(key.substr(1));
      const Actor actor = read_actor(actor_reader);
      WideFloor wide{reader.varint(), std::vector<bool>(partitions_.size())};
      const std::string_view bits = reader.bytes((partitions_.size() + 7) / 8);
      if (!reader.ok() || !actor_reader.finished()) return damaged(key);
      for (Partition partition = 0; partition < partitions_.size(); ++partition) {
        wide.partitions[partition] = (bits[partition / 8] >> partition % 8 & 1) != 0;
        if (wide.partitions[partition]) partitions_[partition].floor.raise(actor, wide.counter);
      }
      wide_.emplace(actor, std::move(wide));
    }
  }
  return reader.finished() ? Status() : damaged(key);
}

const VersionVector& FloorTable::floor(Partition partition) const { return partitions_[partition].floor; }

const CausalContext& FloorTable::erased(Partition partition) const { return partitions_[partition].erased; }

bool FloorTable::covers(Partition partition, const Dot& dot) const {
  return partitions_[partition].floor.covers(dot) || is_closed(dot.actor);
}

bool FloorTable::is_closed(const Actor& actor) const {
  return std::binary_search(closed_.begin(), closed_.end(), actor);
}

uint64_t FloorTable::closed_digest() const {
  uint64_t digest = closed_.size();
  for (const Actor& actor : closed_) {
    for (const uint64_t part : {actor.node.value, actor.boot.value}) {
      digest = (digest ^ part) * 0x9E3779B97F4A7C15ULL;
      digest ^= digest >> 29;
    }
  }
  return digest;
}

bool FloorTable::raise(Partition partition, const VersionVector& floor, const CausalContext& erased) {
  PartitionFloor& held = partitions_[partition];
  bool changed = false;
  for (const VersionVector::Entry& entry : floor.entries()) {
    if (held.floor.counter_of(entry.actor) >= entry.counter || is_closed(entry.actor)) continue;
    held.floor.raise(entry.actor, entry.counter);
    changed = true;
  }
  if (!held.erased.vector.covers(erased.vector)) {
    held.erased.join(erased);
    changed = true;
  }
  if (changed) changed_.insert(partition);
  return changed;
}

bool FloorTable::raise(const std::vector<Partition>& partitions, const VersionVector& floor) {
  bool changed = false;
  for (const VersionVector::Entry& entry : floor.entries()) {
    if (is_closed(entry.actor)) continue;
    const bool is_new = std::any_of(partitions.begin(), partitions.end(), [&](Partition partition) {
      return partitions_[partition].floor.counter_of(entry.actor) < entry.counter;
    });
    if (!is_new) continue;
    raise_wide(partitions, entry);
    changed = true;
  }
  return changed;
}

void FloorTable::raise_wide(const std::vector<Partition>& partitions, const VersionVector::Entry& entry) {
  WideFloor& wide = wide_[entry.actor];
  // One record can't say two counters: an older answer that comes late goes into the partitions' own.
  const bool replaces = entry.counter > wide.counter;
  if (replaces) {
    std::vector<bool> named(partitions_.size());
    for (const Partition partition : partitions) named[partition] = true;
    for (Partition partition = 0; partition < wide.partitions.size(); ++partition) {
      if (wide.partitions[partition] && !named[partition]) changed_.insert(partition);
    }
    wide = {entry.counter, std::move(named)};
    changed_wide_.insert(entry.actor);
  }
  for (const Partition partition : partitions) {
    VersionVector& floor = partitions_[partition].floor;
    if (floor.counter_of(entry.actor) >= entry.counter) continue;
    floor.raise(entry.actor, entry.counter);
    if (!replaces) changed_.insert(partition);
  }
}

void FloorTable::add_erased(Partition partition, const CausalContext& context) {
  CausalContext& erased = partitions_[partition].erased;
  if (erased.vector.covers(context.vector) && erased.highest_time >= context.highest_time) return;
  erased.vector.join(context.vector);
  erased.highest_time = std::max(erased.highest_time, context.highest_time);
  changed_.insert(partition);
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
  for (PartitionFloor& partition : partitions_) {
    partition.floor.erase_if([this](const VersionVector::Entry& entry) { return is_closed(entry.actor); });
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
}

void FloorTable::reset(Partition partition) {
  partitions_[partition] = {};
  changed_.insert(partition);
  for (auto& [actor, wide] : wide_) {
    if (!wide.partitions[partition]) continue;
    wide.partitions[partition] = false;
    changed_wide_.insert(actor);
  }
}

void FloorTable::put_changes(Batch& batch) {
  std::string value;
  for (const Partition partition : std::exchange(changed_, {})) {
    const PartitionFloor& floor = partitions_[partition];
    if (floor.empty()) {
      batch.erase(Family::kDigests, partition_key(partition));
      continue;
    }
    value.clear();
    ByteWriter writer(value);
    writer.u8(kVersion);
    write_vector(writer, floor.floor);
    writer.u64(floor.erased.highest_time);
    write_vector(writer, floor.erased.vector);
    batch.put(Family::kDigests, partition_key(partition), value);
  }
  for (const Actor& actor : std::exchange(changed_wide_, {})) {
    const auto wide = wide_.find(actor);
    if (wide == wide_.end()) {
      batch.erase(Family::kDigests, wide_key(actor));
      continue;
    }
    value.clear();
    ByteWriter writer(value);
    writer.u8(kVersion);
    writer.varint(wide->second.counter);
    writer.bytes(encode_bits(wide->second.partitions));
    batch.put(Family::kDigests, wide_key(actor), value);
  }
  if (!std::exchange(closed_changed_, false)) return;
  value.clear();
  ByteWriter writer(value);
  writer.u8(kVersion);
  writer.varint(closed_.size());
  for (const Actor& actor : closed_) write_actor(writer, actor);
  batch.put(Family::kDigests, std::string(1, kClosedKey), value);
}

}  // namespace ringkv
