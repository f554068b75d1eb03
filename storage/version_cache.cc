#include "storage/version_cache.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

namespace ringkv {

VersionCache::VersionCache(uint64_t memory_bytes)
    : sets_(std::bit_floor(std::max<uint64_t>(1, memory_bytes / sizeof(Set)))) {}

// Of other bytes than the set's number.
uint16_t VersionCache::tag_of(const KeyIdentity& key) {
  uint16_t tag = 0;
  std::memcpy(&tag, key.bytes.data() + key.bytes.size() - sizeof(tag), sizeof(tag));
  return tag;
}

VersionCache::Entry* VersionCache::find_in(Set& set, const KeyIdentity& key) {
  const uint16_t tag = tag_of(key);
  for (size_t way = 0; way < kWays; ++way) {
    if (set.tags[way] != tag) continue;
    Entry& entry = set.ways[way];
    if (std::memcmp(entry.key.data(), key.bytes.data(), entry.key.size()) == 0) return &entry;
  }
  return nullptr;
}

// The first entry from the hand on that was not used since the hand last passed it.
size_t VersionCache::victim_of(Set& set) {
  while (true) {
    const size_t way = set.hand;
    set.hand = static_cast<uint8_t>((set.hand + 1) % kWays);
    if (!set.ways[way].used) return way;
    set.ways[way].used = false;
  }
}

std::optional<uint32_t> VersionCache::name_of(const Actor& actor) {
  const auto known = names_.find(actor);
  if (known != names_.end()) return known->second;
  if (actors_.size() >= kActorNamesMax) return std::nullopt;
  const auto name = static_cast<uint32_t>(actors_.size());
  names_.emplace(actor, name);
  actors_.push_back(actor);
  return name;
}

std::optional<VersionCache::Entry> VersionCache::packed(const RecordHead& head) {
  const std::vector<VersionVector::Entry>& vector = head.context.vector.entries();
  if (head.dots.size() != 1 || vector.size() > kActorsMax) return std::nullopt;
  if (head.content_bytes > std::numeric_limits<uint32_t>::max()) return std::nullopt;
  Entry entry;
  bool dot_found = false;
  for (size_t i = 0; i < vector.size(); ++i) {
    const std::optional<uint32_t> name = name_of(vector[i].actor);
    if (!name) return std::nullopt;
    entry.actors[i] = *name;
    entry.counters[i] = vector[i].counter;
    if (Dot{vector[i].actor, vector[i].counter} == head.dots[0]) {
      entry.dot_actor = static_cast<uint8_t>(i);
      dot_found = true;
    }
  }
  if (!dot_found) return std::nullopt;
  entry.actor_count = static_cast<uint8_t>(vector.size());
  entry.content_bytes = static_cast<uint32_t>(head.content_bytes);
  entry.hash = head.hash;
  entry.highest_time = head.context.highest_time;
  entry.stripped = head.context.stripped;
  entry.transient = head.transient;
  return entry;
}

std::optional<RecordHead> VersionCache::find(const KeyIdentity& key) {
  Entry* entry = find_in(set_of(key), key);
  if (entry == nullptr) return std::nullopt;
  entry->used = true;
  RecordHead head;
  for (size_t i = 0; i < entry->actor_count; ++i) {
    head.context.vector.raise(actors_[entry->actors[i]], entry->counters[i]);
  }
  head.context.highest_time = entry->highest_time;
  head.context.stripped = entry->stripped;
  head.dots.push_back({actors_[entry->actors[entry->dot_actor]], entry->counters[entry->dot_actor]});
  head.hash = entry->hash;
  head.content_bytes = entry->content_bytes;
  head.transient = entry->transient;
  return head;
}

void VersionCache::insert(const KeyIdentity& key, const RecordHead& head) {
  Set& set = set_of(key);
  Entry* old = find_in(set, key);
  std::optional<Entry> entry = packed(head);
  if (!entry) {
    if (old != nullptr) *old = Entry();
    return;
  }
  std::memcpy(entry->key.data(), key.bytes.data(), entry->key.size());
  entry->used = true;
  const size_t way = old != nullptr ? static_cast<size_t>(old - set.ways.data()) : victim_of(set);
  set.ways[way] = *entry;
  set.tags[way] = tag_of(key);
}

void VersionCache::clear() {
  for (Set& set : sets_) set = Set();
}

void VersionCache::erase(const KeyIdentity& key) {
  if (Entry* entry = find_in(set_of(key), key)) *entry = Entry();
}

}  // namespace ringkv
