#include "replication/round_difference.h"

#include <algorithm>

#include "storage/hash_subset.h"

namespace ringkv {
namespace {

constexpr uint64_t kSmallLeafBytes = 4096;
constexpr uint64_t kToldLeafBytes = uint64_t{256} << 10;

bool contains(const std::vector<Dot>& dots, const Dot& dot) {
  return std::binary_search(dots.begin(), dots.end(), dot);
}

}  // namespace

bool SourceClaims::covers(const Dot& dot) const {
  return floor.covers(dot) || std::binary_search(closed.begin(), closed.end(), dot.actor);
}

Difference difference_of(const std::vector<Dot>& listed, const OwnKey* own, const SourceClaims& source,
                         const std::function<bool(const Dot&)>& is_under_own_floor) {
  const bool lacking = std::any_of(listed.begin(), listed.end(), [&](const Dot& dot) {
    if (own != nullptr && (contains(own->dots, dot) || own->context.covers(dot))) return false;
    return !is_under_own_floor(dot);
  });
  if (lacking) return Difference::kLacking;
  if (own == nullptr || own->dots.empty()) return Difference::kNone;
  return gone_dots(*own, listed, source).empty() ? Difference::kNone : Difference::kSuperseded;
}

Difference bare_difference_of(const CausalContext& listed, const OwnKey* own, const SourceClaims& source,
                              const std::function<bool(const Dot&)>& is_under_own_floor) {
  const auto is_gone = [&](const Dot& dot) { return listed.covers(dot) || source.covers(dot); };
  if (own != nullptr && std::any_of(own->dots.begin(), own->dots.end(), is_gone))
    return Difference::kSuperseded;
  const bool both_bare = own != nullptr && own->dots.empty();
  const auto is_known = [&](const VersionVector::Entry& entry) {
    const Dot dot{entry.actor, entry.counter};
    return (own != nullptr && own->context.covers(dot)) || (!both_bare && is_under_own_floor(dot));
  };
  const std::vector<VersionVector::Entry>& entries = listed.vector.entries();
  return std::all_of(entries.begin(), entries.end(), is_known) ? Difference::kNone : Difference::kLacking;
}

std::vector<Dot> gone_dots(const OwnKey& own, const std::vector<Dot>& listed, const SourceClaims& source) {
  std::vector<Dot> gone;
  for (const Dot& dot : own.dots) {
    if (!contains(listed, dot) && source.covers(dot)) gone.push_back(dot);
  }
  return gone;
}

std::shared_ptr<const Floor> floor_for(const std::vector<Dot>& gone,
                                       const std::shared_ptr<const Floor>& source) {
  const bool enough =
      std::all_of(gone.begin(), gone.end(), [&](const Dot& dot) { return source->covers(dot); });
  if (enough) return source;
  Floor raised = *source;
  for (const Dot& dot : gone) raised.vector.raise(dot.actor, dot.counter);
  return std::make_shared<const Floor>(std::move(raised));
}

CausalContext context_over(const std::vector<Dot>& gone, const OwnKey& own) {
  CausalContext context;
  for (const Dot& dot : gone) context.vector.raise(dot.actor, dot.counter);
  context.highest_time = own.context.highest_time;
  return context;
}

bool may_lack_keys_only(const Leaf& own, const Leaf& theirs) {
  return own.keys < theirs.keys && theirs.keys <= kSubsetMax && theirs.bytes <= kToldLeafBytes;
}

bool wants_records(const Leaf& own, const Leaf& theirs) {
  if (own.keys == theirs.keys && own.bytes == theirs.bytes) return false;
  return own == Leaf() || theirs.bytes <= kSmallLeafBytes;
}

}  // namespace ringkv
