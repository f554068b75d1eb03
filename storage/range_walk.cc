#include "storage/range_walk.h"

#include <optional>
#include <utility>

#include "base/text.h"
#include "storage/storage_key.h"

namespace ringkv {
namespace {

constexpr size_t kRecordsMax = 20'000;
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
    const Status status = step_.storage_keys.empty() ? walk() : look_up();
    if (!status.ok()) return status;
    return std::move(slice_);
  }

 private:
  // Neighbouring leaves are one range of storage keys.
  Status walk() {
    const uint32_t leaves = step_.ring_partitions * kLeavesPerPartition;
    const uint32_t first = step_.partition * kLeavesPerPartition;
    const std::string from = step_.after.empty() ? std::string() : step_.after + '\0';
    for (uint32_t leaf = 0; leaf < kLeavesPerPartition; ++leaf) {
      if (!step_.leaves[leaf]) continue;
      const std::string lower = first_storage_key(first + leaf, leaves);
      while (leaf + 1 < kLeavesPerPartition && step_.leaves[leaf + 1]) ++leaf;
      const std::string upper = end_storage_key(first + leaf, leaves);
      if (!upper.empty() && upper <= from) continue;
      if (Status status = walk(std::max(lower, from), upper); !status.ok()) return status;
      if (full_) return {};
    }
    slice_.at_end = true;
    return {};
  }

  Status walk(const std::string& lower, const std::string& upper) {
    const std::unique_ptr<Cursor> cursor = engine_.seek(Family::kData, lower, upper);
    for (; cursor->valid() && !full_; cursor->next()) {
      if (Status status = take(cursor->key(), cursor->value()); !status.ok()) return status;
    }
    return cursor->status();
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
    const size_t size = storage_key.size() + head->dots.size() * sizeof(Dot) + sizeof(RangeEntry) +
                        (step_.records || head->dots.empty() ? bytes.size() : 0);
    full_ = !slice_.entries.empty() && bytes_ + size > step_.bytes_max;
    if (full_) return {};
    bytes_ += size;
    slice_.last = storage_key;
    slice_.entries.push_back({std::string(storage_key), *std::move(head),
                              step_.records ? std::make_shared<const std::string>(bytes) : nullptr});
    full_ = bytes_ >= step_.bytes_max || slice_.entries.size() >= kRecordsMax;
    return {};
  }

  Engine& engine_;
  const RangeStep& step_;
  RangeSlice slice_;
  size_t bytes_ = 0;
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
