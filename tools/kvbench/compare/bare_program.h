// Runs the project's own bare program (tests/bench/bare), that is built into the folder of kvbench itself.
#pragma once

#include <string>
#include <string_view>

#include "tools/kvbench/compare/contestants.h"

namespace ringkv::tools {

// Its verb `run` or `rocksdb`; the durability must be given.
Status run_bare_program(const std::string& verb, const BenchSettings& settings, bool gets, Row& row);

// Of the one line of JSON that it prints. INVALID_ARGUMENT: it isn't that.
Result<Figures> parse_figures(std::string_view line);

}  // namespace ringkv::tools
