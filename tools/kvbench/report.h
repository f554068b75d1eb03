// What a measurement came to, as JSON and for people.
#pragma once

#include <string>

#include "tools/kvbench/closed_loop.h"
#include "tools/kvbench/settings.h"

namespace ringkv::tools {

struct Measurement {
  Tally tally;
  double seconds = 0;

  double per_second() const {
    return seconds > 0 ? static_cast<double>(tally.latency_us.count()) / seconds : 0;
  }
};

std::string to_json(const BenchSettings& settings, const Measurement& measurement);
std::string to_text(const BenchSettings& settings, const Measurement& measurement);

}  // namespace ringkv::tools
