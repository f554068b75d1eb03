#include "tools/simulation/plants.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "base/text.h"

namespace ringkv {
namespace {

Plant sown = Plant::kNone;

}  // namespace

// Of the planted objects alone: to others it is no function (base/plants.h).
bool is_sown(Plant plant) { return plant == sown; }

namespace simulation {
namespace {

constexpr NamedPlant kPlants[] = {
    {"skip-fsync", Plant::kSkipFsync, "no batch is synced"},
    {"ignore-failed-sync", Plant::kIgnoreFailedSync, "a batch that failed counts as committed"},
    {"acknowledge-before-commit", Plant::kAcknowledgeBeforeCommit, "no message waits for its record"},
    {"reuse-actor", Plant::kReuseActor, "a node stamps with one boot in all of its lives"},
    {"serve-after-damage", Plant::kServeAfterDamage, "partitions with damaged files pass for whole", false},
    {"forget-leaf", Plant::kForgetLeaf, "leaves that have changed aren't in the journal"},
    {"forget-tombstone-context", Plant::kForgetTombstoneContext, "a tombstone covers itself alone"},
    {"context-covers-too-much", Plant::kContextCoversTooMuch,
     "a put with a context replaces all of every actor that is named there"},
    {"merge-drops-sibling", Plant::kMergeDropsSibling, "a merge keeps one side's version of two"},
    {"own-clock-alone", Plant::kOwnClockAlone, "a stamp's time isn't behind that of what it replaces"},
    {"repair-overwrites", Plant::kRepairOverwrites, "a read repair replaces what it should be merged with"},
    {"double-at-wrap", Plant::kDoubleAtWrap,
     "where the walk crosses the ring's end its first node is met again"},
    {"ignore-rack", Plant::kIgnoreRack, "preference lists don't look at racks"},
    {"count-replica-twice", Plant::kCountReplicaTwice, "a second acknowledgement of an owner counts"},
    {"own-hint-counts", Plant::kOwnHintCounts, "the coordinator's hint counts beside its copy"},
    {"error-is-an-answer", Plant::kErrorIsAnAnswer, "an owner that couldn't read counts for r", false},
    {"confirm-unheard", Plant::kConfirmUnheard, "answers are confirmed that too few owners hold", false},
    {"read-unwhole", Plant::kReadUnwhole, "an owner that isn't whole answers reads"},
    {"read-uncommitted", Plant::kReadUncommitted, "a read sees what is being written", false},
    {"forget-operations", Plant::kForgetOperations, "a coordinator stamps a retried operation again"},
    {"stale-epoch", Plant::kStaleEpoch, "requests that were routed by an older ring are admitted", false},
    {"drop-hint", Plant::kDropHint, "hints are acknowledged and not kept"},
    {"cancel-uncovered-hint", Plant::kCancelUncoveredHint,
     "a hint goes though it holds more than was acknowledged", false},
    {"forget-refused-hint", Plant::kForgetRefusedHint, "a hint goes though its node refused it", false},
    {"floor-before-records", Plant::kFloorBeforeRecords, "a round raises the floor when it begins"},
    {"forget-received", Plant::kForgetReceived, "what a round brings isn't stored"},
    {"purge-above-floor", Plant::kPurgeAboveFloor, "tombstones go at once"},
    {"close-before-rounds", Plant::kCloseBeforeRounds, "lives are closed before hints and rounds are done",
     false},
    {"skip-dual-write", Plant::kSkipDualWrite, "in a change puts go to the present list alone"},
    {"two-epoch-cutover", Plant::kTwoEpochCutover, "the switch finishes a change, too", false},
    {"switch-before-transfer", Plant::kSwitchBeforeTransfer, "new owners are ready before any round", false},
    {"drop-untaken", Plant::kDropUntaken, "a former owner drops what no owner has taken", false},
    {"keep-former", Plant::kKeepFormer, "a former owner keeps what it should drop"},
    {"keep-floor-of-dropped", Plant::kKeepFloorOfDropped, "a dropped partition's floor stays"},
    {"leave-with-hints", Plant::kLeaveWithHints, "a leaver goes with hints that weren't delivered", false},
    {"leave-untaken", Plant::kLeaveUntaken, "a leaver goes with partitions that weren't taken", false},
    {"vote-after-wipe", Plant::kVoteAfterWipe, "a node with an empty disk votes", false},
    {"vote-after-restore", Plant::kVoteAfterRestore, "a node with an older copy votes", false},
    {"forget-promise", Plant::kForgetPromise, "voters don't write down what they promise", false},
};

}  // namespace

std::span<const NamedPlant> named_plants() { return kPlants; }

Result<Plant> plant_from(std::string_view name) {
  const auto* const found = std::find_if(std::begin(kPlants), std::end(kPlants),
                                         [name](const NamedPlant& named) { return named.name == name; });
  if (found != std::end(kPlants)) return found->plant;
  std::vector<std::string> names;
  for (const NamedPlant& named : kPlants) names.emplace_back(named.name);
  const auto meant = nearest(name, names);
  return invalid_argument(
      cat("there is no plant '", escaped(name), "'", meant ? cat("; did you mean ", *meant, "?") : ""));
}

void sow(Plant plant) { sown = plant; }

}  // namespace simulation
}  // namespace ringkv
