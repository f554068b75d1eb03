// The command line.
#pragma once

#include <string>
#include <variant>

#include "tools/ringlab/experiment.h"

namespace ringkv::ringlab {

struct Command {
  const Experiment* experiment = nullptr;
  Settings settings;
  bool json = false;
  std::string plot;  // a file, or ""
};

// Or the exit code to end with.
std::variant<Command, int> parse_flags(int argc, const char* const* argv);

}  // namespace ringkv::ringlab
