#include "tools/simulation/simulation.h"

#include <set>

#include "base/text.h"
#include "tools/simulation/core_progress.h"
#include "tools/simulation/peace.h"
#include "tools/simulation/simulated_ring.h"

namespace ringkv::simulation {
namespace {

// I5 for changes of the ring, which are named by the time to live that they set.
void check_ring_changes(SimulatedRing& ring) {
  std::set<uint64_t> chosen;
  for (const RingDescription& description : ring.watch().descriptions()) {
    const BucketDescription* spare = description.find_bucket(kSpareBucket);
    if (spare != nullptr) chosen.insert(spare->ttl_ms);
  }
  for (OperationIndex index = 0; index < ring.history().operations().size(); ++index) {
    const Operation& operation = ring.history().operations()[index];
    const auto* change = std::get_if<ClientChangeBucket>(&operation.request.body);
    if (change == nullptr || !chosen.contains(*change->change.ttl_ms)) continue;
    const Status& status = operation.reply.status;
    if (status.code() == StatusCode::kUnknownOutcome) {
      ring.sightings().saw(sighting::kRingChangeFinishedByOthers);
    } else if (!status.ok()) {
      ring.note(Violation{"I5", cat(name_of(index), " changed the ring and had failed")});
    }
  }
}

// Users begin once their bucket is there.
void pass_with_user(SimulatedRing& ring, Duration duration) {
  const Time end = ring.now() + duration;
  constexpr Duration kLookForBucket = std::chrono::milliseconds(100);
  while (!ring.workload().ready() && ring.now() < end && !ring.violation()) ring.pass(kLookForBucket);
  ring.user_load()->start();
  ring.pass(end - ring.now());
  ring.user_load()->stop();
}

}  // namespace

SimulationResult simulate(const SimulationSettings& settings) {
  SimulatedRing ring(settings);
  ring.found();
  ring.workload().start();
  ring.nemesis().strike_members();
  if (ring.user_load() != nullptr) {
    pass_with_user(ring, settings.duration);
  } else {
    ring.pass(settings.duration);
  }
  ring.workload().quiesce();
  if (settings.mode == Mode::kLiveness) {
    CoreProgress(ring).demand();
  } else {
    Peace(ring).demand();
  }
  if (!ring.violation()) check_ring_changes(ring);
  return ring.result();
}

}  // namespace ringkv::simulation
