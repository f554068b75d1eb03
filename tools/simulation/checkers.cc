#include "tools/simulation/checkers.h"

#include <algorithm>
#include <map>

#include "base/text.h"
#include "storage/record_codec.h"
#include "storage/record_hash.h"
#include "storage/storage_key.h"

namespace ringkv::simulation {
namespace {

// A client looks at its deadlines once a tick.
constexpr Duration kTick = std::chrono::milliseconds(10);

class KeyChecker {
 public:
  explicit KeyChecker(const KeyHistory& history) : history_(history) {
    for (const Write& write : history_.writes) {
      if (!write.is_delete) by_value_[write.value] = &write;
      replaced_.emplace(&write, first_replacement(write));
    }
  }

  std::optional<Violation> check() {
    check_dots();
    for (const Reading& reading : history_.readings) {
      check_values(reading);
      check_nothing_came_back(reading);
      check_nothing_is_missing(reading);
      if (violation_) return violation_;
    }
    check_contexts();
    return violation_;
  }

 private:
  void broken(std::string_view invariant, const std::string& what) {
    if (!violation_) violation_ = Violation{std::string(invariant), cat(history_.name(), ": ", what)};
  }

  // I4, and that a write was stamped once.
  void check_dots() {
    std::map<Dot, const Write*> stamped;
    for (const Write& write : history_.writes) {
      if (write.dots.size() > 1) broken("I5", cat(name_of(write.index), " was applied twice"));
      for (const Dot& dot : write.dots) {
        const auto [at, is_new] = stamped.emplace(dot, &write);
        if (!is_new)
          broken("I4", cat("one dot names ", name_of(at->second->index), " and ", name_of(write.index)));
      }
    }
    for (const Reading& reading : history_.readings) {
      std::set<std::string> values;
      std::set<Dot> dots;
      for (const auto& [dot, value] : reading.versions) {
        if (!dots.insert(dot).second) broken("I4", cat(name_of(reading.index), " shows one dot twice"));
        if (!values.insert(value).second) broken("I5", cat(name_of(reading.index), " shows one write twice"));
      }
    }
  }

  // I6; and I5: what failed never appears.
  void check_values(const Reading& reading) {
    if (!reading.values) return;
    for (const std::string& value : *reading.values) {
      const auto write = by_value_.find(value);
      if (write == by_value_.end() || write->second->invoked > reading.completed) {
        broken("I6", cat(name_of(reading.index), " shows what nobody had written: '",
                         escaped(value.substr(0, 40)), "'"));
      } else if (write->second->failed) {
        broken("I5",
               cat(name_of(reading.index), " shows ", name_of(write->second->index), ", which had failed"));
      }
    }
  }

  // True when `later` was acknowledged and is known to have replaced `write`.
  bool has_replaced(const Write& later, const Write& write) const {
    if (&later == &write || !later.acknowledged || later.lost_from != kNever) return false;
    const std::optional<Dot> dot = write.dot();
    const bool takes_all = !later.context || history_.last_writer_wins;
    if (takes_all && (write.known < later.invoked)) return true;
    if (takes_all && dot && later.left) return later.left->covers(*dot);
    if (later.seen_values.contains(write.value) && !write.is_delete) return true;
    return later.context && dot && later.context->covers(*dot);
  }

  // The one that was known first, or nullptr.
  const Write* first_replacement(const Write& write) const {
    const Write* first = nullptr;
    for (const Write& later : history_.writes) {
      if ((first == nullptr || later.known < first->known) && has_replaced(later, write)) first = &later;
    }
    return first;
  }

  const Write* replacement_before(const Write& write, Step step) const {
    const Write* later = replaced_.at(&write);
    return later != nullptr && later->known < step ? later : nullptr;
  }

