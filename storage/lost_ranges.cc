// u8 version (1) | varint ranges | for each: u8 family | string first | string last | string file
// | string why
#include "storage/lost_ranges.h"

#include <algorithm>
#include <memory>

#include "base/bytes.h"
#include "base/text.h"

namespace ringkv {
namespace {

constexpr uint8_t kVersion = 1;
constexpr size_t kRangeBytesMin = 5;
constexpr size_t kStringBytesMax = size_t{1} << 20;

}  // namespace

std::string encode_lost_ranges(const LostRanges& ranges) {
  std::string bytes;
  ByteWriter writer(bytes);
  writer.u8(kVersion);
  writer.varint(ranges.size());
  for (const OpenedEngine::LostRange& range : ranges) {
    writer.u8(static_cast<uint8_t>(range.family));
    writer.string(range.first);
    writer.string(range.last);
    writer.string(range.file);
    writer.string(range.why);
  }
  return bytes;
}

Result<LostRanges> decode_lost_ranges(std::string_view bytes) {
  LostRanges ranges;
  if (bytes.empty()) return ranges;
  ByteReader reader(bytes);
  if (reader.u8() != kVersion) reader.fail();
  for (size_t left = reader.count(kRangeBytesMin); left > 0; --left) {
    OpenedEngine::LostRange range;
    const uint8_t family = reader.u8();
    if (family >= kFamilies) reader.fail();
    range.family = static_cast<Family>(family);
    range.first = reader.string(kStringBytesMax);
    range.last = reader.string(kStringBytesMax);
    range.file = reader.string(kStringBytesMax);
    range.why = reader.string(kStringBytesMax);
    ranges.push_back(std::move(range));
  }
  if (!reader.finished()) return corruption("the list of what was lost with damaged table files is damaged");
  return ranges;
}

Result<LostRanges> remember_lost_ranges(Engine& engine, const LostRanges& found) {
  std::string bytes;
  const Result<Lookup> known = engine.get(Family::kMeta, kLostRangesKey, bytes);
  if (!known.ok()) return known.status();
  if (*known == Lookup::kAbsent) bytes.clear();
  Result<LostRanges> ranges = decode_lost_ranges(bytes);
  if (!ranges.ok() || found.empty()) return ranges;
  for (const OpenedEngine::LostRange& range : found) {
    if (std::find(ranges->begin(), ranges->end(), range) == ranges->end()) ranges->push_back(range);
  }
  const std::unique_ptr<Batch> batch = engine.new_batch();
  batch->put(Family::kMeta, kLostRangesKey, encode_lost_ranges(*ranges));
  if (Status status = engine.write(*batch, true); !status.ok()) return status;
  return ranges;
}

}  // namespace ringkv
