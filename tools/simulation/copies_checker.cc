#include "tools/simulation/copies_checker.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <tuple>

#include "base/text.h"
#include "storage/record_codec.h"
#include "storage/storage_key.h"

namespace ringkv::simulation {
namespace {

constexpr size_t kNodeBytes = 8;  // in front of a hint's key
// Around its expiry a value may be there or not: the skew bound, and until it is looked for.
constexpr uint64_t kExpiryMs = 12'000;

// All entries of one family, in order, up to what can't be read.
template <class Visit>
Status each_entry(const MemoryDisk& disk, Family family, Visit visit) {
  const std::unique_ptr<MemoryDisk> copy = disk.copy();
  MemoryEngine engine(*copy);
  const std::unique_ptr<Cursor> cursor = engine.seek(family, {}, {});
  for (; cursor->valid(); cursor->next()) visit(cursor->key(), cursor->value());
  return cursor->status();
}

std::string text_of(std::string_view storage_key) {
  const std::optional<StorageKeyParts> parts = parse_storage_key(storage_key);
  if (!parts) return cat("unreadable key ", display_key(storage_key));
  return cat(parts->bucket.empty() ? "" : cat("bucket ", parts->bucket, ", "), "key ", parts->key);
}

std::vector<NodeId> owners_of(const Ring& ring, std::string_view storage_key) {
  std::vector<NodeId> owners;
  const std::optional<StorageKeyParts> parts = parse_storage_key(storage_key);
  if (!parts) return owners;
  const Partition partition = partition_of(parts->token, ring.partitions());
  for (const auto& list : {ring.preference_list(partition), ring.next_preference_list(partition)}) {
    for (const uint16_t position : list) owners.push_back(ring.member(position).node);
  }
  return owners;
}

bool contains(const std::vector<NodeId>& nodes, NodeId node) {
  return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
}

// What must be equal.
using Versions = std::vector<std::tuple<Dot, VersionKind, HybridTime, uint64_t, std::string>>;

Versions versions_of(const Record& record) {
  Versions versions;
  for (const Version& version : record.versions) {
    versions.emplace_back(version.dot, version.kind, version.time, version.expires_at_ms, version.value);
  }
  return versions;
}

std::string text_of(const Versions& versions) {
  std::string text;
  for (const auto& [dot, kind, time, expires_at, value] : versions) {
    text += cat(text.empty() ? "" : ", ", hex(dot.actor.boot.value), ":", dot.counter,
                kind == VersionKind::kTombstone ? " deleted" : "", expires_at > 0 ? " expires" : "");
  }
  return text.empty() ? "nothing" : text;
}

class CopiesChecker {
 public:
  explicit CopiesChecker(const Convergent& found) : found_(found) {}

  std::optional<Violation> verdict() {
    for (const NodeCopy& copy : found_.copies) {
      if (!violation_) violation_ = check_keys_owned(copy, *found_.ring);
      take_hints(copy);
      take_records(copy);
    }
    for (const auto& [key, holders] : holders_) compare(key, holders);
    return violation_;
  }

 private:
  void broken(std::string_view invariant, const std::string& what) {
    if (!violation_) violation_ = Violation{std::string(invariant), what};
  }

  bool is_there(NodeId node) const {
    return std::any_of(found_.copies.begin(), found_.copies.end(),
                       [&](const NodeCopy& copy) { return copy.node == node; });
  }
  bool all_are_there() const {
    const std::vector<Member>& members = found_.ring->description().members;
    return std::all_of(members.begin(), members.end(),
                       [&](const Member& member) { return is_there(member.node); });
  }

  bool expires_soon(const Record& record) const {
    if (found_.expires_within_ms == 0) return false;
    return std::any_of(record.versions.begin(), record.versions.end(), [this](const Version& version) {
      return version.expires_at_ms + kExpiryMs > found_.now_ms &&
             version.expires_at_ms < found_.now_ms + found_.expires_within_ms;
    });
  }

  void take_hints(const NodeCopy& copy) {
    uint64_t hints = 0;
    (void)each_entry(*copy.disk, Family::kHints,
                     [&](std::string_view key, std::string_view) { hints += waits_for_gone(key) ? 0 : 1; });
    if (hints > 0) broken("L2", cat(copy.name, " still has ", hints, " hints"));
  }

  // Of a key that its node owns no more a hint goes to all owners at once, or becomes a hint for one that is
  // gone; there may be no room for more of those.
  bool waits_for_gone(std::string_view hint_key) const {
    const NodeId intended = intended_by(hint_key);
    const std::vector<NodeId> owners = owners_of(*found_.ring, hint_key.substr(kNodeBytes));
    if (contains(owners, intended)) return !is_there(intended);
    const bool is_member = found_.ring->description().find_member(intended) != nullptr;
    return (is_member && !is_there(intended)) ||
           std::any_of(owners.begin(), owners.end(), [this](NodeId owner) { return !is_there(owner); });
  }