  // I2, I3: what was replaced stays away.
  void check_nothing_came_back(const Reading& reading) {
    if (!reading.values) return;
    for (const std::string& value : *reading.values) {
      const auto found = by_value_.find(value);
      if (found == by_value_.end()) continue;
      const Write* later = replacement_before(*found->second, reading.invoked);
      if (later == nullptr) continue;
      broken(later->is_delete ? "I2" : "I3",
             cat(name_of(reading.index), " shows ", name_of(found->second->index), " again, which ",
                 name_of(later->index), " had ", later->is_delete ? "deleted" : "replaced"));
    }
  }

  bool may_have_replaced(const Write& later, const Write& write) const {
    if (&later == &write || later.failed) return false;
    if (later.known < write.invoked) return false;  // it was there before
    if (!later.context || history_.last_writer_wins) {
      const std::optional<Dot> dot = write.dot();
      return !dot || !later.left || later.left->covers(*dot);
    }
    const std::optional<Dot> dot = write.dot();
    return !dot || later.context->covers(*dot);
  }

  // The write is shown, or a delete or something shown may have replaced it, over however many steps.
  bool is_accounted_for(const Write& write, const Reading& reading, std::set<const Write*>& visited) const {
    if (!write.is_delete && reading.values->contains(write.value)) return true;
    for (const Write& later : history_.writes) {
      if (later.invoked > reading.completed || !may_have_replaced(later, write)) continue;
      if (!visited.insert(&later).second) continue;
      if (later.is_delete || is_accounted_for(later, reading, visited)) return true;
    }
    return false;
  }

  // I1, I3: what was acknowledged before, and what the reading's context claims to have seen, is accounted
  // for.
  void check_nothing_is_missing(const Reading& reading) {
    if (!reading.values) return;
    for (const Write& write : history_.writes) {
      if (write.invoked > reading.completed) return;
      if (write.is_delete || write.failed || write.lost_from < reading.completed) continue;
      if (replacement_before(write, reading.invoked) != nullptr || reading.values->contains(write.value))
        continue;
      const bool expected = write.known < reading.invoked;
      const bool covered = reading.context && write.dot() && reading.context->covers(*write.dot());
      if (!expected && !covered) continue;
      std::set<const Write*> visited = {&write};
      if (is_accounted_for(write, reading, visited)) continue;
      broken(expected ? "I1" : "I3", cat(name_of(reading.index), " lacks ", name_of(write.index),
                                         expected ? ", which was acknowledged" : ", which its context covers",
                                         " and which nothing replaced"));
    }
  }

  // Part of I1, for deletes too: a context covers all that was acknowledged before, but for what a power cut
  // may have taken; and between power cuts all that earlier readings had seen.
  void check_contexts() {
    std::vector<const Reading*> by_start;
    for (const Reading& reading : history_.readings) {
      if (reading.context) by_start.push_back(&reading);
    }
    std::vector<const Reading*> by_end = by_start;
    std::vector<const Write*> stamped;
    for (const Write& write : history_.writes) {
      if (write.acknowledged && write.dot() && write.lost_from == kNever) stamped.push_back(&write);
    }
    std::sort(by_start.begin(), by_start.end(), [](auto* a, auto* b) { return a->invoked < b->invoked; });
    std::sort(by_end.begin(), by_end.end(), [](auto* a, auto* b) { return a->completed < b->completed; });
    std::sort(stamped.begin(), stamped.end(), [](auto* a, auto* b) { return a->known < b->known; });

    VersionVector acknowledged;
    VersionVector seen;
    Step last_cut = 0;
    auto write = stamped.begin();
    auto earlier = by_end.begin();
    for (const Reading* reading : by_start) {
      const VersionVector& context = reading->context->vector;
      for (; write != stamped.end() && (*write)->known < reading->invoked; ++write) {
        acknowledged.raise((*write)->dot()->actor, (*write)->dot()->counter);
      }
      if (!context.covers(acknowledged)) {
        broken("I1", cat(name_of(reading->index), " has not seen what had been acknowledged"));
      }
      const Step cut = last_power_cut_before(reading->completed);
      if (cut > reading->invoked) continue;
      if (std::exchange(last_cut, cut) != cut) seen = {};
      for (; earlier != by_end.end() && (*earlier)->completed < reading->invoked; ++earlier) {
        if ((*earlier)->invoked > cut) seen.join((*earlier)->context->vector);
      }
      if (!context.covers(seen))
        broken("I1", cat(name_of(reading->index), " has not seen what an earlier one had"));
    }
  }

