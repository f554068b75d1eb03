// What a comparison came to. Only ratios count: figures of other machines, and of other minutes, differ.
#pragma once

#include <string>
#include <vector>

#include "tools/kvbench/compare/contestants.h"

namespace ringkv::tools {

// Ratios are to the first row.
std::string comparison_text(const BenchSettings& settings, const std::vector<Row>& rows);
std::string comparison_json(const BenchSettings& settings, const std::vector<Row>& rows);

}  // namespace ringkv::tools