  void take_records(const NodeCopy& copy) {
    const bool nothing_blocks = all_are_there();
    const Status read =
        each_entry(*copy.disk, Family::kData, [&](std::string_view key, std::string_view bytes) {
          if (!contains(owners_of(*found_.ring, key), copy.node)) return;  // a former owner's
          const Result<Record> record = decode_record(bytes);
          if (!record.ok()) return broken("I6", cat(copy.name, " can't read ", text_of(key)));
          if (!record->versions.empty()) holders_[std::string(key)][copy.node] = versions_of(*record);
          if (record->has_live_value(found_.now_ms + kExpiryMs)) live_.insert(std::string(key));
          if (expires_soon(*record)) broken("expiry", cat(text_of(key), " is about to expire"));
          if (nothing_blocks && !record->has_live_value(found_.now_ms - kExpiryMs)) {
            broken("tombstones", cat(copy.name, " still remembers ", text_of(key),
                                     ", of which nothing is live: ", text_of(versions_of(*record))));
          }
        });
    if (!read.ok()) broken("I6", cat(copy.name, " hasn't set its damaged records aside: ", read.message()));
  }

  void compare(const std::string& key, const std::map<NodeId, Versions>& holders) {
    if (!live_.contains(key)) return;
    for (const NodeId owner : owners_of(*found_.ring, key)) {
      if (!is_there(owner)) continue;
      const auto held = holders.find(owner);
      const Versions& expected = holders.begin()->second;
      if (held != holders.end() && held->second == expected) continue;
      broken("L3", cat(name_of(owner), " and ", name_of(holders.begin()->first), " have different copies of ",
                       text_of(key), ": ", text_of(held == holders.end() ? Versions() : held->second),
                       "; and ", text_of(expected)));
    }
  }

  std::string name_of(NodeId node) const {
    const Member* member = found_.ring->description().find_member(node);
    return member == nullptr ? hex(node.value) : member->name;
  }

 public:
  static NodeId intended_by(std::string_view hint_key) {
    uint64_t node = 0;
    for (size_t i = 0; i < std::min(hint_key.size(), kNodeBytes); ++i)
      node = node << 8 | static_cast<uint8_t>(hint_key[i]);
    return NodeId{node};
  }

 private:
  const Convergent& found_;
  std::map<std::string, std::map<NodeId, Versions>> holders_;
  std::set<std::string> live_;  // keys
  std::optional<Violation> violation_;
};

}  // namespace

std::optional<Violation> check_copies(const Convergent& found) { return CopiesChecker(found).verdict(); }

std::optional<Violation> check_keys_owned(const NodeCopy& copy, const Ring& ring) {
  std::optional<Violation> violation;
  const auto broken = [&](const std::string& what) {
    if (!violation) violation = Violation{"I9", cat(copy.name, what)};
  };
  (void)each_entry(*copy.disk, Family::kData, [&](std::string_view key, std::string_view) {
    const std::optional<StorageKeyParts> parts = parse_storage_key(key);
    const bool is_former = parts && copy.former.contains(partition_of(parts->token, ring.partitions()));
    if (!is_former && !contains(owners_of(ring, key), copy.node))
      broken(cat(" has ", text_of(key), " and doesn't own it"));
  });
  (void)each_entry(*copy.disk, Family::kHints, [&](std::string_view key, std::string_view) {
    const NodeId intended = CopiesChecker::intended_by(key);
    if (intended == copy.node) broken(" has a hint for itself");
    if (ring.description().find_member(intended) == nullptr && !copy.once_members.contains(intended))
      broken(" has a hint for who was never a member");
  });
  return violation;
}

std::vector<KeptHint> kept_hints(const MemoryDisk& disk) {
  std::vector<KeptHint> hints;
  (void)each_entry(disk, Family::kHints, [&](std::string_view key, std::string_view) {
    const std::optional<StorageKeyParts> parts =
        parse_storage_key(key.substr(std::min(key.size(), kNodeBytes)));
    if (parts) hints.push_back({CopiesChecker::intended_by(key), parts->token});
  });
  return hints;
}

std::optional<Violation> check_erasure(const RecordStore& store, std::string_view storage_key,
                                       std::string_view record) {
  const std::optional<StorageKeyParts> parts = parse_storage_key(storage_key);
  const Result<Record> decoded = decode_record(record);
  if (!parts || !decoded.ok()) return Violation{"I6", cat("can't read ", text_of(storage_key))};
  const Partition partition = partition_of(parts->token, store.leaves().partitions());
  std::vector<Dot> dots;
  for (const VersionVector::Entry& entry : decoded->context.vector.entries())
    dots.push_back({entry.actor, entry.counter});
  for (const Version& version : decoded->versions) dots.push_back(version.dot);
  for (const Dot& dot : dots) {
    if (store.floor_covers(partition, dot)) continue;
    return Violation{"I12", cat("lets ", text_of(storage_key), " go, with ", hex(dot.actor.boot.value), ":",
                                dot.counter, " above its floor")};
  }
  return std::nullopt;
}

}  // namespace ringkv::simulation
