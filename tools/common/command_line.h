// What the tools' command lines have in common: every wrong use ends with exit code 2 and a message that
// names the nearest right word; --help and --version end with 0.
//
// Only files that define flags include this: CLI11 is slow to compile.
#pragma once

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ringkv/status.h"
#include "ringkv/store.h"

namespace ringkv::tools {

// "--version" with the commit, and an example under "--help".
void describe(CLI::App& app, const std::string& example);

// The exit code with which the tool ends right away, or nothing: go on. All flags and verbs must be defined.
std::optional<int> parse(CLI::App& app, int argc, const char* const* argv);

// To CLI11 the words "++" and "-5" mean something, to us they are keys or numbers like any other: parse()
// hides them, this brings them back.
std::string as_typed(const std::string& word);

// Names what is wrong on standard error; the exit code of a wrong use.
int refuse(const CLI::App& app, const std::string& message);

// Options whose text is checked as it is read. `target` must outlive the parse.
CLI::Option* add_duration(CLI::App& app, const std::string& name, std::chrono::milliseconds& target,
                          const std::string& help);
CLI::Option* add_duration(CLI::App& app, const std::string& name,
                          std::optional<std::chrono::milliseconds>& target, const std::string& help);
CLI::Option* add_durability(CLI::App& app, const std::string& name, std::optional<Durability>& target,
                            const std::string& help);

// HOST:PORT[,HOST:PORT…], then RINGKV_NODE, then 127.0.0.1:7401.
CLI::Option* add_nodes(CLI::App& app, std::vector<std::string>& target);

}  // namespace ringkv::tools
