// Work off the loop of one process: each piece runs at one moment between its start and its end, its
// continuation at the end, so that a crash may fall before the work, between the two, or after. The commit
// lane is serial; reads overtake each other.
//
// Destroying it is what kill -9 does to threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "base/executor.h"
#include "tools/simulation/gate.h"
#include "tools/simulation/world.h"

namespace ringkv::simulation {

class SimulatedExecutor final : public Executor {
 public:
  // `end_turn` is called after each continuation. The gate is the process's, borrowed, and so is the moment
  // until which the disk is slow.
  SimulatedExecutor(World& world, Gate& gate, const Time& slow_until, std::function<void()> end_turn)
      : world_(world), gate_(gate), slow_until_(slow_until), end_turn_(std::move(end_turn)) {}
  ~SimulatedExecutor() override { *alive_ = false; }

  void run(Lane lane, std::function<void()> work, std::function<void()> then) override;

  // From within a piece of work: what of it happens at its end only, before its continuation.
  void at_end_of_work(std::function<void()> rest) { jobs_.at(working_).rest.push_back(std::move(rest)); }
  // Some work is between the two.
  bool has_rest() const {
    return std::any_of(jobs_.begin(), jobs_.end(), [](const auto& job) { return !job.second.rest.empty(); });
  }

 private:
  struct Job {
    std::function<void()> work;
    std::vector<std::function<void()>> rest;
    std::function<void()> then;
  };

  Duration duration();
  void at(Time time, std::function<void()> event);
  void work(uint64_t number);
  void finish(uint64_t number);

  World& world_;
  Gate& gate_;
  const Time& slow_until_;
  const std::function<void()> end_turn_;
  std::map<uint64_t, Job> jobs_;
  uint64_t last_number_ = 0;
  uint64_t working_ = 0;  // the job whose work runs now
  Time commit_lane_free_at_{};
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace ringkv::simulation
