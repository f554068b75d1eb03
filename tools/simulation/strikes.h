// The moments at which faults strike, each by a name ("kill:n3:2", n3's second kill), so that a run can be
// repeated with some of them alone. Of each fault and each node the moments, and of each strike what it does,
// come from a random source of that name: what is left out changes nothing of what the others draw.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "tools/simulation/event_queue.h"

namespace ringkv::simulation {

// A strike, or an operation, that a run had.
struct Happening {
  std::string name;
  Duration at{};  // since the simulation began
  std::string what;
};

using Names = std::set<std::string, std::less<>>;

class Strikes {
 public:
  // `only`: these alone; nothing: all.
  Strikes(EventQueue& events, uint64_t seed, std::optional<Names> only)
      : events_(events), seed_(seed), only_(std::move(only)), random_(seed) {}

  // Strikes from now on, again and again, on average so far apart; zero: never.
  void add(const std::string& name, Duration apart, std::function<void()> strike);
  void end() { ended_ = true; }

  // For what a strike draws, and what follows from it.
  Random& random() { return random_; }
  const std::vector<Happening>& struck() const { return struck_; }

 private:
  struct Process {
    std::string name;
    Duration apart;
    std::function<void()> strike;
    SeededRandom moments;
    uint64_t strikes = 0;
  };

  void schedule(std::shared_ptr<Process> process);
  void strike(const Process& process);

  EventQueue& events_;
  const uint64_t seed_;
  const std::optional<Names> only_;
  SeededRandom random_;
  bool ended_ = false;
  std::vector<Happening> struck_;
};

}  // namespace ringkv::simulation
