// In Family::kDigests:
//
//   entry: key   'j' | u64 ~number of its batch, big-endian: the newest comes first
//          value varint oldest entry on disk | varint oldest entry that is needed
//                | u64 boot | varint counter | varint highest time | varint leaves
//                | for each leaf, ascending: varint id minus the previous id (the first: id) | leaf
//   page:  key   'p' | u32 partition, big-endian
//          value varint number of its batch | 256 leaves
//   leaf:  varint 0 when it is empty; else varint keys + 1 | u64 hash low | u64 hash high | varint bytes
//
// Were the oldest entry the first, recovery would have to step over all that were erased before it, which
// RocksDB keeps as tombstones until they are compacted.
#include "storage/leaf_journal.h"

#include <algorithm>
#include <bitset>
#include <optional>
#include <string_view>
#include <utility>

#include "base/bytes.h"
#include "base/text.h"

namespace ringkv {
namespace {

constexpr char kEntryPrefix = 'j';
constexpr char kPagePrefix = 'p';
constexpr size_t kEntryLeafBytesMin = 2;

template <class Number>
std::string key_of(char prefix, Number number) {
  std::string key(1, prefix);
  for (int shift = 8 * sizeof number - 8; shift >= 0; shift -= 8)
    key.push_back(static_cast<char>(number >> shift));
  return key;
}

template <class Number>
std::optional<Number> number_of(std::string_view key) {
  if (key.size() != 1 + sizeof(Number)) return std::nullopt;
  Number number = 0;
  for (const char byte : key.substr(1)) number = number << 8 | static_cast<uint8_t>(byte);
  return number;
}

std::string entry_key(BatchNumber number) { return key_of(kEntryPrefix, ~number); }
std::string page_key(Partition partition) { return key_of<uint32_t>(kPagePrefix, partition); }

std::unique_ptr<Cursor> seek_all(Engine& engine, char prefix) {
  return engine.seek(Family::kDigests, std::string(1, prefix), std::string(1, static_cast<char>(prefix + 1)));
}

Status damaged(std::string_view key) {
  return corruption(cat("leaf journal: the record at ", display_key(key), " is damaged"));
}

struct NumberRange {
  BatchNumber first;
  BatchNumber last;
};

Status missing(NumberRange entries) {
  return corruption(
      cat("leaf journal: the entries of batches ", entries.first, " to ", entries.last, " are missing"));
}

void write_leaf(ByteWriter& writer, const Leaf& leaf) {
  if (leaf == Leaf()) return writer.varint(0);
  writer.varint(leaf.keys + 1);
  writer.u64(leaf.hash.low);
  writer.u64(leaf.hash.high);
  writer.varint(leaf.bytes);
}

Leaf read_leaf(ByteReader& reader) {
  Leaf leaf;
  const uint64_t keys_and_one = reader.varint();
  if (keys_and_one == 0) return leaf;
  leaf.keys = keys_and_one - 1;
  leaf.hash.low = reader.u64();
  leaf.hash.high = reader.u64();
  leaf.bytes = reader.varint();
  return leaf;
}

// Rebuilds leaves from all pages, then entries from the newest to the oldest that is needed: of each leaf the
// first value that it meets is the newest.
class Recovery {
 public:
  explicit Recovery(uint32_t partitions)
      : leaves_(partitions), page_numbers_(partitions), first_touch_(partitions), is_read_(partitions) {}

  Status read_pages(Engine& engine) {
    const auto cursor = seek_all(engine, kPagePrefix);
    for (; cursor->valid(); cursor->next()) {
      if (!read_page(cursor->key(), cursor->value())) return damaged(cursor->key());
    }
    return cursor->status();
  }

  Status read_entries(Engine& engine) {
    const auto cursor = seek_all(engine, kEntryPrefix);
    BatchNumber expected = 0;  // 0: whichever is the newest
    for (; cursor->valid(); cursor->next()) {
      const auto inverted = number_of<BatchNumber>(cursor->key());
      if (!inverted) return damaged(cursor->key());
      const BatchNumber number = ~*inverted;
      if (expected != 0 && number != expected) return missing({std::max(number + 1, needed_from_), expected});
      if (!read_entry(number, cursor->value())) return damaged(cursor->key());
      if (number == needed_from_) return check_pages();
      expected = number - 1;
    }
    if (!cursor->status().ok()) return cursor->status();
    return expected == 0 ? check_pages() : missing({needed_from_, expected});
  }

