// The heads of recently used records, so that a put needn't read what it replaces and a digest needn't read
// at all.
//
// Set-associative, fixed size, no allocation after construction. Holds only plain heads: one version, at most
// three actors; others are read from the engine. Entries are found by 128 bits: two keys
// that are mixed up would drop a value, so fewer bits won't do. Only committed heads belong here: what waits
// in batches is pinned by RecordStore until it is on disk. Loop thread.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/token.h"
#include "storage/record_codec.h"

namespace ringkv {

class VersionCache {
 public:
  explicit VersionCache(uint64_t memory_bytes);

  std::optional<RecordHead> find(const KeyIdentity& key);
  void insert(const KeyIdentity& key, const RecordHead& head);
  // It will be looked for soon: from memory to the processor's cache meanwhile.
  void prefetch(const KeyIdentity& key) const { __builtin_prefetch(&sets_[set_number(key)]); }
  void erase(const KeyIdentity& key);
  void clear();

 private:
  static constexpr size_t kWays = 8;
  static constexpr size_t kActorsMax = 3;
  static constexpr size_t kActorNamesMax = 65'536;

  struct Entry {
    std::array<uint8_t, 16> key{};  // all zero: free
    std::array<uint64_t, kActorsMax> counters{};
    std::array<uint32_t, kActorsMax> actors{};
    uint32_t content_bytes = 0;
    Hash128 hash;
    HybridTime highest_time = 0;
    uint8_t actor_count = 0;
    uint8_t dot_actor = 0;   // the version's dot is this actor's entry of the context
    bool stripped = false;   // as the context's
    bool transient = false;  // as the head's
    bool used = false;       // since the hand passed: a second chance
  };
  // 16 bits of each way's key stand together, in one line of the processor's cache: another way than the
  // right one is hardly ever looked at.
  struct alignas(64) Set {
    std::array<uint16_t, kWays> tags{};
    uint8_t hand = 0;
    std::array<Entry, kWays> ways;
  };

  size_t set_number(const KeyIdentity& key) const {
    return std::hash<KeyIdentity>()(key) & (sets_.size() - 1);
  }
  Set& set_of(const KeyIdentity& key) { return sets_[set_number(key)]; }
  static uint16_t tag_of(const KeyIdentity& key);
  static Entry* find_in(Set& set, const KeyIdentity& key);
  static size_t victim_of(Set& set);
  std::optional<uint32_t> name_of(const Actor& actor);  // short names for actors; nothing: too many
  std::optional<Entry> packed(const RecordHead& head);

  std::vector<Set> sets_;
  std::map<Actor, uint32_t> names_;
  std::vector<Actor> actors_;
};

}  // namespace ringkv
