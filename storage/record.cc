#include "storage/record.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "base/plants.h"

namespace ringkv {
namespace {

bool dot_before(const Version& version, const Dot& dot) { return version.dot < dot; }

void cover(CausalContext& context, const Version& version) {
  context.vector.raise(version.dot.actor, version.dot.counter);
  context.highest_time = std::max(context.highest_time, version.time);
}

}  // namespace

void CausalContext::join(const CausalContext& other) {
  vector.join(other.vector);
  highest_time = std::max(highest_time, other.highest_time);
  stripped = stripped || other.stripped;
}

bool is_live(const Version& version, uint64_t now_ms) {
  if (version.kind == VersionKind::kTombstone) return false;
  return version.expires_at_ms == 0 || version.expires_at_ms > now_ms;
}

bool is_transient(const std::vector<Version>& versions) {
  return std::all_of(versions.begin(), versions.end(), [](const Version& version) {
    return version.kind == VersionKind::kTombstone || version.expires_at_ms != 0;
  });
}

bool Record::has_live_value(uint64_t now_ms) const {
  return std::any_of(versions.begin(), versions.end(),
                     [now_ms](const Version& version) { return is_live(version, now_ms); });
}

bool beats(const Version& a, const Version& b) {
  // No expiry (0) wraps around to the longest of all.
  const auto rank = [](const Version& version) {
    return std::tuple(version.time, version.expires_at_ms - 1, version.dot);
  };
  return rank(a) > rank(b);
}

void keep_winner(Record& record) {
  if (record.versions.size() < 2) return;
  const auto winner = std::min_element(record.versions.begin(), record.versions.end(), beats);
  Version kept = std::move(*winner);
  record.versions.clear();
  record.versions.push_back(std::move(kept));
}

Record stamped(const Record& current, const Stamp& stamp, Conflict conflict) {
  Record record{current.context, {}};
  if (stamp.context) record.context.join(*stamp.context);
  for (const Version& version : current.versions) {
    cover(record.context, version);  // a stripped context may not
    const bool seen_by_writer =
        !stamp.context || stamp.context->covers(version.dot) ||
        (planted(Plant::kContextCoversTooMuch) && stamp.context->covers({version.dot.actor, 1}));
    if (!seen_by_writer) record.versions.push_back(version);
  }
  if (planted(Plant::kForgetTombstoneContext) && stamp.version.kind == VersionKind::kTombstone)
    record.context.vector = {};
  cover(record.context, stamp.version);
  const auto at =
      std::lower_bound(record.versions.begin(), record.versions.end(), stamp.version.dot, dot_before);
  record.versions.insert(at, stamp.version);
  if (conflict == Conflict::kLastWriterWins) keep_winner(record);
  return record;
}

HybridTime next_time(WallMicros wall_now, const CausalContext& record, const CausalContext* writer,
                     const Floor& floor) {
  HybridTime latest = std::max({wall_now, record.highest_time, floor.highest_time});
  if (writer != nullptr) latest = std::max(latest, writer->highest_time);
  if (planted(Plant::kOwnClockAlone)) latest = wall_now;
  // Contexts come from outside: one at the end of time must not bring time back to its start.
  return latest == std::numeric_limits<HybridTime>::max() ? latest : latest + 1;
}

void strip(CausalContext& context, const Floor& floor, const Actor& keep) {
  context.vector.erase_if([&](const VersionVector::Entry& entry) {
    const bool left_out = entry.actor != keep && floor.vector.counter_of(entry.actor) >= entry.counter;
    context.stripped = context.stripped || left_out;
    return left_out;
  });
}

void fill(CausalContext& context, const Floor& floor) {
  context.join(floor);
  context.stripped = false;
}

bool is_droppable(const Record& record, const Floor& floor, uint64_t expired_before_ms) {
  if (record.has_live_value(expired_before_ms)) return false;
  // A stripped context may leave out the dots that the record holds.
  const bool dots_under_floor =
      std::all_of(record.versions.begin(), record.versions.end(),
                  [&floor](const Version& version) { return floor.covers(version.dot); });
  return dots_under_floor && floor.vector.covers(record.context.vector) &&
         floor.highest_time >= record.context.highest_time;
}

}  // namespace ringkv
