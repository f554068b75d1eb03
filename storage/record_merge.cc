#include <algorithm>
#include <tuple>

#include "base/plants.h"
#include "storage/record.h"

namespace ringkv {
namespace {

// One of the two records of a merge; the context may be another than the record's own.
struct Side {
  const CausalContext& context;
  const std::vector<Version>& versions;
};

OperationId either(const OperationId& a, const OperationId& b) {
  if (!a) return b;
  if (!b) return a;
  return std::min(a, b);
}

// A dot names one event, so its content is the same on both sides. Were it not (a damaged disk, a bug), all
// replicas must still end with the same one; the comparison costs no more than the copy that follows.
Version one_of(const Version& a, const Version& b) {
  const auto content = [](const Version& version) {
    return std::tuple(version.time, version.expires_at_ms, version.kind, std::string_view(version.value));
  };
  Version kept = content(a) < content(b) ? b : a;
  kept.operation = either(a.operation, b.operation);
  kept.source = std::min(a.source, b.source);
  return kept;
}

// Walks both sides in order of dot. "Held by the other side" comes before "covered by it": a version's own
// dot counts as covered even where a stripped context leaves it out.
Record merged(const Side& a, const Side& b) {
  Record record{a.context, {}};
  record.context.join(b.context);
  auto left = a.versions.begin();
  auto right = b.versions.begin();
  while (left != a.versions.end() || right != b.versions.end()) {
    const bool only_left = right == b.versions.end() || (left != a.versions.end() && left->dot < right->dot);
    const bool only_right = !only_left && (left == a.versions.end() || right->dot < left->dot);
    if (only_left) {
      if (!b.context.covers(left->dot)) record.versions.push_back(*left);
      ++left;
    } else if (only_right) {
      const bool dropped = planted(Plant::kMergeDropsSibling) && !record.versions.empty();
      if (!a.context.covers(right->dot) && !dropped) record.versions.push_back(*right);
      ++right;
    } else {
      record.versions.push_back(one_of(*left++, *right++));
    }
  }
  return record;
}

}  // namespace

Record merge(const Record& a, const Record& b) {
  return merged({a.context, a.versions}, {b.context, b.versions});
}

// Since the floor is part of what is covered here, an arriving dot under it that isn't held falls away in the
// ordinary merge.
Record merge_under_floor(const Record& own, const Record& arriving, const Floor& floor) {
  CausalContext covered = own.context;
  fill(covered, floor);
  return merged({covered, own.versions}, {arriving.context, arriving.versions});
}

}  // namespace ringkv
