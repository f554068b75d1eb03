// A key's record: a dotted version vector set (Almeida, Gonçalves, Baquero, Fonte, "Scalable and accurate
// causality tracking for eventually consistent stores", 2014): sibling versions with their dots, and the
// context that covers everything that was ever seen of the key here.
//
// Pure functions on values. Invariants: the context covers the dot and the hybrid time of each version (a
// stripped one only together with its floor); versions are in order of dot, no dot twice. A floor ("all dots
// up to here in this partition have been merged here", "Floors" in ARCHITECTURE.md) belongs to the
// context of every record of its partition, an absent one too.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "storage/version_vector.h"

namespace ringkv {

// Microseconds since 1970, and later than the hybrid time of everything that it covers.
using HybridTime = uint64_t;

enum class VersionKind : uint8_t { kValue = 0, kTombstone = 1 };

// How a copy arrived here; shown by `explain`, outside the record's hash.
enum class Source : uint8_t { kPut = 0, kReadRepair = 1, kHint = 2, kAntiEntropy = 3, kTransfer = 4 };

enum class Conflict : uint8_t { kSiblings = 0, kLastWriterWins = 1 };

struct Version {
  Dot dot;
  VersionKind kind = VersionKind::kValue;
  HybridTime time = 0;
  uint64_t expires_at_ms = 0;  // since 1970; 0: never
  std::string value;           // empty for a tombstone
  OperationId operation;       // outside the hash
  Source source = Source::kPut;

  friend bool operator==(const Version&, const Version&) = default;
};

// Everything that somebody has seen, and the highest hybrid time among it: a bound, so that raising it is
// always safe. Floors have the same shape.
struct CausalContext {
  VersionVector vector;
  HybridTime highest_time = 0;
  bool stripped = false;  // entries that the floor beside it covers were left out: fill before it leaves

  bool covers(const Dot& dot) const { return vector.covers(dot); }
  void join(const CausalContext& other);

  friend bool operator==(const CausalContext&, const CausalContext&) = default;
};
using Floor = CausalContext;

struct Record {
  CausalContext context;
  std::vector<Version> versions;

  bool has_live_value(uint64_t now_ms) const;

  friend bool operator==(const Record&, const Record&) = default;
};

// Every version is a tombstone or a value that will expire, or there is none: the record may go some day.
bool is_transient(const std::vector<Version>& versions);

// True for a value whose time has not run out.
bool is_live(const Version& version, uint64_t now_ms);

// Both records in one: a version is dropped only where the other side's context covers it and the other side
// does not hold it. Commutative, associative, idempotent. Of what lies outside the hash the smaller source
// and the operation that is known stay. Contexts must be filled.
Record merge(const Record& a, const Record& b);

// What a replica with `floor` holds after `arriving` came in: a dot under the floor that is not in `own` is
// superseded and dropped. `own` may be stripped, `arriving` may not; the result's context is filled with the
// floor. It is worth storing unless it is droppable.
Record merge_under_floor(const Record& own, const Record& arriving, const Floor& floor);

// In a last-writer-wins bucket, the one version that wins: the latest; of equal times the one without expiry,
// then the later expiry, then the greater dot. The context stays.
void keep_winner(Record& record);
bool beats(const Version& a, const Version& b);

// A new version for a record: `version` carries dot, kind, time, expiry, value, operation.
struct Stamp {
  Version version;
  // What the writer has seen; nothing: it takes all that this record holds (a blind put).
  std::optional<CausalContext> context;
};

// The record that results: the stamp replaces exactly what its context covers; the rest stay as siblings.
// `current` is filled with the floor, also where it is absent.
// With kLastWriterWins only the winner stays. The caller has chosen a dot that no context covers, and a time
// by next_time().
Record stamped(const Record& current, const Stamp& stamp, Conflict conflict);

// The hybrid time of a new version: later than the wall clock and everything that it may cover.
HybridTime next_time(WallMicros wall_now, const CausalContext& record, const CausalContext* writer,
                     const Floor& floor);

// Leaves out context entries of actors other than `keep` that the floor covers; put back by `fill`. Only for
// records at rest beside that floor.
void strip(CausalContext& context, const Floor& floor, const Actor& keep);
void fill(CausalContext& context, const Floor& floor);

// True when nothing of the record is live (only tombstones and values expired by `expired_before_ms`) and its
// whole context, its highest time too, lies under the floor: it may go, since the floor says all that it
// said. True for an absent record. (Who closes an actor's floor raises the floor's time by the records it
// has.)
bool is_droppable(const Record& record, const Floor& floor, uint64_t expired_before_ms);

}  // namespace ringkv
