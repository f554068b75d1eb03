#include "storage/scan.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "storage/record_codec.h"
#include "storage/storage_key.h"

namespace ringkv {
namespace {

constexpr size_t kAnswerBytesMax = size_t{1} << 20;
constexpr size_t kRecordsSeenMax = 20'000;
constexpr size_t kSeenBytesMax = size_t{16} << 20;

// Neighbouring partitions are one range of storage keys.
struct KeyRange {
  std::string lower;
  std::string upper;  // empty: to the end
};

std::vector<KeyRange> ranges_of(const ScanStep& step) {
  std::vector<KeyRange> ranges;
  for (size_t i = 0; i < step.partitions.size(); ++i) {
    const Partition partition = step.partitions[i];
    if (partition >= step.ring_partitions) break;
    std::string upper = end_storage_key(partition, step.ring_partitions);
    if (i > 0 && step.partitions[i - 1] + 1 == partition) {
      ranges.back().upper = std::move(upper);
    } else {
      ranges.push_back({first_storage_key(partition, step.ring_partitions), std::move(upper)});
    }
  }
  return ranges;
}

class Walk {
 public:
  Walk(Engine& engine, const ScanStep& step) : engine_(engine), step_(step) { slice_.last = step.after; }

  Result<ScanSlice> run() {
    // The least key behind `after`.
    const std::string from = step_.after.empty() ? std::string() : step_.after + '\0';
    for (const KeyRange& range : ranges_of(step_)) {
      if (!range.upper.empty() && range.upper <= from) continue;
      if (Status status = run(std::max(range.lower, from), range.upper); !status.ok()) return status;
      if (full()) return std::move(slice_);
    }
    slice_.at_end = true;
    return std::move(slice_);
  }

 private:
  bool full() const {
    return slice_.records.size() >= step_.records_max || bytes_ >= kAnswerBytesMax ||
           seen_ >= kRecordsSeenMax || seen_bytes_ >= kSeenBytesMax;
  }

  Status run(const std::string& lower, const std::string& upper) {
    const std::unique_ptr<Cursor> cursor = engine_.seek(Family::kData, lower, upper);
    for (; cursor->valid() && !full(); cursor->next()) {
      ++seen_;
      seen_bytes_ += cursor->key().size() + cursor->value().size();
      slice_.last = cursor->key();
      if (Status status = take(cursor->key(), cursor->value()); !status.ok()) return status;
    }
    return cursor->status();
  }

  Status take(std::string_view storage_key, std::string_view bytes) {
    const std::optional<StorageKeyParts> parts = parse_storage_key(storage_key);
    if (!parts) return corruption(cat("record under ", display_key(storage_key), " has no key"));
    if (parts->bucket != step_.bucket || !parts->key.starts_with(step_.prefix)) return {};
    Result<RecordOutline> outline = decode_record_outline(bytes);
    if (!outline.ok()) {
      return corruption(cat("key ", display_key(parts->key), ": ", outline.status().message()));
    }
    ScanRecord record{std::string(storage_key), {}, outline->head.context.stripped};
    if (step_.values) {
      record.bytes = bytes;
    } else {
      const RecordHead& head = outline->head;
      encode_record({head.context, std::move(outline->versions)}, head.hash, head.content_bytes,
                    record.bytes);
    }
    bytes_ += record.storage_key.size() + record.bytes.size();
    slice_.records.push_back(std::move(record));
    return {};
  }

  Engine& engine_;
  const ScanStep& step_;
  ScanSlice slice_;
  size_t bytes_ = 0;
  size_t seen_ = 0;
  size_t seen_bytes_ = 0;
};

}  // namespace

std::vector<std::string> live_values(Record record, uint64_t now_ms) {
  std::vector<std::string> values;
  for (Version& version : record.versions) {
    if (!is_live(version, now_ms)) continue;
    if (std::find(values.begin(), values.end(), version.value) == values.end()) {
      values.push_back(std::move(version.value));
    }
  }
  return values;
}

Result<ScanSlice> scan_slice(Engine& engine, const ScanStep& step) { return Walk(engine, step).run(); }

}  // namespace ringkv
