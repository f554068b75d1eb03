#include "storage/recovery.h"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/text.h"
#include "storage/range_walk.h"
#include "storage/storage_key.h"

namespace ringkv {
namespace {

// The `boots` record of the `meta` family:
//
//   u8 version (1) | varint highest hybrid time of all of them | varint n | n x (u64 boot, varint last
//   counter)
//
// in order of birth. The last one is the life that wrote the record; its counter stands in the journal.
constexpr std::string_view kBootsKey = "boots";
constexpr uint8_t kBootsVersion = 1;

struct OwnBoots {
  HybridTime highest_time = 0;
  std::vector<std::pair<Boot, uint64_t>> lives;
};

std::string encode(const OwnBoots& boots) {
  std::string bytes;
  ByteWriter writer(bytes);
  writer.u8(kBootsVersion);
  writer.varint(boots.highest_time);
  writer.varint(boots.lives.size());
  for (const auto& [boot, counter] : boots.lives) {
    writer.u64(boot.value);
    writer.varint(counter);
  }
  return bytes;
}

Result<OwnBoots> decode(std::string_view bytes) {
  ByteReader reader(bytes);
  if (const uint8_t version = reader.u8(); version != kBootsVersion) {
    return corruption(cat("the list of this node's boots has version ", static_cast<int>(version), ", not ",
                          static_cast<int>(kBootsVersion)));
  }
  OwnBoots boots;
  boots.highest_time = reader.varint();
  const size_t lives = reader.count(9);
  for (size_t i = 0; i < lives; ++i) {
    const Boot boot{reader.u64()};
    boots.lives.emplace_back(boot, reader.varint());
  }
  if (!reader.finished()) return corruption("the list of this node's boots is damaged");
  return boots;
}

Result<OwnBoots> read_boots(Engine& engine) {
  std::string bytes;
  Result<Lookup> found = engine.get(Family::kMeta, kBootsKey, bytes);
  if (!found.ok()) return found.status();
  if (*found == Lookup::kAbsent) return OwnBoots();
  return decode(bytes);
}

// The last life ends at what the journal proves.
void close_last_life(OwnBoots& boots, const JournalEnd& end) {
  if (boots.lives.empty()) return;
  auto& [boot, counter] = boots.lives.back();
  counter = end.stamper.boot == boot ? end.stamper.counter : 0;
  boots.highest_time = std::max(boots.highest_time, end.stamper.highest_time);
}

// The oldest lives are forgotten: what they stamped is replaced or stays as it is, and no record needs a
// floor for it. Without a cap every context that was stripped would be filled with all of them.
constexpr size_t kLivesKept = 1000;

void forget_oldest(OwnBoots& boots) {
  if (boots.lives.size() <= kLivesKept) return;
  boots.lives.erase(boots.lives.begin(), boots.lives.end() - kLivesKept);
}

// Changes of the digests, in batches that fit into memory.
class BoundedBatches {
 public:
  explicit BoundedBatches(Engine& engine) : engine_(engine), batch_(engine.new_batch()) {}

  Status put(std::string_view key, std::string_view value) {
    batch_->put(Family::kDigests, key, value);
    return write_if_full();
  }
  Status erase(std::string_view key) {
    batch_->erase(Family::kDigests, key);
    return write_if_full();
  }
  Status finish() { return engine_.write(*batch_, true); }

 private:
  Status write_if_full() {
    constexpr size_t kBatchBytes = size_t{1} << 20;
    return batch_->bytes() < kBatchBytes ? Status() : engine_.write(*batch_, false);
  }

