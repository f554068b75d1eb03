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

}  // namespace

SimulationResult simulate(const SimulationSettings& settings) {
  SimulatedRing ring(settings);
  ring.found();
  ring.workload().start();
  ring.nemesis().strike_members();
  ring.pass(settings.duration);
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
