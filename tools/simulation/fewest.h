// The fewest of many things with which something still happens: delta debugging (ddmin, Zeller and
// Hildebrandt, "Simplifying and isolating failure-inducing input", 2002).
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace ringkv::simulation {

using Items = std::vector<std::string>;

// `happens(items)` is taken for true. Of what comes back, in the order of `items`, no single one can be left
// out; but for a `happens` that answers false from some time on, which ends the search with what was found.
Items fewest(Items items, const std::function<bool(const Items&)>& happens);

}  // namespace ringkv::simulation
