#include "tools/simulation/simulated_executor.h"

#include <algorithm>
#include <utility>

namespace ringkv::simulation {
namespace {

constexpr Duration kWorkMin = std::chrono::microseconds(20);
constexpr Duration kWorkSpread = std::chrono::milliseconds(2);
constexpr Duration kSlowWorkMax = std::chrono::seconds(1);
constexpr int64_t kSlowDiskTimes = 100;

}  // namespace

void SimulatedExecutor::run(Lane lane, std::function<void()> work, std::function<void()> then) {
  const uint64_t number = ++last_number_;
  jobs_.emplace(number, Job{std::move(work), {}, std::move(then)});
  Time start = world_.events.now();
  if (lane == Lane::kCommit) start = std::max(start, commit_lane_free_at_);
  const Duration lasts = duration();
  if (lane == Lane::kCommit) commit_lane_free_at_ = start + lasts;
  const Time moment = start + world_.up_to(lasts);
  at(moment, [this, number] { this->work(number); });
  at(start + lasts, [this, number] { finish(number); });
}

void SimulatedExecutor::at(Time time, std::function<void()> event) {
  world_.events.at(time, [this, alive = alive_, event = std::move(event)] {
    if (!*alive) return;
    gate_.pass([alive, event] {
      if (*alive) event();
    });
  });
}

Duration SimulatedExecutor::duration() {
  if (world_.happens(world_.faults.slow_work)) return world_.up_to(kSlowWorkMax);
  const Duration usual = kWorkMin + world_.up_to(kWorkSpread);
  return world_.events.now() < slow_until_ ? usual * kSlowDiskTimes : usual;
}

void SimulatedExecutor::work(uint64_t number) {
  // Dropped at once: what the work holds (an engine to be closed) must not live on until its continuation.
  const auto work = std::exchange(jobs_.at(number).work, nullptr);
  working_ = number;
  work();
}

void SimulatedExecutor::finish(uint64_t number) {
  const Job job = std::move(jobs_.extract(number).mapped());
  for (const auto& rest : job.rest) rest();
  job.then();
  end_turn_();
}

}  // namespace ringkv::simulation
