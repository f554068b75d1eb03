#include "storage/range_walk.h"

#include <optional>
#include <utility>

#include "base/text.h"
#include "storage/hash_subset.h"
#include "storage/storage_key.h"

namespace ringkv {
namespace {

// Who sends or takes them is busy for a millisecond, and requests of clients wait behind that.
constexpr size_t kRecordsMax = 128;
constexpr size_t kHeadsMax = 512;
constexpr size_t kLeafBytesMax = size_t{1} << 20;  // of one that is looked at as a whole
constexpr size_t kBytesReadMax = size_t{8} << 20;  // in a step that may send nothing of what it reads
constexpr char kTransientPrefix = 't';

Status damaged(std::string_view storage_key, const Status& why) {
  const std::optional<StorageKeyParts> parts = parse_storage_key(storage_key);
  return corruption(cat("key ", display_key(parts ? parts->key : storage_key), ": ", why.message()));
}

class RangeWalk {
 public:
  RangeWalk(Engine& engine, const RangeStep& step) : engine_(engine), step_(step) {
    slice_.last = step.after;
  }

  Result<RangeSlice> run() {
    Status status;
    if (!step_.leaves_elsewhere.empty()) {
      status = take_differences();
    } else if (!step_.storage_keys.empty()) {
      status = look_up();
    } else {
      status = walk();
    }
    if (!status.ok()) return status;
    return std::move(slice_);
  }

 private:
  Status walk() {
    const std::string from = step_.after.empty() ? std::string() : step_.after + '\0';
    for (uint32_t leaf = 0; leaf < kLeavesPerPartition; ++leaf) {
      if (!step_.leaves[leaf]) continue;
      const std::string upper = upper_of(leaf);
      if (!upper.empty() && upper <= from) continue;
      for (go_to(std::max(lower_of(leaf), from)); is_below(upper); cursor_->next()) {
        if (Status status = take(cursor_->key(), cursor_->value()); !status.ok()) return status;
        if (full_) return {};
      }
      if (Status status = cursor_->status(); !status.ok()) return status;
    }
    slice_.at_end = true;
    return {};
  }

  // One cursor for all leaves: to make one costs more than to move it, and a neighbour is where it stands. It
  // looks one record past each leaf: damage there fails the step too, and is found sooner.
  void go_to(const std::string& lower) {
    if (cursor_ == nullptr) {
      cursor_ = engine_.seek(Family::kData, lower, upper_of(kLeavesPerPartition - 1));
    } else if (cursor_->valid() && cursor_->key() < lower) {
      cursor_->skip_to(lower);
    }
  }
  bool is_below(const std::string& upper) const {
    return cursor_->valid() && (upper.empty() || cursor_->key() < upper);
  }
  std::string lower_of(uint32_t leaf) const {
    return first_storage_key(step_.partition * kLeavesPerPartition + leaf,
                             step_.ring_partitions * kLeavesPerPartition);
  }
  std::string upper_of(uint32_t leaf) const {
    return end_storage_key(step_.partition * kLeavesPerPartition + leaf,
                           step_.ring_partitions * kLeavesPerPartition);
  }

  // Whole leaves: what a part of one adds up to says nothing. Where nothing can be told nothing is sent, so
  // what is read is bounded too.
  Status take_differences() {
    for (const LeafHash& other : step_.leaves_elsewhere) {
      if (full_ || bytes_read_ > kBytesReadMax) return {};
      LeafContents contents;
      const Result<bool> whole = read_leaf(other.leaf, contents);
      if (!whole.ok()) return whole.status();
      LeafAnswer& answer = slice_.answered.emplace_back(LeafAnswer{other.leaf, {}});
      if (!*whole) continue;
      Hash128 here;
      for (const Hash128& hash : contents.hashes) here ^= hash;
      answer.hash = here;
      take_difference(other, here, contents);
    }
    slice_.at_end = true;
    return {};
  }

  struct LeafContents {
    std::vector<std::string> keys;
    std::vector<RecordHead> heads;
    std::vector<Hash128> hashes;
    std::string bytes;  // of all records, one behind the other; where records are asked for
    std::vector<size_t> ends;

    std::string_view record(size_t i) const {
      const size_t begin = i == 0 ? 0 : ends[i - 1];
      return std::string_view(bytes).substr(begin, ends[i] - begin);
    }
  };

