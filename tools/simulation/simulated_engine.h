// An engine that tells the trace each write, with its bytes, and whose syncs take time: between the
// moment at which a synced write can be read and the one at which it is safe from a power cut others may read
// it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "storage/memory_engine.h"
#include "tools/simulation/simulated_executor.h"
#include "tools/simulation/world.h"

namespace ringkv::simulation {

// The sync that will fail: the nth from now; 0: none. (MemoryDisk's own would also hit the end of a sync that
// has been reported as done.)
struct PlannedSyncFault {
  uint64_t calls_left = 0;
  DiskError error = DiskError::kInputOutput;
};

class SimulatedEngine final : public Engine {
 public:
  // All but the name are borrowed.
  struct Machine {
    std::string node;
    MemoryDisk& disk;
    PlannedSyncFault& sync_fault;
    SimulatedExecutor& executor;
    // A record is being erased: its storage key and its bytes up to now.
    std::function<void(std::string_view, std::string_view)> on_erase;
  };

  // `engine`: on that disk.
  SimulatedEngine(World& world, Machine machine, std::unique_ptr<Engine> engine)
      : world_(world), machine_(std::move(machine)), engine_(std::move(engine)) {}
  ~SimulatedEngine() override { *alive_ = false; }

  std::unique_ptr<Batch> new_batch() override;
  Status write(Batch& batch, bool sync) override;
  Result<Lookup> get(Family family, std::string_view key, std::string& value) override {
    return engine_->get(family, key, value);
  }
  Result<Lookup> get_cached(Family family, std::string_view key, std::string& value) override {
    return engine_->get_cached(family, key, value);
  }
  std::unique_ptr<Cursor> seek(Family family, std::string_view lower, std::string_view upper) override {
    return engine_->seek(family, lower, upper);
  }
  Status flush() override;
  Status reclaim(Family, std::string_view, std::string_view) override { return {}; }
  void stop_reclaiming() override {}
  uint64_t disk_free_bytes() const override { return engine_->disk_free_bytes(); }
  uint64_t disk_size_bytes() const override { return engine_->disk_size_bytes(); }
  std::map<std::string, uint64_t> statistics() const override { return engine_->statistics(); }

 private:
  // The next sync fails, which MemoryDisk does, if it is the planned one.
  bool plan_failure();
  Status write_and_sync(Batch& batch);
  void tell_erased(const std::vector<std::string>& keys);

  World& world_;
  const Machine machine_;
  const std::unique_ptr<Engine> engine_;
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace ringkv::simulation
