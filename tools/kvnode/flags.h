// kvnode's command line.
#pragma once

#include <variant>

#include "tools/kvnode/settings.h"

namespace ringkv::tools {

struct NodeFlags {
  GivenSettings given;  // by flags alone
  std::string config;   // also from RINGKV_CONFIG
  bool print_config = false;
};

// An exit code when there is nothing to do any more.
std::variant<NodeFlags, int> parse_node_flags(int argc, const char* const* argv);

}  // namespace ringkv::tools
