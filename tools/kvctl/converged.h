// What `kvctl wait converged` and `kvctl wait hints-drained` wait for. Each returns nothing once it is true,
// else one line that names what is missing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ringkv/admin.h"
#include "tools/kvctl/asked.h"

namespace ringkv::tools {

// All members are up, none is joining or leaving, and all have the ring.
std::optional<std::string> missing_for_comparison(const ClusterStatus& status);

// Every member was asked, and keeps no hint: of one that wasn't, nobody knows.
std::optional<std::string> missing_for_hints_drained(const Asked<std::vector<HintInfo>>& asked);

// Every member has compared itself with every other owner of what it owns, and found nothing.
std::optional<std::string> missing_for_equality(const Asked<RepairReport>& asked);

}  // namespace ringkv::tools
