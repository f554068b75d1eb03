#include "tools/simulation/key_history.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "storage/place.h"
#include "storage/record_codec.h"

namespace ringkv::simulation {
namespace {

constexpr uint32_t kAnyPartitions = 1;  // tokens don't depend on it

bool is_unknown(const Operation& operation) {
  return operation.completed == kNever || operation.reply.status.code() == StatusCode::kUnknownOutcome;
}
bool is_ok(const Operation& operation) {
  return operation.completed != kNever && operation.reply.status.ok();
}

// "NODE-BOOT:COUNTER", as local gets show it.
std::optional<Dot> dot_from(std::string_view text) {
  const size_t dash = text.find('-');
  const size_t colon = text.find(':');
  if (dash == std::string_view::npos || colon == std::string_view::npos || colon < dash) return std::nullopt;
  const auto node = from_hex(text.substr(0, dash));
  const auto boot = from_hex(text.substr(dash + 1, colon - dash - 1));
  const std::string_view digits = text.substr(colon + 1);
  uint64_t counter = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), counter);
  if (!node || !boot || error != std::errc()) return std::nullopt;
  return Dot{{NodeId{*node}, Boot{*boot}}, counter};
}

class Sorter {
 public:
  Sorter(const History& history, std::string lww_bucket)
      : history_(history), lww_bucket_(std::move(lww_bucket)) {}

  std::vector<KeyHistory> sorted() {
    const std::vector<Operation>& operations = history_.operations();
    for (OperationIndex index = 0; index < operations.size(); ++index) {
      if (std::holds_alternative<ClientPut>(operations[index].request.body)) take_write(index);
    }
    for (OperationIndex index = 0; index < operations.size(); ++index) {
      if (is_ok(operations[index])) take_reading(index);
    }
    std::vector<KeyHistory> histories;
    for (auto& [name, history] : keys_) {
      for (Write& write : history.writes) settle(write);
      find_losses(history);
      histories.push_back(std::move(history));
    }
    return histories;
  }

 private:
  KeyHistory& key(uint32_t ring, const std::string& bucket, const std::string& key) {
    const auto [at, is_new] = keys_.try_emplace({ring, bucket, key});
    KeyHistory& history = at->second;
    if (!is_new) return history;
    history.ring = ring;
    history.bucket = bucket;
    history.key = key;
    history.last_writer_wins = bucket == lww_bucket_;
    for (const PowerCut& cut : history_.power_cuts()) {
      if (cut.ring == ring) history.power_cuts.push_back(cut.at);
    }
    return history;
  }

  std::optional<CausalContext> context(const KeyHistory& history, const std::string& bytes) const {
    if (bytes.empty()) return CausalContext();
    const Place place = place_of({.partitions = kAnyPartitions}, history.bucket, history.key);
    Result<CausalContext> decoded = decode_client_context(bytes, place.token);
    if (!decoded.ok()) return std::nullopt;
    return std::move(*decoded);
  }

  void take_write(OperationIndex index) {
    const Operation& operation = history_.operations()[index];
    const auto& put = std::get<ClientPut>(operation.request.body);
    KeyHistory& history = key(operation.ring, put.bucket, put.key);
    if (!operation.first_try) add_write(history, index, put);
    Write& write = *writes_.at(operation.first_try.value_or(index));
    tries_[&write].push_back(index);
    const auto* receipt = std::get_if<PutReceipt>(&operation.reply.body);
    if (!is_ok(operation) || receipt == nullptr) return;
    write.acknowledged = true;
    write.known = std::min(write.known, operation.completed);
    if (receipt->context.empty()) return;  // siblings stayed beside it, or the operation was a repeated one
    write.left = context(history, receipt->context.bytes());
    if (!write.left) return;
    // The stamp is the newest that its life had made.
    for (const VersionVector::Entry& entry : write.left->vector.entries()) {
      if (entry.actor.boot == operation.reply.boot) write.dots.insert(Dot{entry.actor, entry.counter});
    }
  }

  void add_write(KeyHistory& history, OperationIndex index, const ClientPut& put) {
    const Operation& operation = history_.operations()[index];
    Write& write = history.writes.emplace_back();
    writes_[index] = &write;
    write.index = index;
    write.value = put.value;
    write.is_delete = put.tombstone;
    write.synced = put.durability.value_or(Durability::kSynced) == Durability::kSynced;
    write.invoked = operation.invoked;
    if (put.context) write.context = context(history, *put.context);
    if (!operation.context_source) return;
    const ClientReply& source = history_.operations()[*operation.context_source].reply;
    if (const auto* seen = std::get_if<GetResult>(&source.body)) {
      write.seen_values.insert(seen->values.begin(), seen->values.end());
    }
  }

