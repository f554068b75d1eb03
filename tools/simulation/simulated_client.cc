#include "tools/simulation/simulated_client.h"

#include <utility>

namespace ringkv::simulation {
namespace {

constexpr Duration kTick = std::chrono::milliseconds(10);

ClientOptions options_of(const SimulatedClient::Settings& settings) {
  ClientOptions options;
  options.nodes = settings.nodes;
  options.route = settings.route;
  return options;
}

}  // namespace

SimulatedClient::SimulatedClient(World& world, SimulatedNetwork& network, const Settings& settings)
    : world_(world),
      random_(settings.seed),
      host_(network, settings.name),
      clock_(world),
      pool_(options_of(settings), host_, clock_, random_) {
  host_.attach(pool_, [this] { end_turn(); });
  world_.events.after(world_.up_to(kTick), [this] { tick(); });
}

void SimulatedClient::submit(ClientRequest request, ClientPool::Done done) {
  pool_.submit(std::move(request), std::move(done));
}

void SimulatedClient::tick() {
  pool_.on_tick(world_.events.now());
  end_turn();
  world_.events.after(kTick, [this] { tick(); });
}

}  // namespace ringkv::simulation
