#include "tools/simulation/checkers.h"

#include "base/text.h"
#include "storage/record_codec.h"
#include "storage/record_hash.h"
#include "storage/storage_key.h"
#include "tools/simulation/key_checker.h"
#include "tools/simulation/receipts_checker.h"
#include "tools/simulation/ring_history.h"

namespace ringkv::simulation {
namespace {

// A client looks at its deadlines once a tick.
constexpr Duration kTick = std::chrono::milliseconds(10);

struct BucketOf {
  const std::string* operator()(const ClientPut& body) const { return &body.bucket; }
  const std::string* operator()(const ClientGet& body) const { return &body.bucket; }
  const std::string* operator()(const ClientScan& body) const { return &body.bucket; }
  const std::string* operator()(const ClientLocalGet& body) const { return &body.bucket; }
  const std::string* operator()(const ClientChangeBucket& body) const { return &body.name; }
  template <class Other>
  const std::string* operator()(const Other&) const {
    return nullptr;
  }
};

bool asks_for_unknown_bucket(const Operation& operation, const RingFacts& ring) {
  const std::string* bucket = std::visit(BucketOf(), operation.request.body);
  if (bucket == nullptr) return false;
  const auto since = ring.bucket_since.find(*bucket);
  return since != ring.bucket_since.end() && operation.reply.epoch < since->second;
}

bool names_who_has_left(const Operation& operation, const RingFacts& ring) {
  const auto* get = std::get_if<ClientLocalGet>(&operation.request.body);
  return get != nullptr && ring.left.contains(get->node);
}

// A change of the ring through a node that learns meanwhile that it is no member any more.
bool asked_former_member(const Operation& operation, const RingFacts& ring) {
  return !ring.left.empty() && std::holds_alternative<ClientChangeBucket>(operation.request.body);
}

// Of a key that has fewer owners.
bool asks_too_many(const Operation& operation, const RingFacts& ring) {
  const auto* put = std::get_if<ClientPut>(&operation.request.body);
  const auto* get = std::get_if<ClientGet>(&operation.request.body);
  const uint32_t asked = put != nullptr ? put->w : (get != nullptr ? get->r : 0);
  return ring.rings != nullptr && asked > ring.rings->fewest_copies();
}

bool is_expected(const Operation& operation, const RingFacts& ring) {
  switch (operation.reply.status.code()) {
    case StatusCode::kOk:
    case StatusCode::kUnavailable:
    case StatusCode::kUnknownOutcome:
    case StatusCode::kOverloaded:
    case StatusCode::kTooManySiblings:
    case StatusCode::kOutOfSpace:
    case StatusCode::kStaleEpoch:
      return true;
    case StatusCode::kCorruption:
      return ring.files_damaged;  // and nothing was written
    case StatusCode::kForbidden:
      return asked_former_member(operation, ring);
    case StatusCode::kInvalidArgument:
      return asks_for_unknown_bucket(operation, ring) || names_who_has_left(operation, ring) ||
             asks_too_many(operation, ring);
    default:
      return false;
  }
}

}  // namespace

std::optional<Violation> check_answers(const History& history, const RingFacts& ring) {
  for (OperationIndex index = 0; index < history.operations().size(); ++index) {
    const Operation& operation = history.operations()[index];
    const bool answered = operation.completed != kNever;
    if (!answered || operation.completed_at > operation.invoked_at + operation.request.timeout + kTick) {
      return Violation{"deadline",
                       cat(name_of(index), answered ? " was answered too late" : " was never answered")};
    }
    if (!is_expected(operation, ring))
      return Violation{"honest answers", cat(name_of(index), ": ", operation.reply.status.to_string())};
  }
  return std::nullopt;
}

std::optional<Violation> check_history(const History& history, const RingFacts& ring) {
  if (auto violation = check_answers(history, ring)) return violation;
  if (auto violation = check_receipts(history, ring)) return violation;
  const DiskLosses losses(history);
  for (const KeyHistory& key : key_histories(history, ring, losses)) {
    if (auto violation = KeyChecker(key, ring, losses, history.calendar()).check()) return violation;
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
    const LeafId id = leaf_of(parts->token, leaves.partitions());
    Leaf leaf = recomputed.at(id);
    leaf.hash ^= hasher.hash(digest_of(parts->bucket, parts->key), *record);
    leaf.keys += bytes > 0 ? 1 : 0;
    leaf.bytes += bytes;
    recomputed.set(id, leaf);
  }
  if (!cursor->status().ok()) return std::nullopt;  // a damaged file that nobody has come across yet
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
