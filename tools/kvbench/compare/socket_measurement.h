// A row's puts and gets over bare sockets.
#pragma once

#include <vector>

#include "tools/kvbench/compare/contestants.h"
#include "tools/kvbench/compare/socket_load.h"

namespace ringkv::tools {

// All but the protocol.
SocketLoadSettings socket_load_of(const BenchSettings& settings, const std::vector<uint16_t>& ports);

// Puts, then gets of keys that are all there.
Status measure_by_sockets(const SocketLoadSettings& load, Row& row);

}  // namespace ringkv::tools
