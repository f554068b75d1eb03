// Everything that can go wrong in a simulation, and how often: fields of one struct.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/time.h"
#include "ringkv/status.h"

namespace ringkv::simulation {

struct Faults {
  // The network, a share of all segments. TCP hides loss, duplicates and reordering within a connection: what
  // is left of them is delay, also of all that comes behind, and streams that overtake each other.
  double delayed = 0;    // by up to half a second
  double lost = 0;       // sent again after a time-out that doubles
  double reordered = 0;  // overtaken by segments of other connections
  double reset = 0;      // half of its bytes arrive, then both sides see a reset
  double silenced = 0;   // the connection passes nothing any more; the ends learn it by time-outs alone
  double half_open = 0;  // one end loses the connection, and the other isn't told
  double dripping = 0;   // from then on the connection passes a few bytes at a time, for up to 20 s

  // Of the whole ring, on average this far apart; zero: never.
  Duration partition{};  // machines fall into groups that don't hear each other, for 1 to 20 s
  Duration cut{};        // two machines don't hear each other, or one doesn't hear the other, for up to 10 s
  Duration latency{};    // two machines are far from each other for a while: up to 100 ms each way
  Duration swizzle{};    // some nodes stop hearing all others, one by one, and begin again in another order

  // Of each node, on average this far apart; zero: never.
  Duration freeze{};      // its process stands still for 0.1 to 60 s, then all comes at once
  Duration move{};        // restarted at other addresses
  Duration swap{};        // restarted at another node's addresses, and that one at its
  Duration kill{};        // kill -9: what was written to the log stays
  Duration power_cut{};   // what wasn't synced may be lost; peers hear nothing
  Duration stop{};        // asked to stop
  Duration disk_error{};  // one of the next writes, syncs or reads fails
  Duration low_space{};   // for some seconds
  Duration slow_disk{};   // a hundred times slower, for up to a minute
  // Of its wall clock; never are those of most nodes far off at once.
  Duration clock_jump{};   // to up to an hour off
  Duration clock_drift{};  // it goes up to 5 % too fast or too slow, for up to a minute
  Duration clock_still{};  // it stands still for up to a minute, and is so far behind for up to another
  Duration wrong_day{};    // it is days off for up to a minute
  Duration lost_date{};    // the node comes back from a restart with a date up to 400 days off
  Duration absence{};      // it is away for 20 to 60 s: longer than hints last
  Duration sleep{};        // its process stands still for 10 s to a minute, in which days pass everywhere
  // Of few nodes, so that a majority of the voters keeps its vote.
  Duration wipe{};     // its disk is replaced by an empty one, and it joins again under its name
  Duration restore{};  // its disk is put back to what it was some time and some lives ago
  Duration damage{};   // of the whole ring: one node finds files damaged
  Duration flip{};     // the same: a block of a file of that node's has a flipped bit
  Duration gone{};     // of the whole ring: one node leaves and never comes back
  // Of the whole ring: an operator plans, commits or cancels a change of it.
  Duration members{};
  // Of the whole ring: whoever has a certain part in a change under way is hit just then.
  Duration aimed{};

  double torn = 0;        // of power cuts: the log ends in a part of a write, with garbage behind it
  double slow_work = 0;   // of work off the loop, up to a second
  double cache_miss = 0;  // of look-ups, so that they go through a worker
};

// The words of `--faults`, each with what it switches on.
std::vector<std::string> fault_names();
using FaultInterval = Duration Faults::*;
std::string_view name_of(FaultInterval fault);

// "all", "none", or words with commas between them. INVALID_ARGUMENT names the nearest word.
Result<Faults> faults_from(std::string_view list);

// What one seed gets of what is allowed: half of the faults not at all, each of the others seldom or often,
// since one fault can hide another ("swarm testing", Groce and others, 2012).
Faults drawn(const Faults& allowed, Random& random);

}  // namespace ringkv::simulation
