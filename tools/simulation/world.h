// What all parts of one simulation share. Borrowed by them; the simulation owns it.
#pragma once

#include "base/random.h"
#include "tools/simulation/calendar.h"
#include "tools/simulation/event_queue.h"
#include "tools/simulation/faults.h"
#include "tools/simulation/sightings.h"
#include "tools/simulation/trace.h"

namespace ringkv::simulation {

struct World {
  EventQueue& events;
  Trace& trace;
  Random& random;  // of the network, the disks and the faults; each node and client has its own
  const Faults& faults;
  Sightings& sightings;
  Calendar& calendar;

  // Rolls for a fault: true for this share of the calls.
  bool happens(double share) const { return share > 0 && random.unit() < share; }
  Duration up_to(Duration longest) const {
    return Duration(random.below(static_cast<uint64_t>(longest.count()) + 1));
  }
};

}  // namespace ringkv::simulation
