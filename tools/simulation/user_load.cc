#include "tools/simulation/user_load.h"

#include <utility>

#include "base/text.h"
#include "tools/simulation/workload.h"

namespace ringkv::simulation {
namespace {

constexpr uint32_t kClients = 3;

}  // namespace

class UserLoad::Client final : public Store {
 public:
  Client(World& world, SimulatedNetwork& network, const SimulatedClient::Settings& settings)
      : world_(world), client_(world, network, settings) {}

  const std::string& name() const { return client_.name(); }

 private:
  // In a turn of its own: the call may come from a callback of this very client.
  void submit(ClientRequest request, std::function<void(ClientReply)> done) override {
    if (auto* put = std::get_if<ClientPut>(&request.body)) take_bucket(put->bucket);
    if (auto* get = std::get_if<ClientGet>(&request.body)) take_bucket(get->bucket);
    world_.events.after({}, [this, request = std::move(request), done = std::move(done)] {
      client_.submit(request, done);
      client_.end_turn();
    });
  }

  static void take_bucket(std::string& bucket) {
    if (bucket.empty()) bucket = kUserBucket;
  }

  World& world_;
  SimulatedClient client_;
};

UserLoad::UserLoad(World& world, SimulatedNetwork& network, const Settings& settings)
    : world_(world), random_(settings.seed) {
  for (uint32_t i = 1; i <= kClients; ++i) {
    clients_.push_back(std::make_unique<Client>(
        world_, network,
        SimulatedClient::Settings{
            .name = cat("u", i), .nodes = settings.nodes, .route = true, .seed = random_.next()}));
  }
  workload_ = settings.make(*this);
}

UserLoad::~UserLoad() = default;

std::vector<std::string> UserLoad::client_names() const {
  std::vector<std::string> names;
  for (const auto& client : clients_) names.push_back(client->name());
  return names;
}

void UserLoad::start() {
  begun_ = world_.events.now();
  workload_->start();
}

std::optional<Violation> UserLoad::verdict() {
  const std::vector<std::string> broken = workload_->check();
  if (broken.empty()) return std::nullopt;
  return Violation{"the workload's own", broken.front()};
}

Store& UserLoad::client(size_t number) { return *clients_.at(number); }

void UserLoad::after(std::chrono::microseconds delay, std::function<void()> then) {
  world_.events.after(delay, std::move(then));
}

}  // namespace ringkv::simulation