  Engine& engine_;
  const std::unique_ptr<Batch> batch_;
};

}  // namespace

Result<RecoveredStore> recover_store(Engine& engine, uint32_t partitions, const Actor& actor) {
  Result<RecoveredLeaves> leaves = recover_leaves(engine, partitions);
  if (!leaves.ok()) return leaves.status();
  Result<OwnBoots> boots = read_boots(engine);
  if (!boots.ok()) return boots.status();
  close_last_life(*boots, leaves->end);
  forget_oldest(*boots);

  Result<FloorTable> floors = FloorTable::recover(engine, partitions);
  if (!floors.ok()) return floors.status();

  Floor past;
  past.highest_time = boots->highest_time;
  std::vector<Boot> known;
  for (const auto& [boot, counter] : boots->lives) {
    past.vector.raise({actor.node, boot}, counter);
    known.push_back(boot);
  }

  boots->lives.emplace_back(actor.boot, 0);
  if (Status status = write_meta(engine, kBootsKey, encode(*boots)); !status.ok()) return status;
  return RecoveredStore{std::move(*leaves), actor, std::move(past), std::move(known), std::move(*floors)};
}

Status rebuild_derived(Engine& engine, uint32_t partitions, const std::vector<Partition>& lost) {
  LeafTable leaves(partitions);
  BoundedBatches batches(engine);
  const std::unique_ptr<Cursor> index =
      engine.seek(Family::kDigests, transient_key(""), std::string(1, transient_key("").front() + 1));
  for (; index->valid(); index->next()) {
    if (Status status = batches.erase(index->key()); !status.ok()) return status;
  }
  if (!index->status().ok()) return index->status();
  const std::unique_ptr<Cursor> cursor = engine.seek(Family::kData, "", "");
  for (; cursor->valid(); cursor->next()) {
    const std::optional<StorageKeyParts> parts = parse_storage_key(cursor->key());
    const Result<RecordHead> head = decode_record_head(cursor->value());
    if (!parts || !head.ok()) continue;  // whoever reads it says so
    const LeafId id = leaf_of(parts->token, partitions);
    Leaf leaf = leaves.at(id);
    leaf.hash ^= head->hash;
    leaf.keys += head->content_bytes > 0 ? 1 : 0;
    leaf.bytes += head->content_bytes;
    leaves.set(id, leaf);
    if (!head->transient) continue;
    if (Status status = batches.put(transient_key(cursor->key()), ""); !status.ok()) return status;
  }
  if (!cursor->status().ok()) return cursor->status();
  if (Status status = batches.finish(); !status.ok()) return status;

  Result<FloorTable> floors = FloorTable::recover(engine, partitions);
  if (floors.status().code() == StatusCode::kCorruption) {
    if (Status status = FloorTable::forget_all(engine); !status.ok()) return status;
    floors = FloorTable(partitions);
  }
  if (!floors.ok()) return floors.status();
  for (const Partition partition : lost) floors->reset(partition);
  const std::unique_ptr<Batch> batch = engine.new_batch();
  floors->put_changes(*batch);
  if (Status status = engine.write(*batch, true); !status.ok()) return status;
  return rewrite_leaves(engine, leaves);
}

Status limit_claims(Engine& engine, RecoveredStore& recovered, const std::vector<Partition>& partitions) {
  recovered.floors.raise(partitions, recovered.past_boots.vector);
  recovered.floors.limit_closed(partitions);
  recovered.past_boots.vector = {};
  OwnBoots boots;
  boots.highest_time = recovered.past_boots.highest_time;
  for (const Boot boot : recovered.known_boots) boots.lives.emplace_back(boot, 0);
  boots.lives.emplace_back(recovered.actor.boot, 0);
  const std::unique_ptr<Batch> batch = engine.new_batch();
  recovered.floors.put_changes(*batch);
  batch->put(Family::kMeta, kBootsKey, encode(boots));
  return engine.write(*batch, true);
}

Result<std::string> read_meta(Engine& engine, std::string_view key) {
  std::string bytes;
  Result<Lookup> found = engine.get(Family::kMeta, key, bytes);
  if (!found.ok()) return found.status();
  if (*found == Lookup::kAbsent) return std::string();
  return bytes;
}

Status write_meta(Engine& engine, std::string_view key, std::string_view value) {
  const std::unique_ptr<Batch> batch = engine.new_batch();
  batch->put(Family::kMeta, key, value);
  return engine.write(*batch, true);
}

}  // namespace ringkv
