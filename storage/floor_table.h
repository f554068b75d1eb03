// The floors of a node's partitions: for each, "all dots up to here have been merged here, or are superseded
// by what was merged here" (the server-wide clocks of DottedDB, one a partition; "Floors" in
// ARCHITECTURE.md).
//
// What it holds of each partition:
//   floor    actor -> counter, raised by rounds. The own lives aren't here: RecordStore knows them.
//   erased   the joined contexts of all records that were erased there (tombstones, expired values). It is
//   part
//            of the context of every absent record: always under the floor, and empty where nothing was ever
//            erased, so that a store without deletes pays nothing for it.
// And of the whole store the closed lives: ended boots of which nothing can come any more. Their floor is
// everything, everywhere.
//
// On disk in Family::kDigests, in the batch of the data that they speak of (the formats are drawn in
// floor_table.cc): one record a partition, and one an actor for what a whole pair has found equal at once, so
// that a round between equal nodes writes one small record and not thousands.
//
// A value with its changes; writes nothing itself. Loop thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/token.h"
#include "ringkv/status.h"
#include "storage/engine.h"
#include "storage/record.h"

namespace ringkv {

class FloorTable {
 public:
  explicit FloorTable(uint32_t partitions);

  // As stage() left it. CORRUPTION names the damaged record. Blocks.
  static Result<FloorTable> recover(Engine& engine, uint32_t partitions);

  const VersionVector& floor(Partition partition) const;
  const CausalContext& erased(Partition partition) const;
  bool covers(Partition partition, const Dot& dot) const;  // closed lives too

  const std::vector<Actor>& closed() const { return closed_; }  // in order
  bool is_closed(const Actor& actor) const;
  uint64_t closed_digest() const;  // equal sets have equal ones

  // Each puts what must be on disk into `batch`, which holds the data that it speaks of, or follows it.
  void raise(Partition partition, const VersionVector& floor, const CausalContext& erased, Batch& batch);
  // The same floor for many partitions (in order) at once; one small record for each actor.
  void raise(const std::vector<Partition>& partitions, const VersionVector& floor, Batch& batch);
  void add_erased(Partition partition, const CausalContext& context, Batch& batch);
  void close(const std::vector<Actor>& ended, Batch& batch);
  // Something of the partition may be lost: it claims nothing any more.
  void reset(Partition partition, Batch& batch);

 private:
  struct PartitionFloor {
    VersionVector floor;
    CausalContext erased;
  };
  struct WideFloor {
    uint64_t counter = 0;
    std::vector<bool> partitions;
  };

  std::vector<PartitionFloor> partitions_;
  std::vector<std::pair<Actor, WideFloor>> wide_;  // as on disk, in order of actor
  std::vector<Actor> closed_;
};

}  // namespace ringkv
