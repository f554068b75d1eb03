// One after the other, within the same minutes: a bare program, other systems, ringkv.
#pragma once

#include "tools/kvbench/settings.h"

namespace ringkv::tools {

// Prints the table. False: ringkv itself, or the bare program that all is compared with, has no figures.
bool compare(const BenchSettings& settings, bool by_second);

}  // namespace ringkv::tools
