#include "storage/loss_recovery.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "base/text.h"
#include "storage/record_codec.h"
#include "storage/storage_key.h"

namespace ringkv {
namespace {

constexpr size_t kBatchBytes = size_t{1} << 20;

bool is_in(const LostRanges& lost, std::string_view storage_key) {
  return std::any_of(lost.begin(), lost.end(), [&](const OpenedEngine::LostRange& range) {
    return range.family == Family::kData && range.first <= storage_key && storage_key <= range.last;
  });
}

// All that is certain of an old version's context. Whichever of this node's lives stamped last of what it
// lists knew all that the lives before had stamped on this key; of later ones it may know nothing.
void fill_old(Record& record, const std::vector<std::pair<Actor, uint64_t>>& past_lives) {
  for (const Version& version : record.versions) {
    record.context.vector.raise(version.dot.actor, version.dot.counter);
  }
  const auto is_named = [&](const auto& life) { return record.context.covers({life.first, 1}); };
  const auto last = std::find_if(past_lives.rbegin(), past_lives.rend(), is_named);
  if (last != past_lives.rend()) {
    for (auto life = std::next(last); life != past_lives.rend(); ++life) {
      record.context.vector.raise(life->first, life->second);
    }
  }
  record.context.stripped = false;
}

// Of every record what was stripped from its context, so that it stands without past lives.
Status fill_contexts(Engine& engine, const RecoveredStore& recovered, const LostRanges& lost) {
  std::vector<std::pair<Actor, uint64_t>> past_lives;  // in order of birth
  for (const Boot boot : recovered.known_boots) {
    const Actor life{recovered.actor.node, boot};
    past_lives.emplace_back(life, recovered.past_boots.vector.counter_of(life));
  }
  const std::unique_ptr<Batch> batch = engine.new_batch();
  const std::unique_ptr<Cursor> cursor = engine.seek(Family::kData, "", "");
  for (; cursor->valid(); cursor->next()) {
    Result<RecordHead> head = decode_record_head(cursor->value());
    if (!head.ok() || !head->context.stripped) continue;
    Result<Record> record = decode_record(cursor->value());
    if (!record.ok()) continue;  // whoever reads it says so
    if (is_in(lost, cursor->key())) {
      fill_old(*record, past_lives);
    } else {
      fill(record->context, recovered.past_boots);
    }
    std::string bytes;
    encode_record(*record, head->hash, head->content_bytes, bytes);
    batch->put(Family::kData, cursor->key(), bytes);
    if (batch->bytes() < kBatchBytes) continue;
    if (Status status = engine.write(*batch, false); !status.ok()) return status;
  }
  if (!cursor->status().ok()) return cursor->status();
  return batch->empty() ? Status() : engine.write(*batch, true);
}

}  // namespace

std::vector<Partition> partitions_with_losses(const LostRanges& lost, uint32_t partitions) {
  std::vector<bool> has_lost(partitions);
  for (const OpenedEngine::LostRange& range : lost) {
    if (range.family == Family::kDigests) has_lost.assign(partitions, true);
    if (range.family != Family::kData) continue;
    const auto first = parse_storage_key(range.first), last = parse_storage_key(range.last);
    const Partition end = last ? partition_of(last->token, partitions) : partitions - 1;
    for (Partition i = first ? partition_of(first->token, partitions) : 0; i <= end; ++i) has_lost[i] = true;
  }
  std::vector<Partition> found;
  for (Partition partition = 0; partition < partitions; ++partition) {
    if (has_lost[partition]) found.push_back(partition);
  }
  return found;
}

Result<RecoveredStore> recover_after_loss(Engine& engine, uint32_t partitions, const Actor& actor,
                                          const LostRanges& lost) {
  const auto is_of_data = [](const auto& range) { return range.family == Family::kData; };
  const auto is_of_digests = [](const auto& range) { return range.family == Family::kDigests; };
  const bool lost_data = std::any_of(lost.begin(), lost.end(), is_of_data);
  const std::vector<Partition> with_losses = partitions_with_losses(lost, partitions);
  if (lost_data || std::any_of(lost.begin(), lost.end(), is_of_digests)) {
    if (Status status = rebuild_derived(engine, partitions, with_losses); !status.ok()) return status;
  }
  Result<RecoveredStore> recovered = recover_store(engine, partitions, actor);
  if (!recovered.ok() || !lost_data) return recovered;
  if (Status status = fill_contexts(engine, *recovered, lost); !status.ok()) return status;

  std::vector<Partition> whole;
  for (Partition partition = 0; partition < partitions; ++partition) {
    if (!std::binary_search(with_losses.begin(), with_losses.end(), partition)) whole.push_back(partition);
  }
  if (Status status = limit_claims(engine, *recovered, whole); !status.ok()) return status;
  return recovered;
}

}  // namespace ringkv
