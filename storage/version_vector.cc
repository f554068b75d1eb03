#include "storage/version_vector.h"

#include <algorithm>

namespace ringkv {
namespace {

constexpr size_t kUsualEntries = 4;

bool before(const VersionVector::Entry& entry, const Actor& actor) { return entry.actor < actor; }

}  // namespace

bool VersionVector::covers(const VersionVector& other) const {
  return std::all_of(other.entries_.begin(), other.entries_.end(),
                     [this](const Entry& entry) { return counter_of(entry.actor) >= entry.counter; });
}

uint64_t VersionVector::counter_of(const Actor& actor) const {
  const auto at = std::lower_bound(entries_.begin(), entries_.end(), actor, before);
  return at != entries_.end() && at->actor == actor ? at->counter : 0;
}

void VersionVector::raise(const Actor& actor, uint64_t counter) {
  if (counter == 0) return;
  const auto at = std::lower_bound(entries_.begin(), entries_.end(), actor, before);
  if (at != entries_.end() && at->actor == actor) {
    at->counter = std::max(at->counter, counter);
  } else {
    const auto position = at - entries_.begin();
    // Most come from three owners, one after the other.
    if (entries_.capacity() == 0) entries_.reserve(kUsualEntries);
    entries_.insert(entries_.begin() + position, {actor, counter});
  }
}

// In one pass: raising entry by entry would be quadratic, and the other side may have come from outside.
void VersionVector::join(const VersionVector& other) {
  if (other.empty()) return;
  std::vector<Entry> joined;
  joined.reserve(entries_.size() + other.entries_.size());
  auto theirs = other.entries_.begin();
  for (const Entry& ours : entries_) {
    while (theirs != other.entries_.end() && theirs->actor < ours.actor) joined.push_back(*theirs++);
    joined.push_back(ours);
    if (theirs == other.entries_.end() || theirs->actor != ours.actor) continue;
    joined.back().counter = std::max(ours.counter, theirs->counter);
    ++theirs;
  }
  joined.insert(joined.end(), theirs, other.entries_.end());
  entries_ = std::move(joined);
}

}  // namespace ringkv
