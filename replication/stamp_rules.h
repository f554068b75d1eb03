// What a stamp may claim and how large it may make a record: the rules by which a stamping owner refuses a
// put before anything is written. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "replication/messages.h"
#include "storage/record_codec.h"

namespace ringkv {

inline constexpr size_t kSiblingsMax = 100;
inline constexpr uint64_t kRecordBytesMax = uint64_t{64} << 20;
// What claims to be later isn't believed. A day can be waited for.
inline constexpr uint64_t kClaimedAheadMicrosMax = 24ULL * 3600 * 1'000'000;

// Who stamps, and how far it has come.
struct StampingLife {
  Actor actor;
  uint64_t counter = 0;         // of its last dot
  HybridTime highest_time = 0;  // of all that it has stamped or merged
};

// What a client's context claims must be possible: no more of this life than it has stamped
// (INVALID_ARGUMENT; of other lives only they know), and, where time decides, no later than a day ahead
// (UNAVAILABLE).
Status check_claims(const StampPut& put, const StampingLife& life, WallMicros wall_now);

// Siblings are capped where a version is stamped, unless its context makes the record smaller; a merge never
// is.
Status check_size(const StampPut& put, const RecordHead& before, const Record& after);

// True when nothing of the record stays beside the new version, so that its values needn't be known.
bool replaces_all(const std::optional<CausalContext>& context, const std::vector<Dot>& dots);

// The record that results. `current` is the newest, its context filled; its versions may be left out where
// the put replaces all of them.
Record stamped_record(const StampPut& put, Record current, const Dot& dot, HybridTime highest_time,
                      WallMicros wall_now);

}  // namespace ringkv
