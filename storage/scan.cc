#include "storage/scan.h"

#include <algorithm>

#include "base/text.h"
#include "storage/record_codec.h"
#include "storage/storage_key.h"

namespace ringkv {
namespace {

constexpr size_t kAnswerBytesMax = size_t{1} << 20;
constexpr size_t kRecordsMax = 20'000;
constexpr size_t kSeenBytesMax = size_t{16} << 20;

size_t bytes_of(const ScanEntry& entry) {
  size_t bytes = entry.key.size();
  for (const std::string& value : entry.values) bytes += value.size();
  return bytes;
}

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

Result<ScanSlice> scan_slice(Engine& engine, const ScanStep& step) {
  ScanSlice slice;
  slice.last = step.after;
  // The least key behind `after`.
  const std::string from = step.after.empty() ? std::string() : step.after + '\0';
  const std::unique_ptr<Cursor> cursor = engine.seek(Family::kData, from, {});
  size_t bytes = 0;
  size_t seen_bytes = 0;
  for (size_t seen = 0; cursor->valid(); cursor->next(), ++seen) {
    const bool full = slice.entries.size() >= step.entries_max || bytes >= kAnswerBytesMax;
    if (full || seen >= kRecordsMax || seen_bytes >= kSeenBytesMax) return slice;
    seen_bytes += cursor->key().size() + cursor->value().size();
    slice.last = cursor->key();
    const std::optional<StorageKeyParts> parts = parse_storage_key(cursor->key());
    if (!parts) return corruption(cat("record under ", display_key(cursor->key()), " has no key"));
    if (parts->bucket != step.bucket || !parts->key.starts_with(step.prefix)) continue;
    Result<Record> record = decode_record(cursor->value());
    if (!record.ok()) {
      return corruption(cat("key ", display_key(parts->key), ": ", record.status().message()));
    }
    ScanEntry entry{std::string(parts->key), live_values(std::move(*record), step.now_ms)};
    if (entry.values.empty()) continue;
    if (!step.values) entry.values.clear();
    bytes += bytes_of(entry);
    slice.entries.push_back(std::move(entry));
  }
  if (!cursor->status().ok()) return cursor->status();
  slice.at_end = true;
  return slice;
}

}  // namespace ringkv
