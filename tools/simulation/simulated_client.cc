#include "tools/simulation/simulated_client.h"

#include <utility>

namespace ringkv::simulation {
namespace {

constexpr Duration kTick = std::chrono::milliseconds(10);

}  // namespace

SimulatedClient::SimulatedClient(World& world, SimulatedNetwork& network, const Settings& settings)
    : world_(world),
      random_(settings.seed),
      host_(network, settings.name),
      clock_(world.events),
      session_({.nodes = settings.nodes}, host_, clock_, random_) {
  host_.attach(session_, [this] { end_turn(); });
  world_.events.after(world_.up_to(kTick), [this] { tick(); });
}

void SimulatedClient::submit(ClientRequest request, ClientSession::Done done) {
  session_.submit(std::move(request), std::move(done));
}

void SimulatedClient::tick() {
  session_.on_tick(world_.events.now());
  end_turn();
  world_.events.after(kTick, [this] { tick(); });
}

}  // namespace ringkv::simulation
