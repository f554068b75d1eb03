// Programs that a comparison starts, measures and ends: only those, each by its process id.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "ringkv/status.h"

namespace ringkv::tools {

// A folder under $TMPDIR or /tmp, gone with all in it at the end.
class ScratchFolder {
 public:
  static Result<ScratchFolder> make();
  ScratchFolder(ScratchFolder&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
  ~ScratchFolder();

  const std::filesystem::path& path() const { return path_; }

 private:
  explicit ScratchFolder(std::filesystem::path path) : path_(std::move(path)) {}

  std::filesystem::path path_;
};

// Ends with its owner: by SIGTERM, after ten seconds by SIGKILL; and at once when this process is killed.
class ChildProcess {
 public:
  // words[0] is the program's path. What it prints, both streams, goes into the file.
  static Result<ChildProcess> start(const std::vector<std::string>& words,
                                    const std::filesystem::path& output);
  ChildProcess(ChildProcess&& other) noexcept : pid_(other.pid_), output_(std::move(other.output_)) {
    other.pid_ = -1;
  }
  ~ChildProcess();

  // False: it has ended.
  bool running();
  // Its exit code, once it has ended by itself; 128 and the signal otherwise.
  int wait();

 private:
  ChildProcess(pid_t pid, std::filesystem::path output) : pid_(pid), output_(std::move(output)) {}

  friend Status wait_for_port(ChildProcess& child, uint16_t port);

  pid_t pid_;
  std::filesystem::path output_;
};

// Returns when it listens on 127.0.0.1. UNAVAILABLE shows the last of what it printed.
Status wait_for_port(ChildProcess& child, uint16_t port);

// Distinct ports of 127.0.0.1 that nobody has just now.
Result<std::vector<uint16_t>> free_ports(size_t count);

// Where $PATH has it.
std::optional<std::string> program_in_path(const std::string& name);
// Beside the program that runs.
std::string program_beside(const std::string& name);

std::string last_lines(const std::filesystem::path& file);

}  // namespace ringkv::tools
