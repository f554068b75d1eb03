// One Node with the machine around it: its end of the network, its disk, its clock. The machine stays when
// the process is killed or the power fails.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "node/node.h"
#include "storage/memory_engine.h"
#include "tools/simulation/cluster_watch.h"
#include "tools/simulation/simulated_clock.h"
#include "tools/simulation/simulated_engine.h"
#include "tools/simulation/simulated_executor.h"
#include "tools/simulation/simulated_network.h"
#include "tools/simulation/world.h"

namespace ringkv::simulation {

class SimulatedNode {
 public:
  struct Settings {
    std::string name;
    std::string rack;
    bool bootstrap = false;  // founds the cluster; the others join it
    bool spare = false;      // belongs to nobody yet: it begins as one that has left
    uint32_t partitions = 0;
    uint64_t cache_bytes = 0;
    Duration round_interval{};
    uint64_t hint_budget_bytes = 0;
    Duration scrub_interval{};
    Duration drop_grace{};
    uint64_t seed = 0;
    // Where the peer doors of the others are now.
    std::function<std::vector<Address>()> others;
    // What its operator knows of the member of that name; nothing: it is none.
    std::function<std::optional<Member>(const std::string&)> known;
    // What a life that ends had counted.
    std::function<void(const Statistics&)> on_figures;
  };

  SimulatedNode(World& world, SimulatedNetwork& network, Settings settings);
  ~SimulatedNode();

  void start();
  void kill();       // -9
  void cut_power();  // and what wasn't synced is lost, but for some first part of it, or torn within
  void stop();       // as it is asked by SIGTERM; it ends by itself
  void freeze(Duration duration);
  void move();  // its next life is heard at other addresses
  // So are both their next lives: each at what were the other's. Neither is running.
  void swap_doors(SimulatedNode& other);
  // Whose addresses it has: its own, at first.
  const std::string& doors_of() const { return doors_.machine; }

  // Of a machine that isn't running. As an empty directory, that joins under the old name; or as the same
  // directory was when it was copied.
  void wipe();
  struct DiskCopy {
    std::shared_ptr<const MemoryDisk> disk;
    DiskId id;
    uint64_t lives = 0;
  };
  DiskCopy copy_disk() const { return {disk_->copy(), identity_.disk, lives_}; }
  bool has_copied(const DiskCopy& copy) const { return copy.id == identity_.disk; }
  // It has served in another life since: or the others couldn't know the copy for an old one.
  bool may_go_back_to(const DiskCopy& copy) const { return lives_ > copy.lives; }
  void put_back(const DiskCopy& copy);

  bool running() const { return process_ != nullptr; }
  bool serving() const { return running() && process_->node.serving() && !process_->stopping; }
  bool frozen() const { return host_.gate().closed(); }

  // A write can be read and isn't safe from a power cut yet.
  bool syncing() const { return running() && process_->executor.has_rest(); }

  // Called for each life, at a moment when nothing is under way in it; before that, its leaves are as they
  // were found.
  void set_on_life(std::function<void(const Life&)> on_life) { on_life_ = std::move(on_life); }
  // Called for each record that is erased: the life, the storage key and the record's bytes until now.
  using OnErase = std::function<void(const Life&, std::string_view, std::string_view)>;
  void set_on_erase(OnErase on_erase) { on_erase_ = std::move(on_erase); }

  const std::string& name() const { return settings_.name; }
  NodeId node() const { return identity_.cluster ? identity_.node : member_; }
  // The client doors that it may have at home: the one of today, or the other.
  std::vector<Address> client_addresses() const;
  Address peer_address() const;

  const Life* life() const { return running() ? process_->node.life() : nullptr; }
  bool can_reach(NodeId other) const { return process_->node.member()->view().is_reachable(other); }
  // As others see this machine now; nothing: it doesn't serve.
  std::optional<ClusterWatch::Sight> sight() const;
  // As its operator does where the others that held what it has lost are gone.
  void accept_loss();
  // As an operator asks it; `what`: for the trace. No answer comes where the process ends before.
  void ask(const ClientRequest::Body& body, std::string_view what,
           std::function<void(const Status&)> done = nullptr);
  // It has a proposal for the next ring under way.
  bool proposing() const { return serving() && process_->node.member()->changing_ring(); }
  // What it says of itself; while it serves.
  PeerState member_state() const { return process_->node.member()->own_state(); }
  // It was told to leave the ring, and has; or its joining was cancelled.
  bool has_left() const { return left_; }
  bool was_refused() const { return refused_; }
  uint64_t times_left() const { return times_left_; }
  // Of a machine that has left and isn't running: an empty directory, and nobody's. It asks to be taken in,
  // or waits until a plan does so.
  void begin_anew(bool plan_only);
  bool waits_for_plan() const { return plan_only_ && running() && !identity_.cluster; }
  bool asks_to_join() const { return !plan_only_ && running() && !identity_.cluster; }
  // All that it has been.
  const std::vector<NodeId>& nodes() const { return nodes_; }

  // What the present life has counted; nothing where it doesn't serve.
  Statistics figures() const;
  // Adds them up, as the life's end would.
  void count_figures();

  // A part of the family's keys, or all of them but for records, stands in a file that can't be read; or in
  // one of which a single block can't be read.
  void damage(Family family);
  void flip_bit(Family family);

  size_t connections() const { return host_.connections(); }
  // For so long everything takes a hundred times as long there.
  void slow_disk(Duration duration) { slow_until_ = world_.events.now() + duration; }
  // Call `nth` of this kind from now fails.
  void fail_disk(DiskCall call, uint64_t nth, DiskError error);
  void set_space(DiskSpace space) { disk_->set_space(space); }
  const MemoryDisk& disk() const { return *disk_; }
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

  std::pair<std::string, std::string> drawn_file(Family family);
  Node::Settings node_settings();
  Result<OpenedEngine> open_engine(OpenMode mode, SimulatedExecutor& executor);
  Address client_address() const;
  void end_process();
  void end_turn();
  void tick(uint64_t process);
  void look_at_life();
  void use(std::unique_ptr<MemoryDisk> disk);
  void tell_erased(std::string_view key, std::string_view before);

  World& world_;
  const Settings settings_;
  SeededRandom random_;
  Identity identity_;  // as its directory holds it
  const std::string secret_;
  SimulatedHost host_;
  SimulatedClock clock_;
  std::unique_ptr<MemoryDisk> disk_;
  PlannedSyncFault sync_fault_;
  std::function<void(const Life&)> on_life_;
  OnErase on_erase_;
  NodeId member_;  // that it was when its disk was wiped
  std::vector<NodeId> nodes_;
  bool left_ = false;
  bool refused_ = false;  // by the others, at its last start
  bool plan_only_ = false;
  uint64_t times_left_ = 0;
  bool founds_ = false;  // the cluster, where its disk is empty
  uint64_t lives_ = 0;   // that have served
  struct Doors {
    std::string machine;
    uint32_t moves = 0;
  };
  Doors doors_;
  Time slow_until_{};
  uint64_t last_process_ = 0;
  std::unique_ptr<Process> process_;
};

}  // namespace ringkv::simulation