  // False where there is too much of it.
  Result<bool> read_leaf(uint32_t leaf, LeafContents& contents) {
    const std::string upper = upper_of(leaf);
    size_t bytes = 0;
    for (go_to(lower_of(leaf)); is_below(upper); cursor_->next()) {
      if (contents.hashes.size() == step_.leaf_records_max || bytes > kLeafBytesMax) return false;
      Result<RecordHead> head = decode_record_head(cursor_->value());
      if (!head.ok()) return damaged(cursor_->key(), head.status());
      bytes += cursor_->value().size();
      bytes_read_ += cursor_->value().size();
      contents.keys.emplace_back(cursor_->key());
      contents.hashes.push_back(head->hash);
      contents.heads.push_back(*std::move(head));
      if (step_.records) contents.bytes += cursor_->value();
      contents.ends.push_back(contents.bytes.size());
    }
    if (Status status = cursor_->status(); !status.ok()) return status;
    return true;
  }

  void take_difference(const LeafHash& other, const Hash128& here, LeafContents& contents) {
    Hash128 difference = here;
    difference ^= other.hash;
    const std::optional<uint64_t> members = subset_with_xor(contents.hashes, difference);
    slice_.told[other.leaf] = members.has_value();
    for (size_t i = 0; members && i < contents.hashes.size(); ++i) {
      if ((*members >> i & 1) != 0)
        append(contents.keys[i], std::move(contents.heads[i]), contents.record(i));
    }
  }

  Status look_up() {
    std::string bytes;
    for (const std::string& key : step_.storage_keys) {
      const Result<Lookup> found = engine_.get(Family::kData, key, bytes);
      if (!found.ok()) return found.status();
      if (*found == Lookup::kAbsent) {
        slice_.last = key;
        continue;
      }
      if (Status status = take(key, bytes); !status.ok()) return status;
      if (full_) return {};
    }
    slice_.at_end = true;
    return {};
  }

  // Where there is no room left for it, it stays for the next step.
  Status take(std::string_view storage_key, std::string_view bytes) {
    Result<RecordHead> head = decode_record_head(bytes);
    if (!head.ok()) return damaged(storage_key, head.status());
    full_ = !slice_.entries.empty() && bytes_ + size_of(storage_key, *head, bytes) > step_.bytes_max;
    if (full_) return {};
    append(storage_key, *std::move(head), bytes);
    return {};
  }
  void append(std::string_view storage_key, RecordHead head, std::string_view bytes) {
    bytes_ += size_of(storage_key, head, bytes);
    slice_.last = storage_key;
    slice_.entries.push_back({std::string(storage_key), std::move(head),
                              step_.records ? std::make_shared<const std::string>(bytes) : nullptr});
    full_ = bytes_ >= step_.bytes_max || slice_.entries.size() >= (step_.records ? kRecordsMax : kHeadsMax);
  }
  size_t size_of(std::string_view storage_key, const RecordHead& head, std::string_view bytes) const {
    return storage_key.size() + head.dots.size() * sizeof(Dot) + sizeof(RangeEntry) +
           (step_.records || head.dots.empty() ? bytes.size() : 0);
  }

  Engine& engine_;
  const RangeStep& step_;
  std::unique_ptr<Cursor> cursor_;  // of the partition
  RangeSlice slice_;
  size_t bytes_ = 0;       // of the answer
  size_t bytes_read_ = 0;  // of whole leaves
  bool full_ = false;
};

}  // namespace

std::string transient_key(std::string_view storage_key) {
  return std::string(1, kTransientPrefix).append(storage_key);
}

Result<RangeSlice> range_slice(Engine& engine, const RangeStep& step) {
  return RangeWalk(engine, step).run();
}

Result<TransientSlice> transient_slice(Engine& engine, const TransientStep& step) {
  TransientSlice slice;
  slice.last = step.after;
  const std::string from = transient_key(step.after);
  const std::unique_ptr<Cursor> cursor = engine.seek(
      Family::kDigests, step.after.empty() ? from : from + '\0', std::string(1, kTransientPrefix + 1));
  std::string bytes;
  for (; cursor->valid(); cursor->next()) {
    if (slice.entries.size() >= step.records_max) return slice;
    TransientSlice::Entry entry{std::string(cursor->key().substr(1)), {}};
    slice.last = entry.storage_key;
    const Result<Lookup> found = engine.get(Family::kData, entry.storage_key, bytes);
    if (!found.ok()) return found.status();
    if (*found == Lookup::kFound) {
      Result<RecordOutline> outline = decode_record_outline(bytes);
      if (!outline.ok()) continue;
      entry.outline = *std::move(outline);
    }
    slice.entries.push_back(std::move(entry));
  }
  if (!cursor->status().ok()) return cursor->status();
  slice.at_end = true;
  return slice;
}

}  // namespace ringkv
