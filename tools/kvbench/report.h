// What a measurement came to, as JSON and for people.
#pragma once

#include <string>

#include "tools/kvbench/settings.h"
#include "tools/kvbench/tally.h"

namespace ringkv::tools {

struct Measurement {
  Tally tally;
  double seconds = 0;

  double per_second() const { return seconds > 0 ? static_cast<double>(tally.answered) / seconds : 0; }
};

std::string to_json(const BenchSettings& settings, const Measurement& measurement);
std::string to_text(const BenchSettings& settings, const Measurement& measurement);

// The line of one second; the first one is the warm-up.
std::string second_text(uint32_t second, const Tally& tally);

// "0.87 ms"
std::string milliseconds_text(uint64_t microseconds);

}  // namespace ringkv::tools
