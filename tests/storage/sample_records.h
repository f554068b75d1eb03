// Short ways to write down actors, versions and records in tests.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "storage/record.h"

namespace ringkv::sample {

// One life of one node.
inline Actor actor(uint64_t node, uint64_t boot = 1) { return {NodeId{node}, Boot{boot}}; }

inline const Actor kA = actor(1);
inline const Actor kB = actor(2);
inline const Actor kC = actor(3);

inline Version value(const Dot& dot, std::string bytes, HybridTime time = 1) {
  Version version;
  version.dot = dot;
  version.time = time;
  version.value = std::move(bytes);
  return version;
}

inline Version tombstone(const Dot& dot, HybridTime time = 1) {
  Version version = value(dot, "", time);
  version.kind = VersionKind::kTombstone;
  return version;
}

inline CausalContext context(const std::vector<Dot>& dots, HybridTime highest_time = 1) {
  CausalContext seen;
  for (const Dot& dot : dots) seen.vector.raise(dot.actor, dot.counter);
  seen.highest_time = highest_time;
  return seen;
}

// With a context over the version and what it has seen.
inline Record record_of(Version version, std::vector<Dot> seen = {}) {
  seen.push_back(version.dot);
  return {context(seen, version.time), {std::move(version)}};
}

inline std::vector<std::string> values_of(const Record& record) {
  std::vector<std::string> values;
  for (const Version& version : record.versions) values.push_back(version.value);
  return values;
}

inline std::vector<Dot> dots_of(const Record& record) {
  std::vector<Dot> dots;
  for (const Version& version : record.versions) dots.push_back(version.dot);
  return dots;
}

// One life of one coordinator, stamping a single key in a bucket.
struct Coordinator {
  Actor self;
  Conflict conflict = Conflict::kSiblings;
  WallMicros clock = 1000;
  uint64_t counter = 0;
  Record record = {};

  void put(const std::string& bytes, const std::optional<CausalContext>& seen = std::nullopt) {
    write(value({}, bytes), seen);
  }
  void erase(const std::optional<CausalContext>& seen = std::nullopt) { write(tombstone({}), seen); }
  void receive(const Record& other) {
    record = merge(record, other);
    if (conflict == Conflict::kLastWriterWins) keep_winner(record);
  }

 private:
  void write(Version version, const std::optional<CausalContext>& seen) {
    version.dot = {self, ++counter};
    version.time = next_time(clock, record.context, seen ? &*seen : nullptr, {});
    record = stamped(record, {version, seen}, conflict);
  }
};

// Any record that keeps the invariants, with every field in use.
inline Record random_record(Random& random) {
  Record record;
  const uint64_t actors = random.below(6);
  for (uint64_t i = 0; i < actors; ++i) {
    const Actor who = actor(random.below(4), random.next());
    record.context.vector.raise(who, 1 + random.below(random.one_in(3) ? ~0ULL : 300));
    record.context.highest_time = std::max(record.context.highest_time, random.below(1ULL << 52));
  }
  for (const VersionVector::Entry& entry : record.context.vector.entries()) {
    for (uint64_t n = random.below(3); n > 0; --n) {
      const Dot dot{entry.actor, 1 + random.below(entry.counter)};
      if (!record.versions.empty() && !(record.versions.back().dot < dot)) continue;
      const HybridTime time = random.below(record.context.highest_time + 1);
      Version version =
          random.one_in(4) ? tombstone(dot, time) : value(dot, std::string(random.below(40), '\xC3'), time);
      if (random.one_in(3)) version.expires_at_ms = 1 + random.below(1ULL << 45);
      if (random.one_in(2)) version.operation = {random.next(), random.below(1000)};
      version.source = static_cast<Source>(random.below(5));
      record.versions.push_back(version);
    }
  }
  return record;
}

}  // namespace ringkv::sample
