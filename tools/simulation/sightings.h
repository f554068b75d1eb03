// What a simulation must meet now and then, or it proves nothing: counted, shown by kvsim -v, which fails
// where a long run with all faults never meets one.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/ring_description.h"
#include "ringkv/admin.h"

namespace ringkv::simulation {

// In the words of a sentence: "a put was forwarded".
using SightingCounts = std::map<std::string, uint64_t, std::less<>>;

class Sightings {
 public:
  Sightings();  // of each, none yet

  void saw(std::string_view what, uint64_t times = 1);
  // The figures that a node had counted when one of its lives ended.
  void add_figures(const Statistics& figures);
  // What the later of two rings, the next that was seen, made of the earlier one.
  void add_change(const RingDescription& before, const RingDescription& after);

  const SightingCounts& counts() const { return counts_; }

 private:
  SightingCounts counts_;
};

namespace sighting {
inline constexpr std::string_view kPartitionUnderLoad = "a partition while requests were under way";
inline constexpr std::string_view kOneWayCut = "a cut in one direction only";
inline constexpr std::string_view kSwizzled = "nodes fell silent one by one and came back in another order";
inline constexpr std::string_view kHalfOpen = "one end of a connection was lost and the other not told";
inline constexpr std::string_view kDripped = "a connection passed a few bytes at a time";
inline constexpr std::string_view kFrozenUnderLoad = "a process stood still while requests were under way";
inline constexpr std::string_view kMoved = "a node came back at other addresses";
inline constexpr std::string_view kSwapped = "two nodes came back with each other's addresses";
inline constexpr std::string_view kSlowDisk = "a disk was a hundred times slower";
inline constexpr std::string_view kClockJumped = "a clock was minutes off";
inline constexpr std::string_view kClockDrifted = "a clock went too fast or too slow";
inline constexpr std::string_view kClockStoodStill = "a clock stood still";
inline constexpr std::string_view kLostDate = "a node came back with a date months off";
inline constexpr std::string_view kPowerCutDuringSync = "power was cut during a sync";
inline constexpr std::string_view kReadingUnconfirmed = "an answer was unconfirmed";
inline constexpr std::string_view kOutcomeUnknown = "the outcome of a write was unknown";
inline constexpr std::string_view kOutcomeLearnt = "an operation id told an unknown outcome";
inline constexpr std::string_view kSiblings = "a get showed siblings";
inline constexpr std::string_view kRingChangedUnderLoad = "the ring changed while requests were under way";
inline constexpr std::string_view kRingChangeFinishedByOthers =
    "a ring that its proposer didn't know to be chosen";
inline constexpr std::string_view kWrongDay = "a clock was days off";
inline constexpr std::string_view kAbsence = "a node was away for long while requests were under way";
inline constexpr std::string_view kDaysPassed = "days passed while a process stood still";
inline constexpr std::string_view kWiped = "a disk was wiped while requests were under way";
inline constexpr std::string_view kPutBack = "a disk was put back to an older copy";
inline constexpr std::string_view kDamageSetAside = "a damaged file was set aside";
inline constexpr std::string_view kFlipped = "a bit was flipped in a file";
inline constexpr std::string_view kTornLog = "a torn write was met at a start";
inline constexpr std::string_view kLeft = "a member left the ring";
inline constexpr std::string_view kJoinBegun = "a change began: join";
inline constexpr std::string_view kSeveralJoin = "a change began: several join together";
inline constexpr std::string_view kLeaveBegun = "a change began: leave";
inline constexpr std::string_view kReplaceBegun = "a change began: replace";
inline constexpr std::string_view kWeightBegun = "a change began: weight";
inline constexpr std::string_view kRackBegun = "a change began: rack";
inline constexpr std::string_view kReplicasBegun = "a change began: replicas";
inline constexpr std::string_view kMoveBegun = "a change began: move";
inline constexpr std::string_view kChangeFinished = "a change was finished";
inline constexpr std::string_view kChangeCancelled = "a change was cancelled";
inline constexpr std::string_view kTwoCommits = "a plan was committed twice at once";
inline constexpr std::string_view kTransferResumed = "a transfer went on after one of its sides had died";
inline constexpr std::string_view kOldDiskRefused =
    "a replaced member came back with its old disk, and was refused";
inline constexpr std::string_view kHitGainer = "hit: one that took partitions over";
inline constexpr std::string_view kHitSource = "hit: one that others took partitions over from";
inline constexpr std::string_view kHitLeaver = "hit: one that was leaving";
inline constexpr std::string_view kHitProposer = "hit: one that proposed the next ring";
inline constexpr std::string_view kHitAdopter = "hit: one that held a ring which others didn't";
inline constexpr std::string_view kHitOldOwner = "hit: an old owner after a switch that wasn't finished";
inline constexpr std::string_view kHitFormer = "hit: a former owner that had partitions still";
inline constexpr std::string_view kFullForGood = "liveness: a disk stayed full";
inline constexpr std::string_view kCutOffForGood = "liveness: a member stayed cut off";
inline constexpr std::string_view kNoCore = "liveness: too much was lost for a core";
inline constexpr std::string_view kCoreInChange = "liveness: a change was under way when the rest broke";
inline constexpr std::string_view kCoreWaitedLong = "liveness: the core waited for ten minutes";
inline constexpr std::string_view kChangeGivenUp = "liveness: the members gave a change up";
inline constexpr std::string_view kCoreServesKey = "liveness: a key was demanded of the core";
inline constexpr std::string_view kCoreLacksKey = "liveness: a key of too few whole owners was let off";
inline constexpr std::string_view kGone = "a node left for good";
inline constexpr std::string_view kLossAccepted = "a loss was accepted";
inline constexpr std::string_view kSloppy = "a hint acknowledged a put";
inline constexpr std::string_view kTimeWrong = "a node took it for another time";
}  // namespace sighting

}  // namespace ringkv::simulation
