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
// everything, everywhere but in limited partitions.
//
// A limited partition is one whose data were let go, with its floor. What holds everywhere else doesn't hold
// there: neither that the own lives have merged what they stamped, nor that of closed lives nothing is
// lacking. There only `floor` counts, until rounds have raised it over all that: then the limit is lifted.
//
// On disk in Family::kDigests, in the batch of the data that they speak of (the formats are drawn in
// floor_table.cc): one record a partition, and one an actor for what a whole pair has found equal at once, so
// that a round between equal nodes writes one small record and not thousands. The limits are one record in
// Family::kMeta, which is never lost alone.
//
// Loop thread.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "base/token.h"
#include "ringkv/status.h"
#include "storage/engine.h"
#include "storage/record.h"

namespace ringkv {

class FloorTable {
 public:
  explicit FloorTable(uint32_t partitions);

  // As put_changes() left it. CORRUPTION names the damaged record. Blocks.
  static Result<FloorTable> recover(Engine& engine, uint32_t partitions);
  // For when it can't be recovered: all of it goes. Blocks.
  static Status forget_all(Engine& engine);

  const VersionVector& floor(Partition partition) const;
  const CausalContext& erased(Partition partition) const;
  bool covers(Partition partition, const Dot& dot) const;  // closed lives too

  const std::vector<Actor>& closed() const { return closed_; }  // in order
  // Those that count as closed there.
  const std::vector<Actor>& closed(Partition partition) const;
  bool is_closed(const Actor& actor) const;

  // Each tells true where it told something new; what is on disk follows with put_changes().
  bool raise(Partition partition, const VersionVector& floor, const CausalContext& erased);
  // The same floor for many partitions (in order) at once; one small record for each actor. Limited ones are
  // left out.
  bool raise(const std::vector<Partition>& partitions, const VersionVector& floor);
  bool add_erased(Partition partition, const CausalContext& context);
  bool close(const std::vector<Actor>& ended);
  // Elsewhere something may be lost: there the closed lives don't count as closed any more.
  void limit_closed(const std::vector<Partition>& partitions);  // in order
  // Something of the partition may be lost: it claims nothing any more.
  void reset(Partition partition);
  // Its data go, and what it claims. `own_lives`: how far the own lives had come when they last stamped
  // there.
  void limit(Partition partition, const VersionVector& own_lives);
  bool is_limited(Partition partition) const { return is_limited_[partition]; }
  std::vector<Partition> limited() const;  // in order
  // Whether an own life's dots there can be taken for merged, as they are elsewhere.
  bool claims_own(Partition partition, const Actor& own) const;

  bool has_changes() const {
    return !changed_.empty() || !changed_wide_.empty() || closed_changed_ || limits_changed_;
  }
  // All changes since the last call, into the batch of the data that they speak of, or a later one.
  void put_changes(Batch& batch);

 private:
  struct PartitionFloor {
    VersionVector floor;  // of what is on disk under 'f' and 'w' together
    CausalContext erased;

    bool empty() const { return floor.empty() && erased.vector.empty(); }
  };
  using PartitionBits = std::vector<uint64_t>;  // the lowest bit of a word first
  struct WideFloor {
    uint64_t counter = 0;
    PartitionBits partitions;
  };

  Status read(std::string_view key, std::string_view value);
  Status read_partition(std::string_view key, std::string_view value);
  Status read_wide(std::string_view key, std::string_view value);
  Status read_limits(std::string_view value);
  bool raise_wide(const std::vector<Partition>& partitions, const PartitionBits& named,
                  const VersionVector::Entry& entry);
  void put_partition(Partition partition, Batch& batch) const;
  void put_wide(const Actor& actor, Batch& batch) const;
  void put_limits(Batch& batch) const;
  void lift_limit(Partition partition);
  void forget_closed();

  std::vector<PartitionFloor> partitions_;
  std::map<Actor, WideFloor> wide_;
  std::vector<Actor> closed_;
  std::map<Partition, VersionVector> limits_;  // the own lives then
  std::vector<bool> is_limited_;

  std::set<Partition> changed_;
  std::set<Actor> changed_wide_;
  bool closed_changed_ = false;
  bool limits_changed_ = false;
};

}  // namespace ringkv
