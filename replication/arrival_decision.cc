#include "replication/arrival_decision.h"

#include <algorithm>
#include <utility>

namespace ringkv {
namespace {

bool holds(const std::vector<Dot>& dots, const Dot& dot) {
  return std::binary_search(dots.begin(), dots.end(), dot);
}

bool covers(const CausalContext& context, const CausalContext& other) {
  return context.highest_time >= other.highest_time && context.vector.covers(other.vector);
}

// In a last-writer-wins bucket heads don't tell the times of what is held, but a bound.
bool wins_over_all(const RecordOutline& arriving, const RecordHead& held) {
  return std::any_of(arriving.versions.begin(), arriving.versions.end(), [&](const Version& version) {
    return version.time > held.context.highest_time && !held.context.covers(version.dot);
  });
}

bool all_came_by(const std::vector<Version>& versions, Source source) {
  return std::all_of(versions.begin(), versions.end(),
                     [source](const Version& version) { return version.source == source; });
}

}  // namespace

ArrivalEffect effect_of(const RecordOutline& arriving, const RecordHead& held, Conflict conflict,
                        Source source) {
  const std::vector<Dot>& theirs = arriving.head.dots;
  const CausalContext& their_context = arriving.head.context;
  const auto is_superseded_here = [&](const Dot& dot) {
    return held.context.covers(dot) && !holds(held.dots, dot);
  };
  const auto is_new = [&](const Dot& dot) { return !held.context.covers(dot) && !holds(held.dots, dot); };
  const auto ours_stay = [&](const Dot& dot) { return holds(theirs, dot) || !their_context.covers(dot); };

  const bool none_new = std::none_of(theirs.begin(), theirs.end(), is_new);
  if (none_new && std::all_of(held.dots.begin(), held.dots.end(), ours_stay) &&
      covers(held.context, their_context)) {
    return ArrivalEffect::kNothingNew;
  }
  const bool only_theirs = std::all_of(held.dots.begin(), held.dots.end(), [&](const Dot& dot) {
    return holds(theirs, dot) || their_context.covers(dot);
  });
  const bool time_decides = conflict == Conflict::kLastWriterWins && wins_over_all(arriving, held);
  if (!only_theirs && !time_decides) return ArrivalEffect::kNeedsOurs;
  const bool as_it_came = only_theirs && std::none_of(theirs.begin(), theirs.end(), is_superseded_here) &&
                          covers(their_context, held.context) && all_came_by(arriving.versions, source) &&
                          (conflict == Conflict::kSiblings || theirs.size() < 2);
  return as_it_came ? ArrivalEffect::kReplacesAll : ArrivalEffect::kLeavesNoneOfOurs;
}

Record merge_over(const RecordHead& held, Record arriving, Conflict conflict, Source source) {
  std::erase_if(arriving.versions, [&](const Version& version) {
    return held.context.covers(version.dot) && !holds(held.dots, version.dot);
  });
  for (Version& version : arriving.versions) {
    if (!holds(held.dots, version.dot)) version.source = source;
  }
  arriving.context.join(held.context);
  if (conflict == Conflict::kLastWriterWins) keep_winner(arriving);
  return arriving;
}

Record merge_with(const Record& held, Record arriving, Conflict conflict, Source source) {
  for (Version& version : arriving.versions) {
    const auto ours = std::find_if(held.versions.begin(), held.versions.end(),
                                   [&](const Version& v) { return v.dot == version.dot; });
    version.source = ours == held.versions.end() ? source : ours->source;
  }
  Record merged = merge(held, arriving);
  if (conflict == Conflict::kLastWriterWins) keep_winner(merged);
  return merged;
}

}  // namespace ringkv
