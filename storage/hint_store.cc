#include "storage/hint_store.h"

#include <memory>
#include <utility>

#include "base/text.h"
#include "storage/record_codec.h"
#include "storage/record_store.h"
#include "storage/storage_key.h"

namespace ringkv {
namespace {

constexpr char kFormat = 1;
constexpr size_t kNodeBytes = 8;

std::string prefix_of(NodeId node) {
  std::string prefix;
  for (int shift = 56; shift >= 0; shift -= 8) prefix.push_back(static_cast<char>(node.value >> shift));
  return prefix;
}

// Behind all hints of the node.
std::string end_of(NodeId node) {
  return node.value == UINT64_MAX ? std::string() : prefix_of(NodeId{node.value + 1});
}

std::optional<NodeId> node_of(std::string_view key) {
  if (key.size() <= kNodeBytes || !parse_storage_key(key.substr(kNodeBytes))) return std::nullopt;
  NodeId node;
  for (const char byte : key.substr(0, kNodeBytes)) node.value = node.value << 8 | static_cast<uint8_t>(byte);
  return node;
}

// Nothing: damaged.
std::optional<std::string_view> record_in(std::string_view value) {
  if (value.empty() || value.front() != kFormat) return std::nullopt;
  value.remove_prefix(1);
  if (!decode_record_outline(value).ok()) return std::nullopt;
  return value;
}

uint64_t bytes_of(std::string_view storage_key, std::string_view record) {
  return storage_key.size() + record.size();
}

}  // namespace

Result<RecoveredHints> recover_hints(Engine& engine) {
  RecoveredHints hints;
  const std::unique_ptr<Cursor> cursor = engine.seek(Family::kHints, "", "");
  for (; cursor->valid(); cursor->next()) {
    const std::optional<NodeId> node = node_of(cursor->key());
    const std::optional<std::string_view> record = record_in(cursor->value());
    if (!node || !record) {
      ++hints.damaged;
      continue;
    }
    HintCount& count = hints.counts[*node];
    ++count.hints;
    count.bytes += bytes_of(cursor->key().substr(kNodeBytes), *record);
  }
  if (!cursor->status().ok()) return cursor->status();
  return hints;
}

HintStore::HintStore(Engine& engine, RecordStore& store, RecoveredHints recovered)
    : engine_(engine), store_(store), counts_(std::move(recovered.counts)), damaged_(recovered.damaged) {}

std::string HintStore::hint_key(NodeId intended, std::string_view storage_key) {
  return prefix_of(intended).append(storage_key);
}

Result<std::optional<std::string>> HintStore::newest(NodeId intended, std::string_view storage_key) const {
  if (!counts_.contains(intended)) return std::optional<std::string>("");
  const std::string key = hint_key(intended, storage_key);
  const auto pinned = pinned_.find(key);
  if (pinned != pinned_.end()) return std::optional<std::string>(pinned->second.record);
  std::string value;
  const Result<Lookup> found = engine_.get_cached(Family::kHints, key, value);
  if (!found.ok()) return found.status();
  if (*found == Lookup::kWouldBlock) return std::optional<std::string>();
  const std::optional<std::string_view> record = record_in(value);
  return std::optional<std::string>(*found == Lookup::kFound && record ? std::string(*record) : "");
}

void HintStore::stage(NodeId intended, std::string_view storage_key, std::string_view record,
                      std::string_view before) {
  const std::string key = hint_key(intended, storage_key);
  store_.stage(Family::kHints, key, std::string(1, kFormat).append(record));
  HintCount& count = counts_[intended];
  if (before.empty()) {
    ++count.hints;
  } else {
    count.bytes -= bytes_of(storage_key, before);
  }
  count.bytes += bytes_of(storage_key, record);
  pinned_[key] = {std::string(record), store_.open_batch()};
}

void HintStore::erase(NodeId intended, std::string_view storage_key, std::string_view before) {
  const std::string key = hint_key(intended, storage_key);
  store_.stage_erasure(Family::kHints, key);
  pinned_[key] = {"", store_.open_batch()};
  const auto count = counts_.find(intended);
  if (before.empty() || count == counts_.end()) return;
  count->second.bytes -= bytes_of(storage_key, before);
  if (--count->second.hints > 0) return;
  counts_.erase(count);
}

void HintStore::committed(BatchNumber batch) {
  std::erase_if(pinned_, [batch](const auto& pinned) { return pinned.second.batch <= batch; });
}

HintCount HintStore::total() const {
  HintCount total;
  for (const auto& [node, count] : counts_) {
    total.hints += count.hints;
    total.bytes += count.bytes;
  }
  return total;
}

Result<HintSlice> hint_slice(Engine& engine, const HintStep& step) {
  HintSlice slice;
  const std::string from = HintStore::hint_key(step.intended, step.after);
  const std::unique_ptr<Cursor> cursor =
      engine.seek(Family::kHints, step.after.empty() ? from : from + '\0', end_of(step.intended));
  size_t bytes = 0;
  for (; cursor->valid(); cursor->next()) {
    if (slice.hints.size() >= step.hints_max || bytes >= step.bytes_max) return slice;
    const std::optional<std::string_view> record = record_in(cursor->value());
    if (!node_of(cursor->key()) || !record) continue;  // set aside
    bytes += cursor->key().size() + record->size();
    slice.hints.push_back({std::string(cursor->key().substr(kNodeBytes)), std::string(*record)});
  }
  if (!cursor->status().ok()) return cursor->status();
  slice.at_end = true;
  return slice;
}

Result<std::string> read_hint(Engine& engine, NodeId intended, std::string_view storage_key) {
  std::string value;
  const Result<Lookup> found = engine.get(Family::kHints, HintStore::hint_key(intended, storage_key), value);
  if (!found.ok()) return found.status();
  const std::optional<std::string_view> record = record_in(value);
  return *found == Lookup::kFound && record ? std::string(*record) : std::string();
}

}  // namespace ringkv
