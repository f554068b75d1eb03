#include "storage/recovery.h"

#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/text.h"

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

// The last life ends at what the journal proves; one that stamped nothing leaves no trace.
void close_last_life(OwnBoots& boots, const JournalEnd& end) {
  if (boots.lives.empty()) return;
  auto& [boot, counter] = boots.lives.back();
  counter = end.stamper.boot == boot ? end.stamper.counter : 0;
  boots.highest_time = std::max(boots.highest_time, end.stamper.highest_time);
  if (counter == 0) boots.lives.pop_back();
}

// The oldest lives are forgotten: what they stamped is replaced or stays as it is, and no record needs a
// floor for it. Without a cap every context that was stripped would be filled with all of them.
constexpr size_t kLivesKept = 1000;

void forget_oldest(OwnBoots& boots) {
  if (boots.lives.size() <= kLivesKept) return;
  boots.lives.erase(boots.lives.begin(), boots.lives.end() - kLivesKept);
}

}  // namespace

Result<RecoveredStore> recover_store(Engine& engine, uint32_t partitions, const Actor& actor) {
  Result<RecoveredLeaves> leaves = recover_leaves(engine, partitions);
  if (!leaves.ok()) return leaves.status();
  Result<OwnBoots> boots = read_boots(engine);
  if (!boots.ok()) return boots.status();
  close_last_life(*boots, leaves->end);
  forget_oldest(*boots);

  Floor past;
  past.highest_time = boots->highest_time;
  for (const auto& [boot, counter] : boots->lives) past.vector.raise({actor.node, boot}, counter);

  boots->lives.emplace_back(actor.boot, 0);
  if (Status status = write_meta(engine, kBootsKey, encode(*boots)); !status.ok()) return status;
  return RecoveredStore{std::move(*leaves), actor, std::move(past)};
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
