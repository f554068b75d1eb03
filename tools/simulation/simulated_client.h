// A client on a machine of its own: the library's ClientSession over the simulated network.
#pragma once

#include <memory>
#include <string>

#include "node/client_session.h"
#include "tools/simulation/simulated_network.h"
#include "tools/simulation/simulated_node.h"

namespace ringkv::simulation {

class SimulatedClient {
 public:
  struct Settings {
    std::string name;
    std::vector<Address> nodes;
    uint64_t seed = 0;
  };

  SimulatedClient(World& world, SimulatedNetwork& network, const Settings& settings);

  // Once a turn: what is submitted leaves at its end.
  void submit(ClientRequest request, ClientSession::Done done);
  void end_turn() { host_.flush(); }

  const std::string& name() const { return host_.name(); }

 private:
  void tick();

  World& world_;
  SeededRandom random_;
  SimulatedHost host_;
  SimulatedClock clock_;
  ClientSession session_;
};

}  // namespace ringkv::simulation
