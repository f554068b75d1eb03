#include "tools/simulation/simulated_engine.h"

#include <utility>

namespace ringkv::simulation {
namespace {

constexpr uint64_t kNever = uint64_t{1} << 60;

class HashedBatch final : public Batch {
 public:
  explicit HashedBatch(std::unique_ptr<Batch> batch) : batch_(std::move(batch)) {}

  void put(Family family, std::string_view key, std::string_view value) override {
    hash_ = hash_bytes(hash_bytes(hash_ + static_cast<uint64_t>(family), key), value);
    batch_->put(family, key, value);
  }
  void erase(Family family, std::string_view key) override {
    hash_ = hash_bytes(~hash_ + static_cast<uint64_t>(family), key);
    if (family == Family::kData) erased_.emplace_back(key);
    batch_->erase(family, key);
  }
  // A partition that its node doesn't own any more.
  void erase_range(Family family, std::string_view lower, std::string_view upper) override {
    hash_ = hash_bytes(hash_bytes(~hash_ + static_cast<uint64_t>(family), lower), upper);
    batch_->erase_range(family, lower, upper);
  }
  size_t bytes() const override { return batch_->bytes(); }
  bool empty() const override { return batch_->empty(); }

  Batch& inner() { return *batch_; }
  uint64_t take_hash() { return std::exchange(hash_, 0); }
  std::vector<std::string> take_erased() { return std::exchange(erased_, {}); }  // keys of records

 private:
  const std::unique_ptr<Batch> batch_;
  uint64_t hash_ = 0;
  std::vector<std::string> erased_;
};

}  // namespace

std::unique_ptr<Batch> SimulatedEngine::new_batch() {
  return std::make_unique<HashedBatch>(engine_->new_batch());
}

Status SimulatedEngine::write(Batch& batch, bool sync) {
  auto& hashed = static_cast<HashedBatch&>(batch);
  const size_t bytes = hashed.bytes();
  const uint64_t hash = hashed.take_hash();
  tell_erased(hashed.take_erased());
  Status status = sync ? write_and_sync(hashed.inner()) : engine_->write(hashed.inner(), false);
  world_.trace.add(world_.events.now(), machine_.node,
                   !status.ok() ? "fails to write" : (sync ? "writes and syncs" : "writes"), hash, bytes);
  return status;
}

void SimulatedEngine::tell_erased(const std::vector<std::string>& keys) {
  for (const std::string& key : keys) {
    std::string before;
    const Result<Lookup> found = engine_->get(Family::kData, key, before);
    if (found.ok() && *found == Lookup::kFound) machine_.on_erase(key, before);
  }
}

bool SimulatedEngine::plan_failure() {
  PlannedSyncFault& fault = machine_.sync_fault;
  if (fault.calls_left == 0 || --fault.calls_left > 0) return false;
  machine_.disk.fail(DiskCall::kSync, 1, fault.error);
  return true;
}

Status SimulatedEngine::write_and_sync(Batch& batch) {
  if (plan_failure()) {
    Status status = engine_->write(batch, true);
    machine_.disk.fail(DiskCall::kSync, kNever, DiskError::kInputOutput);  // where it didn't come to the sync
    return status;
  }
  Status status = engine_->write(batch, false);
  if (!status.ok()) return status;
  machine_.executor.at_end_of_work([this, alive = alive_] {
    if (*alive) CHECK(engine_->flush().ok());
  });
  return status;
}

Status SimulatedEngine::flush() {
  (void)plan_failure();
  Status status = engine_->flush();
  world_.trace.add(world_.events.now(), machine_.node, status.ok() ? "flushes" : "fails to flush");
  return status;
}

}  // namespace ringkv::simulation
