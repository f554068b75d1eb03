// File descriptors: a node needs one for each connection and each table file.
#pragma once

#include <optional>
#include <string>

namespace ringkv::tools {

// Raises the soft limit to the hard one. A warning that names the command when that is few.
std::optional<std::string> raise_descriptor_limit();

}  // namespace ringkv::tools
