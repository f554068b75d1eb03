#include "replication/round_difference.h"

#include <algorithm>

namespace ringkv {
namespace {

constexpr uint64_t kSmallLeafBytes = 4096;

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
  // A bare context there: only it knows what it supersedes.
  const bool gone = listed.empty() || !gone_dots(*own, listed, source).empty();
  return gone ? Difference::kSuperseded : Difference::kNone;
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

bool wants_records(const Leaf& own, const Leaf& theirs) {
  if (own.keys == theirs.keys && own.bytes == theirs.bytes) return false;
  return own == Leaf() || theirs.bytes <= kSmallLeafBytes;
}

}  // namespace ringkv