  RecoveredLeaves take() {
    std::vector<WaitingPartition> waiting;
    for (Partition partition = 0; partition < leaves_.partitions(); ++partition) {
      if (first_touch_[partition] != 0) waiting.push_back({partition, first_touch_[partition]});
    }
    std::stable_sort(waiting.begin(), waiting.end(),
                     [](const auto& a, const auto& b) { return a.since < b.since; });
    return {std::move(leaves_), end_, std::move(waiting)};
  }

 private:
  bool read_page(std::string_view key, std::string_view value) {
    const auto partition = number_of<uint32_t>(key);
    if (!partition || *partition >= leaves_.partitions()) return false;
    ByteReader reader(value);
    page_numbers_[*partition] = reader.varint();
    LeafPage page;
    for (Leaf& leaf : page) leaf = read_leaf(reader);
    leaves_.set_page(*partition, page);
    return reader.finished();
  }

  bool read_entry(BatchNumber number, std::string_view value) {
    ByteReader reader(value);
    JournalEnd end{.number = number, .oldest = reader.varint(), .stamper = {}};
    const BatchNumber needed_from = reader.varint();
    end.stamper.boot = Boot{reader.u64()};
    end.stamper.counter = reader.varint();
    end.stamper.highest_time = reader.varint();
    if (end.oldest == 0 || end.oldest > needed_from || needed_from > number) return false;
    if (end_.number == 0) {
      end_ = end;
      needed_from_ = needed_from;
    }

    uint64_t id = 0;
    for (size_t left = reader.count(kEntryLeafBytesMin); left > 0; --left) {
      id += reader.varint();
      if (id >= uint64_t{leaves_.partitions()} * kLeavesPerPartition) return false;
      take_leaf(static_cast<LeafId>(id), number, read_leaf(reader));
    }
    return reader.finished();
  }

  void take_leaf(LeafId id, BatchNumber number, const Leaf& leaf) {
    const Partition partition = id / kLeavesPerPartition;
    if (number <= page_numbers_[partition]) return;  // its page has that already
    first_touch_[partition] = number;
    auto is_read = is_read_[partition][id % kLeavesPerPartition];
    if (is_read) return;
    is_read = true;
    leaves_.set(id, leaf);
  }

  // A page is written with an entry, which is then the newest or has newer ones behind it.
  Status check_pages() const {
    const BatchNumber newest_page = *std::max_element(page_numbers_.begin(), page_numbers_.end());
    return newest_page <= end_.number ? Status() : missing({end_.number + 1, newest_page});
  }

