#include "replication/stamp_rules.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace ringkv {
namespace {

HybridTime latest_claimed(HybridTime highest_time, WallMicros wall_now) {
  return std::max<HybridTime>(highest_time, wall_now) + kClaimedAheadMicrosMax;
}

}  // namespace

// Contexts aren't secret, and one that claims the end of time would stop this store's time for good. But an
// honest one may come from a node whose clock was wrong by days: in a bucket of siblings its time tells
// nothing and is left out (stamped_record), and where time decides the put can be tried again.
Status check_claims(const StampPut& put, const StampingLife& life, WallMicros wall_now) {
  const CausalContext& claimed = put.context ? *put.context : put.seen;
  if (claimed.vector.counter_of(life.actor) > life.counter) {
    return invalid_argument(
        cat("key ", display_key(put.key),
            ": the context claims to have seen what was never written: get the key again"));
  }
  if (put.conflict == Conflict::kSiblings ||
      claimed.highest_time <= latest_claimed(life.highest_time, wall_now))
    return {};
  return unavailable(
      cat("key ", display_key(put.key),
          ": its context was written by a clock that is more than a day ahead of this node's, and ",
          "in this bucket the later time wins: nothing was written; correct the clocks"));
}

Status check_size(const StampPut& put, const RecordHead& before, const Record& after) {
  if (after.versions.size() > kSiblingsMax && after.versions.size() >= before.dots.size()) {
    return too_many_siblings(
        cat("key ", display_key(put.key), " has ", before.dots.size(),
            " siblings, the most there may be: get it and put one value with its context"));
  }
  if (!within_limits(after)) {
    return invalid_argument(cat("key ", display_key(put.key), ": the context names more than ",
                                kContextActorsMax, " lives of nodes: get the key again"));
  }
  const uint64_t bytes = content_bytes(put.key, after);
  if (bytes > kRecordBytesMax && bytes >= before.content_bytes) {
    return too_many_siblings(cat("key ", display_key(put.key), " would hold ", human_bytes(bytes),
                                 " of siblings: get it and put one value with its context"));
  }
  return {};
}

bool replaces_all(const std::optional<CausalContext>& context, const std::vector<Dot>& dots) {
  if (!context) return true;  // a blind put takes all that its coordinator holds
  return std::all_of(dots.begin(), dots.end(), [&](const Dot& dot) { return context->covers(dot); });
}

Record stamped_record(const StampPut& put, Record current, const Dot& dot, HybridTime highest_time,
                      WallMicros wall_now) {
  CausalContext writer = put.context ? *put.context : put.seen;
  if (writer.highest_time > latest_claimed(highest_time, wall_now)) writer.highest_time = 0;
  Stamp stamp;
  stamp.version.dot = dot;
  stamp.version.kind = put.kind;
  stamp.version.time =
      next_time(wall_now, current.context, &writer, {.vector = {}, .highest_time = highest_time});
  stamp.version.expires_at_ms = put.expires_at_ms;
  stamp.version.value = put.value;
  stamp.version.operation = put.operation;
  if (put.context) {
    stamp.context = std::move(writer);
  } else {
    current.context.join(writer);
  }
  return stamped(current, stamp, put.conflict);
}

}  // namespace ringkv
