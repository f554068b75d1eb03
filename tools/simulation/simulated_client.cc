#include "tools/simulation/simulated_client.h"

#include <utility>

namespace ringkv::simulation {
namespace {

constexpr Duration kTick = std::chrono::milliseconds(10);
constexpr Duration kTickAtRest = 10 * kTick;

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
  tick_after(world_.up_to(kTick));
}

void SimulatedClient::submit(ClientRequest request, const ClientPool::Done& done) {
  ++under_way_;
  pool_.submit(std::move(request), [this, done](ClientReply reply) {
    --under_way_;
    done(std::move(reply));
  });
  if (ticks_at_ > world_.events.now() + kTick) tick_after(kTick);
}

void SimulatedClient::tick_after(Duration pause) {
  ticks_at_ = world_.events.now() + pause;
  world_.events.at(ticks_at_, [this, number = ++last_tick_] { tick(number); });
}

void SimulatedClient::tick(uint64_t number) {
  if (number != last_tick_) return;
  pool_.on_tick(world_.events.now());
  end_turn();
  tick_after(under_way_ > 0 ? kTick : kTickAtRest);
}

}  // namespace ringkv::simulation