  Step last_power_cut_before(Step step) const {
    const auto cut = std::upper_bound(history_.power_cuts.begin(), history_.power_cuts.end(), step);
    return cut == history_.power_cuts.begin() ? 0 : *std::prev(cut);
  }

  const KeyHistory& history_;
  std::map<std::string_view, const Write*> by_value_;
  std::map<const Write*, const Write*>
      replaced_;  // each with the write that is known to have replaced it first
  std::optional<Violation> violation_;
};

bool is_expected(StatusCode code) {
  switch (code) {
    case StatusCode::kOk:
    case StatusCode::kUnavailable:
    case StatusCode::kUnknownOutcome:
    case StatusCode::kOverloaded:
    case StatusCode::kTooManySiblings:
    case StatusCode::kOutOfSpace:
      return true;
    default:
      return false;
  }
}

}  // namespace

std::optional<Violation> check_key_history(const KeyHistory& history) { return KeyChecker(history).check(); }

std::optional<Violation> check_answers(const History& history) {
  for (OperationIndex index = 0; index < history.operations().size(); ++index) {
    const Operation& operation = history.operations()[index];
    const bool answered = operation.completed != kNever;
    if (!answered || operation.completed_at > operation.invoked_at + operation.request.timeout + kTick) {
      return Violation{"deadline",
                       cat(name_of(index), answered ? " was answered too late" : " was never answered")};
    }
    const Status& status = operation.reply.status;
    if (!is_expected(status.code()))
      return Violation{"honest answers", cat(name_of(index), ": ", status.to_string())};
  }
  return std::nullopt;
}

std::optional<Violation> check_history(const History& history, const std::string& lww_bucket) {
  if (auto violation = check_answers(history)) return violation;
  for (const KeyHistory& key : key_histories(history, lww_bucket)) {
    if (auto violation = check_key_history(key)) return violation;
  }
  return std::nullopt;
}

std::optional<Violation> check_leaves(const LeafTable& leaves, const RingDescription& ring,
                                      const MemoryDisk& disk) {
  const std::unique_ptr<MemoryDisk> copy = disk.copy();
  MemoryEngine engine(*copy);
  const RecordHasher hasher(ring.secret);
  LeafTable recomputed(leaves.partitions());
  const std::unique_ptr<Cursor> cursor = engine.seek(Family::kData, {}, {});
  for (; cursor->valid(); cursor->next()) {
    const std::optional<StorageKeyParts> parts = parse_storage_key(cursor->key());
    const Result<Record> record = decode_record(cursor->value());
    if (!parts || !record.ok())
      return Violation{"leaves", cat("unreadable record ", display_key(cursor->key()))};
    const uint64_t bytes = content_bytes(parts->key, *record);
    Leaf& leaf = recomputed.at(leaf_of(parts->token, leaves.partitions()));
    leaf.hash ^= hasher.hash(digest_of(parts->bucket, parts->key), *record);
    leaf.keys += bytes > 0 ? 1 : 0;
    leaf.bytes += bytes;
  }
  static const LeafPage kEmpty{};
  for (Partition partition = 0; partition < leaves.partitions(); ++partition) {
    const LeafPage* kept = leaves.page(partition);
    const LeafPage* found = recomputed.page(partition);
    if (kept == found) continue;  // neither was ever touched
    if ((kept == nullptr ? kEmpty : *kept) == (found == nullptr ? kEmpty : *found)) continue;
    return Violation{"leaves", cat("partition ", partition, " doesn't match its data")};
  }
  return std::nullopt;
}

}  // namespace ringkv::simulation
