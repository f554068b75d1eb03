// Opens a node's store from nothing to ready: engine, ring (founding it at the first start), boots, leaves.
// The same at start and after a fence. Blocks; runs off the loop.
#pragma once

#include <memory>
#include <string>

#include "base/ring_description.h"
#include "replication/wholeness.h"
#include "storage/data_directory.h"
#include "storage/engine.h"
#include "storage/hint_store.h"
#include "storage/lost_ranges.h"
#include "storage/recovery.h"

namespace ringkv {

// What a first start founds its cluster with; a later one finds the ring on its disk.
struct Founding {
  bool bootstrap = false;
  std::string joined_ring;  // encoded; of a cluster that has taken this node as a member

  uint32_t replicas = 3;
  uint32_t partitions = kPartitionsDefault;
  PlacerKind placer = PlacerKind::kBalanced;
  std::string rack = "default";
  double weight = 1;
  std::string secret;  // 32 random bytes
};

struct OpenedStore {
  std::unique_ptr<Engine> engine;
  RingDescription ring;
  RecoveredStore recovered;
  RecoveredHints hints;
  uint64_t generation = 0;  // one more than at the start before
  // Where it took the place of a member whose data are lost, or has lost data itself, it isn't whole until it
  // has got its copies: it takes writes and doesn't count for reads.
  Wholeness wholeness;
  std::string peers_record;  // what gossip has left here; empty: nothing yet
  std::string acceptor_record;
  std::string older_copy_record;
  std::string log_damage;  // empty: none
  LostRanges lost;         // what this opening had to give up; all that follows from it is on disk
  // While it isn't whole after such a loss: which files were damaged, for people. Else empty.
  std::string damage;
};

// With kPlain, where that finds damage, once more with kSetDamagedAside. INVALID_ARGUMENT when there is no
// ring and none is to be founded, or the founding settings are wrong; else what the engine and recovery say.
Result<OpenedStore> open_store(const EngineOpener& open_engine, const Identity& identity, Boot boot,
                               const Founding& founding, OpenMode mode = OpenMode::kPlain);

// A ring of one member.
Result<RingDescription> found_ring(const Identity& identity, const Founding& founding);

}  // namespace ringkv
