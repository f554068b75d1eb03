// A user's own workload in a run: clients of its own, its bucket, and its last word.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ringkv/simulation.h"
#include "tools/simulation/history.h"
#include "tools/simulation/simulated_client.h"

namespace ringkv::simulation {

class UserLoad final : public Cluster {
 public:
  struct Settings {
    std::vector<Address> nodes;
    uint64_t seed = 0;
    MakeWorkload make;
  };

  UserLoad(World& world, SimulatedNetwork& network, const Settings& settings);
  ~UserLoad() override;

  std::vector<std::string> client_names() const;

  // Once the bucket is there.
  void start();
  void stop() { workload_->stop(); }
  void on_quiet() { workload_->on_quiet(); }
  std::optional<Violation> verdict();

  size_t clients() const override { return clients_.size(); }
  Store& client(size_t number) override;
  std::chrono::microseconds now() const override { return world_.events.now() - begun_; }
  void after(std::chrono::microseconds delay, std::function<void()> then) override;
  uint64_t random(uint64_t below) override { return random_.below(below); }

 private:
  class Client;

  World& world_;
  SeededRandom random_;
  Time begun_{};
  std::vector<std::unique_ptr<Client>> clients_;
  std::unique_ptr<UserWorkload> workload_;
};

}  // namespace ringkv::simulation
