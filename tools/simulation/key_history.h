// A history taken apart by key: each write with what is known of it, each reading with what it showed.
// Nothing is judged here.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "storage/record.h"
#include "tools/simulation/history.h"

namespace ringkv::simulation {

// A put or delete, with all tries of it by its operation id.
struct Write {
  OperationIndex index = 0;  // of the first try
  std::string value;
  bool is_delete = false;
  std::optional<CausalContext> context;  // nothing: blind
  std::set<std::string> seen_values;     // those that the answer showed from which the context was taken
  bool synced = true;
  Step invoked = 0;

  // When it was first acknowledged, or seen by a reader; kNever: its outcome is open, or it failed.
  Step known = kNever;
  bool acknowledged = false;
  bool seen_committed = false;  // by a get, which shows nothing that isn't as durable as it was asked to be
  bool failed = false;          // the last word is that nothing was written
  Step lost_from = kNever;      // a power cut that may have lost it

  // From receipts: what the put left behind, and the dots that it was given, of which there must be one.
  std::optional<CausalContext> left;
  std::set<Dot> dots;

  std::optional<Dot> dot() const { return dots.empty() ? std::nullopt : std::optional<Dot>(*dots.begin()); }
};

// What one answer said about one key.
struct Reading {
  OperationIndex index = 0;
  Step invoked = 0;
  Step completed = 0;
  std::optional<std::set<std::string>> values;  // nothing: some, it didn't say which
  std::optional<CausalContext> context;
  std::vector<std::pair<Dot, std::string>> versions;  // of a replica, without tombstones
};

struct KeyHistory {
  uint32_t ring = 0;
  std::string bucket;
  std::string key;
  bool last_writer_wins = false;
  std::deque<Write> writes;  // in order of invocation; never moved
  std::vector<Reading> readings;
  std::vector<Step> power_cuts;  // of its ring

  std::string name() const;
};

// For people: "operation 17".
std::string name_of(OperationIndex index);

// `lww_bucket`: the one bucket in which the last writer wins.
std::vector<KeyHistory> key_histories(const History& history, const std::string& lww_bucket);

}  // namespace ringkv::simulation
