#include "tools/simulation/strikes.h"

#include <cmath>
#include <utility>

#include "base/text.h"
#include "tools/simulation/trace.h"

namespace ringkv::simulation {

void Strikes::add(const std::string& name, Duration apart, std::function<void()> strike) {
  if (apart == Duration::zero()) return;
  schedule(std::make_shared<Process>(
      Process{name, apart, std::move(strike), SeededRandom(hash_bytes(seed_, name))}));
}

// A Poisson process: the intervals are exponential.
void Strikes::schedule(std::shared_ptr<Process> process) {
  const double factor = -std::log(1 - process->moments.unit());
  const auto pause = Duration(static_cast<int64_t>(static_cast<double>(process->apart.count()) * factor));
  events_.after(pause, [this, process = std::move(process)] {
    if (ended_) return;
    ++process->strikes;
    strike(*process);
    schedule(process);
  });
}

void Strikes::strike(const Process& process) {
  const std::string name = cat(process.name, ":", process.strikes);
  if (only_ && !only_->contains(name)) return;
  struck_.push_back({name, events_.now() - EventQueue().now(), {}});
  random_ = SeededRandom(hash_bytes(seed_, name));
  process.strike();
}

}  // namespace ringkv::simulation
