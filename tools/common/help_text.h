// What --help looks like: flags, verbs and arguments are called that, and words that may be missing stand in
// brackets.
#pragma once

#include <CLI/CLI.hpp>

namespace ringkv::tools {

// Group of a positional argument that may be missing.
inline constexpr const char* kMayBeMissing = "May be missing";

// Of the app and all its verbs; they must be defined.
void set_help_text(CLI::App& app);

}  // namespace ringkv::tools
