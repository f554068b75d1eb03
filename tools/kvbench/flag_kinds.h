// Workloads and distributions as they are typed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ringkv/status.h"
#include "tools/kvbench/settings.h"

namespace ringkv::tools {

std::vector<std::string> workload_names();
std::optional<Workload> workload_named(std::string_view text);

// INVALID_ARGUMENT says what there is.
Result<Distribution> parse_distribution(std::string_view text);

}  // namespace ringkv::tools
