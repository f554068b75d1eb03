// What a program that runs seeds is told on its command line, and the words that say it again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tools/simulation/simulation.h"

namespace ringkv::simulation {

struct SeedFlags {
  std::string program = "kvsim";
  uint64_t seed = 1;  // of the first run
  uint64_t seeds = 1;
  uint32_t nodes = 5;
  double minutes = 10;
  double operations_per_second = 12;
  std::string faults = "all";
  std::string mode = "safety";
  uint32_t jobs = 1;
  std::string only_faults;      // empty: all; "none"; or names of strikes with commas between them
  std::string only_operations;  // empty: all; "none"; or numbers and ranges
  uint32_t shrink_s = 60;       // for so long a smaller run is looked for that breaks the same promise
  std::string trace;            // a file
  bool verbose = false;
  std::string plant;  // a fault that kvsim has in its code; empty: none
};

// The exit code with which the program ends right away, or nothing: go on.
std::optional<int> read_flags(int argc, const char* const* argv, SeedFlags& flags);

// Of the first run, without a trace. The flags have been read: their words are right.
SimulationSettings settings_of(const SeedFlags& flags);

// The command that repeats the run of this seed alone.
std::string command_of(const SeedFlags& flags, uint64_t seed);

// What `only_faults` and `only_operations` say of these.
std::string chosen(const Names& strikes);
std::string chosen(const Numbers& operations);

}  // namespace ringkv::simulation