  void take_reading(OperationIndex index) {
    const Operation& operation = history_.operations()[index];
    const ClientRequest::Body& asked = operation.request.body;
    const ClientReply::Body& answer = operation.reply.body;
    Reading reading{.index = index, .invoked = operation.invoked, .completed = operation.completed};
    if (const auto* get = std::get_if<ClientGet>(&asked)) {
      KeyHistory& history = key(operation.ring, get->bucket, get->key);
      if (const auto* result = std::get_if<GetResult>(&answer)) {
        reading.values.emplace(result->values.begin(), result->values.end());
        reading.context = context(history, result->context.bytes());
      } else if (!std::get<ExistsAnswer>(answer).found) {
        reading.values.emplace();
      }
      add_reading(history, std::move(reading));
    } else if (const auto* look = std::get_if<ClientLocalGet>(&asked)) {
      KeyHistory& history = key(operation.ring, look->bucket, look->key);
      take_local_record(history, std::get<LocalRecord>(answer), std::move(reading));
    } else if (const auto* scan = std::get_if<ClientScan>(&asked)) {
      take_page(operation.ring, scan->bucket, std::get<ScanPage>(answer), reading);
    }
  }

  void take_local_record(KeyHistory& history, const LocalRecord& record, Reading reading) {
    reading.values.emplace();
    for (const VersionInfo& version : record.versions) {
      const std::optional<Dot> dot = dot_from(version.dot);
      if (version.tombstone || !dot) continue;
      reading.values->insert(version.value);
      reading.versions.emplace_back(*dot, version.value);
    }
    reading.context = context(history, record.context.bytes());
    add_reading(history, std::move(reading));
  }

  // A page that is the whole bucket speaks of all its keys.
  void take_page(uint32_t ring, const std::string& bucket, const ScanPage& page, const Reading& reading) {
    if (!page.after.empty()) return;
    std::map<std::string, const ScanEntry*> entries;
    for (const ScanEntry& entry : page.entries) {
      entries[entry.key] = &entry;
      key(ring, bucket, entry.key);
    }
    for (auto& [name, history] : keys_) {
      if (history.ring != ring || history.bucket != bucket) continue;
      Reading shown = reading;
      shown.values.emplace();
      const auto entry = entries.find(history.key);
      if (entry != entries.end())
        shown.values->insert(entry->second->values.begin(), entry->second->values.end());
      add_reading(history, std::move(shown));
    }
  }

  void add_reading(KeyHistory& history, Reading reading) {
    for (Write& write : history.writes) {
      if (!reading.values || write.is_delete || !reading.values->contains(write.value)) continue;
      write.known = std::min(write.known, reading.completed);
      const ClientRequest::Body& asked = history_.operations()[reading.index].request.body;
      write.seen_committed = write.seen_committed || !std::holds_alternative<ClientScan>(asked);
    }
    for (const auto& [dot, value] : reading.versions) {
      for (Write& write : history.writes) {
        if (!write.is_delete && write.value == value) write.dots.insert(dot);
      }
    }
    history.readings.push_back(std::move(reading));
  }

  // Failed: no try was acknowledged, and the one that says so began when all others had ended.
  void settle(Write& write) {
    if (write.acknowledged) return;
    Step others_ended = 0;
    const Operation* last = nullptr;
    for (const OperationIndex index : tries_[&write]) {
      const Operation& operation = history_.operations()[index];
      if (last == nullptr || operation.invoked > last->invoked) last = &operation;
    }
    for (const OperationIndex index : tries_[&write]) {
      const Operation& operation = history_.operations()[index];
      if (&operation != last) others_ended = std::max(others_ended, operation.completed);
    }
    write.failed = !is_unknown(*last) && others_ended < last->invoked;
  }

  // What was only buffered is safe from the next power cut once a later write of that node has been synced
  // before it.
  void find_losses(KeyHistory& history) {
    for (Write& write : history.writes) {
      if (write.known == kNever || (write.synced && (write.acknowledged || write.seen_committed))) continue;
      // A cut may fall between the acknowledgement and its arrival.
      const auto cut = std::upper_bound(history.power_cuts.begin(), history.power_cuts.end(), write.invoked);
      if (cut != history.power_cuts.end() && !synced_between(history.ring, write.known, *cut))
        write.lost_from = *cut;
    }
  }

  bool synced_between(uint32_t ring, Step after, Step before) {
    if (syncs_.empty()) collect_syncs();
    const auto& syncs = syncs_[ring];
    for (auto sync = syncs.upper_bound(after); sync != syncs.end() && sync->first < before; ++sync) {
      if (sync->second < before) return true;
    }
    return false;
  }

  void collect_syncs() {
    for (const Operation& operation : history_.operations()) {
      const auto* put = std::get_if<ClientPut>(&operation.request.body);
      if (put == nullptr || !is_ok(operation) || operation.first_try) continue;
      if (put->durability == Durability::kBuffered) continue;
      syncs_[operation.ring].emplace(operation.invoked, operation.completed);
    }
  }

  const History& history_;
  const std::string lww_bucket_;
  std::map<std::tuple<uint32_t, std::string, std::string>, KeyHistory> keys_;
  std::map<OperationIndex, Write*> writes_;
  std::map<const Write*, std::vector<OperationIndex>> tries_;
  std::map<uint32_t, std::map<Step, Step>> syncs_;  // of each ring: invoked, completed
};

}  // namespace

std::string KeyHistory::name() const {
  return cat("ring ", ring + 1, ", ", bucket.empty() ? "" : "bucket " + bucket + ", ", "key ", key);
}

std::string name_of(OperationIndex index) { return cat("operation ", index); }

std::vector<KeyHistory> key_histories(const History& history, const std::string& lww_bucket) {
  return Sorter(history, lww_bucket).sorted();
}

}  // namespace ringkv::simulation
