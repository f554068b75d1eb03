#include "tools/simulation/fewest.h"

#include <algorithm>

namespace ringkv::simulation {
namespace {

// All but the part that begins at `first`.
Items without(const Items& items, size_t first, size_t count) {
  Items rest(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(first));
  const size_t end = std::min(first + count, items.size());
  rest.insert(rest.end(), items.begin() + static_cast<std::ptrdiff_t>(end), items.end());
  return rest;
}

}  // namespace

// The parts are left out one after the other, and halved once none of them can be. (Parts alone, which ddmin
// tries too, rarely suffice: what fails takes several things, far from each other.)
Items fewest(Items items, const std::function<bool(const Items&)>& happens) {
  if (items.empty() || happens({})) return {};
  for (size_t part = (items.size() + 1) / 2; part > 0;) {
    bool any_left_out = false;
    for (size_t first = 0; first < items.size();) {
      Items rest = without(items, first, part);
      if (!rest.empty() && happens(rest)) {
        items = std::move(rest);
        any_left_out = true;
      } else {
        first += part;
      }
    }
    if (part > 1) {
      part = (part + 1) / 2;
    } else if (!any_left_out) {
      break;
    }
  }
  return items;
}

}  // namespace ringkv::simulation
