// What `kvctl wait joined` waits for.
#pragma once

#include <optional>
#include <string>

#include "ringkv/admin.h"

namespace ringkv::tools {

// Nothing once no member is joining or leaving, no change of the ring is under way, and a majority of the
// members has the ring of the node asked, of which no newer one is known. Else one line that names what is
// missing.
std::optional<std::string> missing_for_joined(const ClusterStatus& status);

}  // namespace ringkv::tools
