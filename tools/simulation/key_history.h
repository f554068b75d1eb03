// A history taken apart by key: each write with what is known of it and of who holds it, each reading with
// what it showed. Nothing is judged here.
#pragma once

#include <algorithm>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "storage/record.h"
#include "tools/simulation/disk_losses.h"
#include "tools/simulation/history.h"

namespace ringkv::simulation {

// So many owners had a write, or something that had replaced it, committed at some moment of `written`: an
// acknowledgement, a get that was confirmed, a look at one replica. Or one node had it as a hint.
struct Held {
  std::string node;  // empty: it isn't known which of the owners
  uint32_t owners = 1;
  DiskLosses::Written written;
  bool synced = false;
  bool hint = false;  // seen once everything has converged, not before
};

// A put or delete, with all tries of it by its operation id.
struct Write {
  OperationIndex index = 0;  // of the first try
  uint32_t client = 0;
  std::string value;
  bool is_delete = false;
  std::optional<CausalContext> context;  // that it was given
  bool reads_first = false;              // without one it takes what a read quorum holds; else it is blind
  bool synced = true;                    // as it was asked for
  std::set<std::string> seen_values;     // those that the answer showed from which the context was taken
  Step invoked = 0;
  std::optional<Duration> ttl;  // its time begins when it is stamped: between these two
  Time invoked_at{};
  std::optional<Time> stamped_until;  // nothing: requests that the network holds back come late

  Step known = kNever;  // acknowledged, or seen by a reader; kNever: its outcome is open, or it failed
  bool acknowledged = false;
  bool failed = false;  // the last word is that nothing was written

  // From receipts: the context of the record that it left behind; whether it stood alone in that; and the
  // dots that it was given, of which there must be one.
  std::optional<CausalContext> left;
  Step left_told = kNever;  // when the client of the first try learnt that from it
  bool left_alone = false;
  std::set<Dot> dots;
  // Contexts of answers that showed it: each covers its dot, whatever that is. None covers another.
  std::vector<CausalContext> shown_within;

  std::vector<Held> held;

  // The context surely covers its dot, which may be unknown.
  bool is_within(const CausalContext& by) const {
    if (const auto known = dot()) return by.covers(*known);
    return std::any_of(shown_within.begin(), shown_within.end(),
                       [&](const CausalContext& shown) { return by.vector.covers(shown.vector); });
  }

  bool is_blind() const { return !context && !reads_first; }
  std::optional<Dot> dot() const { return dots.empty() ? std::nullopt : std::optional<Dot>(*dots.begin()); }
};

// Whom an answer must have asked.
struct Look {
  Step invoked = 0;
  Step completed = 0;
  uint32_t read_quorum = 0;  // owners; 0: the default, of whatever list it went by
  std::string node;          // that one alone
  bool healed = false;       // everything had converged before
  Time invoked_at{};
  Time completed_at{};
};

// What one answer said about one key.
struct Reading {
  OperationIndex index = 0;
  Look look;
  bool confirmed = false;  // so many owners hold what it says that no later quorum may miss it
  std::optional<std::set<std::string>> values;  // nothing: some, it didn't say which
  std::optional<CausalContext> context;
  std::vector<std::pair<Dot, std::string>> versions;  // of a replica, without tombstones
};

struct KeyHistory {
  std::string bucket;
  std::string key;
  bool last_writer_wins = false;
  std::deque<Write> writes;  // in order of invocation; never moved
  std::vector<Reading> readings;

  std::string name() const;
};

std::vector<KeyHistory> key_histories(const History& history, const RingFacts& ring,
                                      const DiskLosses& losses);

}  // namespace ringkv::simulation
