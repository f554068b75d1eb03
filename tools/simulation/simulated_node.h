// One Node with the machine around it: its end of the network, its disk, its clock. The machine stays when
// the process is killed or the power fails.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "node/node.h"
#include "storage/memory_engine.h"
#include "tools/simulation/cluster_watch.h"
#include "tools/simulation/simulated_engine.h"
#include "tools/simulation/simulated_executor.h"
#include "tools/simulation/simulated_network.h"
#include "tools/simulation/world.h"

namespace ringkv::simulation {

// Virtual time as one machine sees it.
class SimulatedClock final : public Clock {
 public:
  explicit SimulatedClock(const EventQueue& events) : events_(events) {}

  Time now() const override { return events_.now(); }
  WallMicros wall_now() const override {
    constexpr auto kStart = std::chrono::hours(24 * 365 * 55);  // some time in 2024
    return static_cast<WallMicros>((events_.now().time_since_epoch() + kStart + offset_).count());
  }
  void jump(Duration by) { offset_ += by; }

 private:
  const EventQueue& events_;
  Duration offset_{};
};

class SimulatedNode {
 public:
  struct Settings {
    std::string name;
    std::string rack;
    bool bootstrap = false;  // founds the cluster; the others join it
    uint32_t partitions = 0;
    uint64_t cache_bytes = 0;
    uint64_t seed = 0;
    // Where the peer doors of the others are now.
    std::function<std::vector<Address>()> others;
    // What a life that ends had counted.
    std::function<void(const Statistics&)> on_figures;
  };

  SimulatedNode(World& world, SimulatedNetwork& network, Settings settings);
  ~SimulatedNode();

  void start();
  void kill();       // -9
  void cut_power();  // and what wasn't synced is lost, but for some first part of it
  void stop();       // as it is asked by SIGTERM; it ends by itself
  void freeze(Duration duration);
  void move();  // its next life is heard at other addresses

  bool running() const { return process_ != nullptr; }
  bool serving() const { return running() && process_->node.serving() && !process_->stopping; }
  bool frozen() const { return host_.gate().closed(); }

  // A write can be read and isn't safe from a power cut yet.
  bool syncing() const { return running() && process_->executor.has_rest(); }

  // Called for each life, at a moment when nothing is under way in it; before that, its leaves are as they
  // were found.
  void set_on_life(std::function<void(const Life&)> on_life) { on_life_ = std::move(on_life); }

  const std::string& name() const { return settings_.name; }
  NodeId node() const { return identity_.node; }
  // The client doors that it may have: the one of today, or the other.
  std::vector<Address> client_addresses() const;
  Address peer_address() const;

  const Life* life() const { return running() ? process_->node.life() : nullptr; }
  // As others see this machine now; nothing: it doesn't serve.
  std::optional<ClusterWatch::Sight> sight() const;
  // Adds up what the present life has counted, as its end would.
  void count_figures();

  size_t connections() const { return host_.connections(); }
  // Call `nth` of this kind from now fails.
  void fail_disk(DiskCall call, uint64_t nth, DiskError error);
  void set_space(DiskSpace space) { disk_.set_space(space); }
  const MemoryDisk& disk() const { return disk_; }
  SimulatedClock& clock() { return clock_; }

 private:
  struct Process {
    Process(SimulatedNode& machine, uint64_t number);
    ~Process();

    const uint64_t number;
    SeededRandom random;
    std::unique_ptr<Log> log;
    SimulatedExecutor executor;
    Node node;
    bool stopping = false;
    bool stopped = false;
    Boot shown;  // to on_life_
  };

  Node::Settings node_settings();
  Address client_address() const;
  void end_process();
  void end_turn();
  void tick(uint64_t process);
  void look_at_life();

  World& world_;
  const Settings settings_;
  SeededRandom random_;
  Identity identity_;  // as its directory holds it
  const std::string secret_;
  SimulatedHost host_;
  SimulatedClock clock_;
  MemoryDisk disk_;
  PlannedSyncFault sync_fault_;
  std::function<void(const Life&)> on_life_;
  uint32_t moves_ = 0;
  uint64_t last_process_ = 0;
  std::unique_ptr<Process> process_;
};

}  // namespace ringkv::simulation
