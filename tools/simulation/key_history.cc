#include "tools/simulation/key_history.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "base/text.h"
#include "storage/place.h"
#include "storage/record_codec.h"
#include "tools/simulation/ring_history.h"

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
  Sorter(const History& history, const RingFacts& ring, const DiskLosses& losses)
      : history_(history), ring_(ring), losses_(losses) {}

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
      for (const Reading& reading : history.readings) find_holders(history, reading);
      histories.push_back(std::move(history));
    }
    return histories;
  }

 private:
  KeyHistory& key(const std::string& bucket, const std::string& key) {
    const auto [at, is_new] = keys_.try_emplace({bucket, key});
    KeyHistory& history = at->second;
    if (!is_new) return history;
    history.bucket = bucket;
    history.key = key;
    history.last_writer_wins = bucket == ring_.lww_bucket;
    return history;
  }

  std::optional<CausalContext> context(const KeyHistory& history, const std::string& bytes) const {
    if (bytes.empty()) return CausalContext();
    const Place place = place_of({.partitions = kAnyPartitions}, history.bucket, history.key);
    Result<CausalContext> decoded = decode_client_context(bytes, place.token);
    if (!decoded.ok()) return std::nullopt;
    return std::move(*decoded);
  }

  // ---- writes

  void take_write(OperationIndex index) {
    const Operation& operation = history_.operations()[index];
    const auto& put = std::get<ClientPut>(operation.request.body);
    KeyHistory& history = key(put.bucket, put.key);
    if (!operation.first_try) add_write(history, index, put);
    Write& write = *writes_.at(operation.first_try.value_or(index));
    tries_[&write].push_back(index);
    const auto* receipt = std::get_if<PutReceipt>(&operation.reply.body);
    if (!is_ok(operation) || receipt == nullptr) return;
    write.acknowledged = true;
    learn(write, operation.completed, operation.completed_at);
    take_acknowledgements(write, operation, *receipt);
    take_left(history, write, operation, *receipt);
  }

  void add_write(KeyHistory& history, OperationIndex index, const ClientPut& put) {
    const Operation& operation = history_.operations()[index];
    Write& write = history.writes.emplace_back();
    writes_[index] = &write;
    write.index = index;
    write.client = operation.client;
    write.value = put.value;
    write.is_delete = put.tombstone;
    write.invoked = operation.invoked;
    write.invoked_at = operation.invoked_at;
    if (put.ttl_ms) write.ttl = std::chrono::milliseconds(*put.ttl_ms);
    write.synced = put.durability.value_or(Durability::kSynced) == Durability::kSynced;
    write.reads_first = !put.context && (put.read_first || put.tombstone);
    if (put.context) write.context = context(history, *put.context);
    if (!operation.context_source) return;
    const ClientReply& source = history_.operations()[*operation.context_source].reply;
    if (const auto* seen = std::get_if<GetResult>(&source.body)) {
      write.seen_values.insert(seen->values.begin(), seen->values.end());
    }
  }

  // The owners and the hint holders that a receipt names. That of a repeated operation may name none.
  void take_acknowledgements(Write& write, const Operation& operation, const PutReceipt& receipt) const {
    const DiskLosses::Written written{write.invoked, operation.completed};
    for (const Acknowledgement& ack : receipt.acks) {
      const bool hint = ack.kind == Acknowledgement::Kind::kHint;
      if (hint && ring_.gone.contains(ack.hint_for)) continue;  // it never gets there
      const bool synced = hint ? write.synced : ack.kind == Acknowledgement::Kind::kSynced;
      write.held.push_back({ack.node, 1, written, synced, hint});
    }
  }

  // Only the node that stamped it, asked first, speaks of what the stamp left.
  void take_left(KeyHistory& history, Write& write, const Operation& operation,
                 const PutReceipt& receipt) const {
    const std::string& left = operation.reply.seen.empty() ? receipt.context.bytes() : operation.reply.seen;
    const std::optional<OperationName> name = operation_named_in(operation.reply);
    if (left.empty() || receipt.acks.empty() || !name || name->boot != operation.reply.boot) return;
    write.left = context(history, left);
    if (!write.left) return;
    if (!operation.first_try) write.left_told = operation.completed;
    write.left_alone = write.left_alone || !receipt.context.empty();
    // The stamp is the newest that its life had made.
    for (const VersionVector::Entry& entry : write.left->vector.entries()) {
      if (entry.actor.boot == operation.reply.boot) write.dots.insert(Dot{entry.actor, entry.counter});
    }
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

  // It had been stamped by then.
  static void learn(Write& write, Step step, Time time) {
    write.known = std::min(write.known, step);
    write.stamped_until = std::min(write.stamped_until.value_or(time), time);
  }

  // ---- readings

  void take_reading(OperationIndex index) {
    const Operation& operation = history_.operations()[index];
    const ClientRequest::Body& asked = operation.request.body;
    const ClientReply::Body& answer = operation.reply.body;
    Reading reading;
    reading.index = index;
    reading.look = {.invoked = operation.invoked,
                    .completed = operation.completed,
                    .healed = operation.invoked > history_.healed(),
                    .invoked_at = operation.invoked_at,
                    .completed_at = operation.completed_at};
    if (const auto* get = std::get_if<ClientGet>(&asked)) {
      reading.look.read_quorum = get->r;
      KeyHistory& history = key(get->bucket, get->key);
      if (const auto* result = std::get_if<GetResult>(&answer)) {
        reading.values.emplace(result->values.begin(), result->values.end());
        reading.context = context(history, result->context.bytes());
        reading.confirmed = !result->unconfirmed;
      } else if (!std::get<ExistsAnswer>(answer).found) {
        reading.values.emplace();
      }
      add_reading(history, std::move(reading));
    } else if (const auto* look = std::get_if<ClientLocalGet>(&asked)) {
      reading.look.node = look->node;
      KeyHistory& history = key(look->bucket, look->key);
      take_local_record(history, std::get<LocalRecord>(answer), std::move(reading));
    } else if (const auto* scan = std::get_if<ClientScan>(&asked)) {
      take_page(scan->bucket, std::get<ScanPage>(answer), reading);
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

  // A page that is the whole bucket speaks of all its keys; another only of those in it.
  void take_page(const std::string& bucket, const ScanPage& page, const Reading& reading) {
    std::map<std::string, const ScanEntry*> entries;
    for (const ScanEntry& entry : page.entries) {
      entries[entry.key] = &entry;
      key(bucket, entry.key);
    }
    for (auto& [name, history] : keys_) {
      if (history.bucket != bucket) continue;
      const auto entry = entries.find(history.key);
      if (entry == entries.end() && !page.after.empty()) continue;
      Reading shown = reading;
      shown.values.emplace();
      if (entry != entries.end())
        shown.values->insert(entry->second->values.begin(), entry->second->values.end());
      add_reading(history, std::move(shown));
    }
  }

  void add_reading(KeyHistory& history, Reading reading) {
    for (Write& write : history.writes) {
      if (!shows(reading, write)) continue;
      learn(write, reading.look.completed, reading.look.completed_at);
      if (reading.context) keep_smallest(write.shown_within, *reading.context);
    }
    for (const auto& [dot, value] : reading.versions) {
      for (Write& write : history.writes) {
        if (!write.is_delete && write.value == value) write.dots.insert(dot);
      }
    }
    history.readings.push_back(std::move(reading));
  }

  static void keep_smallest(std::vector<CausalContext>& contexts, const CausalContext& context) {
    const auto is_covered_by = [](const CausalContext& one, const CausalContext& other) {
      return other.vector.covers(one.vector);
    };
    if (std::any_of(contexts.begin(), contexts.end(),
                    [&](const CausalContext& kept) { return is_covered_by(kept, context); }))
      return;
    std::erase_if(contexts, [&](const CausalContext& kept) { return is_covered_by(context, kept); });
    contexts.push_back(context);
  }

  static bool shows(const Reading& reading, const Write& write) {
    return reading.values && !write.is_delete && reading.values->contains(write.value);
  }

  // A record whose context covers a write has merged it, and so have all owners that hold the record; but of
  // contexts in a bucket of winners, owners with equal versions may differ.
  void find_holders(KeyHistory& history, const Reading& reading) const {
    const bool local = !reading.look.node.empty();
    if (!local && !reading.confirmed) return;
    const bool by_context = reading.context && (local || !history.last_writer_wins);
    Held held{.node = reading.look.node, .owners = local ? 1 : confirming(history, reading.look)};
    held.written = {reading.look.invoked, reading.look.completed};
    for (Write& write : history.writes) {
      const bool covered = by_context && write.is_within(*reading.context);
      if (covered) learn(write, reading.look.completed, reading.look.completed_at);
      held.synced = write.synced && write.dot() && is_stamper(reading.look.node, *write.dot());
      if ((covered || shows(reading, write)) && says_more(held, write)) write.held.push_back(held);
    }
  }

  // By whatever list it went.
  uint32_t confirming(const KeyHistory& history, const Look& look) const {
    if (ring_.rings == nullptr) return confirming_of(ring_.copies);
    return confirming_of(
        ring_.rings->copies(history.bucket, history.key, look.invoked, look.completed).fewest);
  }

  // The node that stamped a write shows it as safe as it was asked to be; another may have it from a record
  // that was only buffered.
  bool is_stamper(const std::string& node, const Dot& dot) const {
    const auto name = ring_.names.find(dot.actor.node);
    return name != ring_.names.end() && name->second == node;
  }

  bool says_more(const Held& held, const Write& write) const {
    return std::none_of(write.held.begin(), write.held.end(), [&](const Held& before) {
      if (before.node != held.node || before.owners < held.owners || before.synced < held.synced)
        return false;
      if (before.written.known > held.written.known || before.hint) return false;
      const bool disk_lost =
          held.node.empty()
              ? losses_.any_disk_lost_between(before.written.since, held.written.known)
              : losses_.any_disk_lost_between(held.node, before.written.since, held.written.known);
      if (disk_lost) return false;
      return before.synced ||
             !(held.node.empty()
                   ? losses_.any_cut_between(before.written.since, held.written.known)
                   : losses_.any_cut_between(held.node, before.written.since, held.written.known));
    });
  }

  const History& history_;
  const RingFacts& ring_;
  const DiskLosses& losses_;
  std::map<std::pair<std::string, std::string>, KeyHistory> keys_;
  std::map<OperationIndex, Write*> writes_;
  std::map<const Write*, std::vector<OperationIndex>> tries_;
};

}  // namespace

std::string KeyHistory::name() const {
  return cat(bucket.empty() ? "" : "bucket " + bucket + ", ", "key ", key);
}

std::vector<KeyHistory> key_histories(const History& history, const RingFacts& ring,
                                      const DiskLosses& losses) {
  return Sorter(history, ring, losses).sorted();
}

}  // namespace ringkv::simulation
