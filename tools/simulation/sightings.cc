#include "tools/simulation/sightings.h"

#include "base/check.h"

namespace ringkv::simulation {
namespace {

constexpr std::string_view kSeenBySimulator[] = {
    sighting::kPartitionUnderLoad,
    sighting::kOneWayCut,
    sighting::kSwizzled,
    sighting::kHalfOpen,
    sighting::kDripped,
    sighting::kFrozenUnderLoad,
    sighting::kMoved,
    sighting::kSwapped,
    sighting::kSlowDisk,
    sighting::kClockJumped,
    sighting::kClockDrifted,
    sighting::kClockStoodStill,
    sighting::kLostDate,
    sighting::kPowerCutDuringSync,
    sighting::kReadingUnconfirmed,
    sighting::kOutcomeUnknown,
    sighting::kOutcomeLearnt,
    sighting::kSiblings,
    sighting::kRingChangedUnderLoad,
    sighting::kRingChangeFinishedByOthers,
    sighting::kWrongDay,
    sighting::kAbsence,
    sighting::kDaysPassed,
    sighting::kWiped,
    sighting::kPutBack,
    sighting::kDamageSetAside,
    sighting::kFlipped,
    sighting::kTornLog,
    sighting::kGone,
    sighting::kLeft,
    sighting::kJoinBegun,
    sighting::kSeveralJoin,
    sighting::kLeaveBegun,
    sighting::kReplaceBegun,
    sighting::kWeightBegun,
    sighting::kRackBegun,
    sighting::kReplicasBegun,
    sighting::kMoveBegun,
    sighting::kChangeFinished,
    sighting::kChangeCancelled,
    sighting::kTwoCommits,
    sighting::kTransferResumed,
    sighting::kOldDiskRefused,
    sighting::kHitGainer,
    sighting::kHitSource,
    sighting::kHitLeaver,
    sighting::kHitProposer,
    sighting::kHitAdopter,
    sighting::kHitOldOwner,
    sighting::kHitFormer,
    sighting::kFullForGood,
    sighting::kCutOffForGood,
    sighting::kNoCore,
    sighting::kCoreInChange,
    sighting::kCoreWaitedLong,
    sighting::kChangeGivenUp,
    sighting::kCoreServesKey,
    sighting::kCoreLacksKey,
    sighting::kLossAccepted,
    sighting::kSloppy,
    sighting::kTimeWrong,
};

// What only the nodes know, by the names of their figures.
struct NodeFigure {
  std::string_view name;
  std::string_view sighting;
};
constexpr NodeFigure kSeenByNodes[] = {
    {"put.forwarded", "a put was forwarded"},
    {"get.hedged", "a slow owner was joined by another"},
    {"get.read_repairs", "a read repaired an owner"},
    {"ring.requests_refused_stale", "a request of an older epoch was refused"},
    {"ring.requests_held", "a request of a newer epoch waited for the ring"},
    {"ring.requests_refused_waiting", "a write that waited for its key was refused by another ring"},
    {"ring.proposals_lost", "a proposal for the next ring lost"},
    {"store.fences", "a store failed and was opened again"},
    {"store.arrivals_under_floor", "a version was dropped since the floor covers it"},
    {"members.suspected", "a node was suspected"},
    {"members.refuted", "a suspicion was refuted"},
    {"members.down", "a node was called down"},
    {"hints.stored", "a hint was stored"},
    {"hints.refused", "a hint was refused"},
    {"hints.delivered", "a hint was delivered"},
    {"hints.cancelled", "a hint was cancelled"},
    {"hints.redirected", "a hint went to the present owners"},
    {"rounds.equal", "a round found two nodes equal at once"},
    {"rounds.keys_received", "a round brought what was missing"},
    {"tombstones.erased", "a tombstone was let go"},
    {"expired.erased", "an expired value was let go"},
    {"lives.closed", "a life was closed"},
    {"former.dropped", "a former owner let a partition go"},
};

}  // namespace

Sightings::Sightings() {
  for (const std::string_view name : kSeenBySimulator) counts_.emplace(name, 0);
  for (const NodeFigure& figure : kSeenByNodes) counts_.emplace(figure.sighting, 0);
}

void Sightings::saw(std::string_view what, uint64_t times) {
  const auto found = counts_.find(what);
  CHECK(found != counts_.end());
  found->second += times;
}

void Sightings::add_figures(const Statistics& figures) {
  for (const NodeFigure& figure : kSeenByNodes) {
    const auto found = figures.find(std::string(figure.name));
    if (found != figures.end()) saw(figure.sighting, static_cast<uint64_t>(found->second));
  }
}

namespace {

std::string_view begun(const PlanStep& step) {
  if (std::holds_alternative<PlanJoin>(step)) return sighting::kJoinBegun;
  if (std::holds_alternative<PlanLeave>(step)) return sighting::kLeaveBegun;
  if (std::holds_alternative<PlanReplace>(step)) return sighting::kReplaceBegun;
  if (std::holds_alternative<PlanWeight>(step)) return sighting::kWeightBegun;
  if (std::holds_alternative<PlanRack>(step)) return sighting::kRackBegun;
  if (std::holds_alternative<PlanReplicas>(step)) return sighting::kReplicasBegun;
  return sighting::kMoveBegun;
}

}  // namespace

void Sightings::add_change(const RingDescription& before, const RingDescription& after) {
  if (before.change && !after.change)
    saw(before.change->switched ? sighting::kChangeFinished : sighting::kChangeCancelled);
  if (before.change || !after.change || !before.plan) return;
  uint64_t joins = 0;
  for (const PlanStep& step : before.plan->steps) {
    saw(begun(step));
    joins += std::holds_alternative<PlanJoin>(step) ? 1 : 0;
  }
  if (joins > 1) saw(sighting::kSeveralJoin);
}

}  // namespace ringkv::simulation