  LeafTable leaves_;
  std::vector<BatchNumber> page_numbers_;
  std::vector<BatchNumber> first_touch_;                   // the first batch since the page; 0: none
  std::vector<std::bitset<kLeavesPerPartition>> is_read_;  // from an entry
  JournalEnd end_;
  BatchNumber needed_from_ = 0;
};

}  // namespace

Result<RecoveredLeaves> recover_leaves(Engine& engine, uint32_t partitions) {
  Recovery recovery(partitions);
  if (Status status = recovery.read_pages(engine); !status.ok()) return status;
  if (Status status = recovery.read_entries(engine); !status.ok()) return status;
  return recovery.take();
}

namespace {

// The newest entry that can be read.
JournalEnd newest_entry(Engine& engine) {
  const auto cursor = seek_all(engine, kEntryPrefix);
  for (; cursor->valid(); cursor->next()) {
    const auto inverted = number_of<BatchNumber>(cursor->key());
    ByteReader reader(cursor->value());
    reader.varint();  // the oldest entry, on disk and needed
    reader.varint();
    JournalEnd end;
    end.stamper.boot = Boot{reader.u64()};
    end.stamper.counter = reader.varint();
    end.stamper.highest_time = reader.varint();
    if (!inverted || !reader.ok()) continue;
    end.number = ~*inverted;
    return end;
  }
  return {};
}

}  // namespace

// One batch: a crash leaves the old leaves or the new ones. Pages are at most 10 KB each.
Status rewrite_leaves(Engine& engine, const LeafTable& leaves) {
  const JournalEnd end = newest_entry(engine);
  const BatchNumber number = end.number + 1;
  const std::unique_ptr<Batch> batch = engine.new_batch();
  for (const char prefix : {kEntryPrefix, kPagePrefix}) {
    const auto cursor = seek_all(engine, prefix);
    for (; cursor->valid(); cursor->next()) batch->erase(Family::kDigests, cursor->key());
    if (!cursor->status().ok()) return cursor->status();
  }
  std::string buffer;
  ByteWriter writer(buffer);
  for (Partition partition = 0; partition < leaves.partitions(); ++partition) {
    const LeafPage* page = leaves.page(partition);
    if (page == nullptr) continue;
    buffer.clear();
    writer.varint(number);
    for (const Leaf& leaf : *page) write_leaf(writer, leaf);
    batch->put(Family::kDigests, page_key(partition), buffer);
  }
  buffer.clear();
  writer.varint(number);
  writer.varint(number);
  writer.u64(end.stamper.boot.value);
  writer.varint(end.stamper.counter);
  writer.varint(end.stamper.highest_time);
  writer.varint(0);
  batch->put(Family::kDigests, entry_key(number), buffer);
  return engine.write(*batch, true);
}

LeafJournal::LeafJournal(LeafTable& leaves, const JournalEnd& end,
                         const std::vector<WaitingPartition>& waiting)
    : leaves_(leaves),
      last_number_(end.number),
      oldest_(end.oldest),
      waiting_(waiting.begin(), waiting.end()),
      is_waiting_(leaves.partitions()) {
  for (const WaitingPartition& each : waiting) is_waiting_[each.partition] = true;
}

void LeafJournal::touch(LeafId leaf) { touched_.push_back(leaf); }

void LeafJournal::finish(Batch& batch, const Stamper& stamper) {
  ++last_number_;
  sort_touched();
  await_pages();
  put_due_pages(batch);
  const BatchNumber needed_from = waiting_.empty() ? last_number_ : waiting_.front().since;
  erase_unneeded(batch, needed_from);
  put_entry(batch, needed_from, stamper);
  touched_.clear();
}

void LeafJournal::sort_touched() {
  std::sort(touched_.begin(), touched_.end());
  touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());
}

// Partitions begin to wait here, in order, and not where they were touched, so that recovery, which sees only
// the entry, makes the same queue.
void LeafJournal::await_pages() {
  for (const LeafId leaf : touched_) {
    const Partition partition = leaf / kLeavesPerPartition;
    if (is_waiting_[partition]) continue;
    is_waiting_[partition] = true;
    waiting_.push_back({partition, last_number_});
  }
}

void LeafJournal::put_due_pages(Batch& batch) {
  touches_ += std::max<uint64_t>(touched_.size(), kTouchesPerPage / kBatchesPerPage);
  for (; touches_ >= kTouchesPerPage && !waiting_.empty(); touches_ -= kTouchesPerPage) {
    const Partition partition = waiting_.front().partition;
    waiting_.pop_front();
    is_waiting_[partition] = false;
    put_page(batch, partition);
  }
  if (waiting_.empty()) touches_ = 0;
}

void LeafJournal::put_page(Batch& batch, Partition partition) {
  buffer_.clear();
  ByteWriter writer(buffer_);
  writer.varint(last_number_);
  for (const Leaf& leaf : *leaves_.page(partition)) write_leaf(writer, leaf);
  batch.put(Family::kDigests, page_key(partition), buffer_);
}

void LeafJournal::erase_unneeded(Batch& batch, BatchNumber needed_from) {
  const BatchNumber end = std::min(needed_from, oldest_ + kErasesPerBatchMax);
  for (; oldest_ < end; ++oldest_) batch.erase(Family::kDigests, entry_key(oldest_));
}

void LeafJournal::put_entry(Batch& batch, BatchNumber needed_from, const Stamper& stamper) {
  buffer_.clear();
  ByteWriter writer(buffer_);
  writer.varint(oldest_);
  writer.varint(needed_from);
  writer.u64(stamper.boot.value);
  writer.varint(stamper.counter);
  writer.varint(stamper.highest_time);
  writer.varint(touched_.size());
  LeafId previous = 0;
  for (const LeafId leaf : touched_) {
    writer.varint(leaf - previous);
    write_leaf(writer, leaves_.at(leaf));
    previous = leaf;
  }
  batch.put(Family::kDigests, entry_key(last_number_), buffer_);
}

}  // namespace ringkv
