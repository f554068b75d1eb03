// Charts as one SVG file, one under another. Colours follow the reader's light or dark setting.
#pragma once

#include <string>
#include <vector>

#include "tools/ringlab/chart.h"

namespace ringkv::ringlab {

std::string to_svg(const std::vector<Chart>& charts);

}  // namespace ringkv::ringlab
