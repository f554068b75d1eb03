// A client on a machine of its own: the library's ClientPool over the simulated network. While nothing is
// under way in it its clock ticks a tenth as often: most clients wait most of the time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "node/client_pool.h"
#include "tools/simulation/simulated_clock.h"
#include "tools/simulation/simulated_network.h"

namespace ringkv::simulation {

class SimulatedClient {
 public:
  struct Settings {
    std::string name;
    std::vector<Address> nodes;
    bool route = true;  // false: asks those nodes only, whoever owns the key
    uint64_t seed = 0;
  };

  SimulatedClient(World& world, SimulatedNetwork& network, const Settings& settings);

  // Once a turn: what is submitted leaves at its end.
  void submit(ClientRequest request, const ClientPool::Done& done);
  void end_turn() { host_.flush(); }

  const std::string& name() const { return host_.name(); }

 private:
  void tick_after(Duration pause);
  void tick(uint64_t number);

  World& world_;
  SeededRandom random_;
  SimulatedHost host_;
  SimulatedClock clock_;
  ClientPool pool_;
  uint64_t under_way_ = 0;
  uint64_t last_tick_ = 0;  // that is to come; earlier ones don't
  Time ticks_at_{};
};

}  // namespace ringkv::simulation
