// Your own workload in ringkv's simulator: real nodes and the real client library on virtual time, network
// and disks, under faults that a seed draws, and then your own judgement of what is left. For programs that
// link ringkv::simulation beside ringkv::ringkv.
//
//   class Counters : public ringkv::simulation::UserWorkload { … };
//
//   int main(int argc, char** argv) {
//     return ringkv::simulation::run_seeds(argc, argv, [](auto& cluster) {
//       return std::make_unique<Counters>(cluster);
//     });
//   }
//
// The program has all flags of kvsim (`--seeds 100 --minutes 2`), and checks all that kvsim checks as well.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ringkv/store.h"

namespace ringkv::simulation {

// What a workload may touch. All of it comes from the seed: who asks the machine for the time, for randomness
// or for threads has runs that can't be repeated, which each hundredth seed finds out ("determinism").
class Cluster {
 public:
  virtual ~Cluster() = default;

  // Clients on machines of their own, which faults hit too. Use the calls with a callback: one that waits
  // would wait for ever, since time passes only between your callbacks. Where an option names no bucket it is
  // one of your own.
  virtual size_t clients() const = 0;
  virtual Store& client(size_t number) = 0;

  virtual std::chrono::microseconds now() const = 0;  // virtual, since the workload began
  virtual void after(std::chrono::microseconds delay, std::function<void()> then) = 0;
  virtual uint64_t random(uint64_t below) = 0;  // uniform in [0, below)
};

class UserWorkload {
 public:
  virtual ~UserWorkload() = default;

  // The ring serves. From here on, and from timers and callbacks, ask what you like.
  virtual void start() = 0;
  // Faults have ended: what is under way may end, and nothing new is to begin.
  virtual void stop() = 0;
  // All is healed and all copies are equal: time for last reads, which have five seconds.
  virtual void on_quiet() = 0;
  // Those five seconds are over. Each broken promise in a sentence; the first counts, and fails the seed.
  virtual std::vector<std::string> check() = 0;
};

// Called once for each run, perhaps on several threads at once. With `--mode liveness` a part of the ring
// stays broken: the workload is started and stopped and not asked for anything else.
using MakeWorkload = std::function<std::unique_ptr<UserWorkload>(Cluster&)>;

// The whole program. The exit code: 0 when every run kept every promise, 1 when one was broken, 2 for wrong
// use.
int run_seeds(int argc, const char* const* argv, MakeWorkload make);

}  // namespace ringkv::simulation
