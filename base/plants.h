// Faults planted in the code, so that the simulator can be seen to find them (tests/README.md has the table).
// They are compiled into kvsim alone (cmake/Plants.cmake). In every other program planted() is false while it
// is compiled, and nothing is left of what it guards. Only .cc files ask: a header's code would be in both.
#pragma once

#include <cstdint>

namespace ringkv {

enum class Plant : uint8_t {
  kNone,
  // Disk and lives
  kSkipFsync,
  kIgnoreFailedSync,
  kAcknowledgeBeforeCommit,
  kReuseActor,
  kServeAfterDamage,
  kForgetLeaf,
  // Versions
  kForgetTombstoneContext,
  kContextCoversTooMuch,
  kMergeDropsSibling,
  kOwnClockAlone,
  kRepairOverwrites,
  // Quorums
  kDoubleAtWrap,
  kIgnoreRack,
  kCountReplicaTwice,
  kOwnHintCounts,
  kErrorIsAnAnswer,
  kConfirmUnheard,
  kReadUnwhole,
  kReadUncommitted,
  kForgetOperations,
  kStaleEpoch,
  // Convergence
  kDropHint,
  kCancelUncoveredHint,
  kForgetRefusedHint,
  kFloorBeforeRecords,
  kForgetReceived,
  kPurgeAboveFloor,
  kCloseBeforeRounds,
  // Changes of the ring
  kSkipDualWrite,
  kTwoEpochCutover,
  kSwitchBeforeTransfer,
  kDropUntaken,
  kKeepFormer,
  kKeepFloorOfDropped,
  kLeaveWithHints,
  kLeaveUntaken,
  kVoteAfterWipe,
  kVoteAfterRestore,
  kForgetPromise,
};

#ifdef RINGKV_PLANTS
// Whether it is the one that kvsim was asked for (tools/simulation/plants.h).
bool is_sown(Plant plant);
inline bool planted(Plant plant) { return is_sown(plant); }
#else
consteval bool planted(Plant) { return false; }
#endif

}  // namespace ringkv
