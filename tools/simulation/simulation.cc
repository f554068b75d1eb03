#include "tools/simulation/simulation.h"

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/text.h"
#include "tools/simulation/checkers.h"
#include "tools/simulation/nemesis.h"
#include "tools/simulation/simulated_node.h"
#include "tools/simulation/workload.h"

namespace ringkv::simulation {
namespace {

using std::chrono::seconds;

constexpr uint32_t kClientsPerNode = 3;
constexpr uint32_t kKeysPerBucket = 8;
constexpr Duration kStep = seconds(1);
// Longer than any deadline, any power cut's silence and any pause before a node is started again.
constexpr Duration kPeace = seconds(30);
constexpr Duration kLastReads = seconds(6);
constexpr uint32_t kPartitions[] = {1, 64, 4096};
constexpr uint64_t kCacheBytes[] = {0, 16 << 10, 1 << 20};

class Simulation {
 public:
  explicit Simulation(const SimulationSettings& settings)
      : settings_(settings),
        random_(settings.seed),
        trace_(settings.trace),
        faults_(drawn(settings.faults, random_)) {
    for (uint32_t ring = 0; ring < settings_.nodes; ++ring) add_ring(ring);
    std::vector<SimulatedNode*> nodes;
    for (const auto& node : nodes_) nodes.push_back(node.get());
    nemesis_ = std::make_unique<Nemesis>(world_, std::move(nodes), history_);
  }

  SimulationResult run() {
    for (const auto& node : nodes_) node->start();
    for (const auto& workload : workloads_) workload->start();
    nemesis_->start();
    pass(settings_.duration);
    for (const auto& workload : workloads_) workload->quiesce();
    nemesis_->make_peace();
    faults_ = Faults();
    pass(kPeace);
    const size_t last_reads = history_.operations().size();
    for (const auto& workload : workloads_) workload->read_everything();
    pass(kLastReads);
    if (!violation_) violation_ = check_history(history_, std::string(kLwwBucket));
    if (!violation_) check_last_reads(last_reads);
    for (uint32_t ring = 0; ring < settings_.nodes && !violation_; ++ring) check_idle(ring);
    return result();
  }

 private:
  void add_ring(uint32_t ring) {
    const std::string name = cat("n", ring + 1);
    const Address address = cat(name, ":7401");
    nodes_.push_back(std::make_unique<SimulatedNode>(
        world_, network_,
        SimulatedNode::Settings{.name = name,
                                .client_address = address,
                                .partitions = kPartitions[random_.below(std::size(kPartitions))],
                                .cache_bytes = kCacheBytes[random_.below(std::size(kCacheBytes))],
                                .seed = random_.next()}));
    nodes_.back()->set_on_life([this, ring](const Life& life) { on_life(ring, life); });
    workloads_.push_back(std::make_unique<Workload>(
        world_, network_, history_,
        Workload::Settings{.ring = ring,
                           .operations_per_second = settings_.operations_per_second / settings_.nodes,
                           .clients = kClientsPerNode,
                           .keys = kKeysPerBucket,
                           .node_name = name,
                           .nodes = {address},
                           .seed = random_.next()}));
  }

  void pass(Duration duration) {
    const Time end = events_.now() + duration;
    while (events_.now() < end && !violation_) events_.run_until(std::min(end, events_.now() + kStep));
  }

  void on_life(uint32_t ring, const Life& life) {
    if (violation_) return;
    if (!boots_.insert(life.boot().value).second) {
      violation_ = Violation{"I4", cat(nodes_[ring]->name(), " has drawn a boot a second time")};
      return;
    }
    check_ring_leaves(ring, life);
  }

  void check_ring_leaves(uint32_t ring, const Life& life) {
    violation_ = check_leaves(life.store().leaves(), life.ring().description(), nodes_[ring]->disk());
    if (violation_) violation_->what = cat(nodes_[ring]->name(), ": ", violation_->what);
  }

  // L6: with the faults over, everything is answered.
  void check_last_reads(size_t first) {
    for (size_t index = first; index < history_.operations().size(); ++index) {
      const Status& status = history_.operations()[index].reply.status;
      if (!status.ok()) violation_ = Violation{"L6", cat(name_of(index), ": ", status.to_string())};
    }
  }

  // I13: nothing is left of requests that were answered.
  void check_idle(uint32_t ring) {
    const SimulatedNode& node = *nodes_[ring];
    if (!node.serving() || !workloads_[ring]->ready()) {
      violation_ = Violation{"L6", cat(node.name(), " doesn't serve")};
    } else if (!node.life()->idle() || workloads_[ring]->under_way() > 0) {
      violation_ = Violation{"I13", cat(node.name(), " still has requests under way")};
    } else if (node.life()->store().staged_bytes() > 0 || node.connections() > kClientsPerNode) {
      violation_ = Violation{"I13", cat(node.name(), " still holds ", node.life()->store().staged_bytes(),
                                        " staged bytes and ", node.connections(), " connections")};
    } else {
      check_ring_leaves(ring, *node.life());
    }
  }

  SimulationResult result() const {
    SimulationResult result;
    result.hash = trace_.hash();
    result.violation = violation_;
    result.operations = history_.operations().size();
    for (const Operation& operation : history_.operations()) {
      result.ok += operation.completed != kNever && operation.reply.status.ok() ? 1 : 0;
      result.unknown += operation.reply.status.code() == StatusCode::kUnknownOutcome ? 1 : 0;
    }
    result.lives = boots_.size();
    result.power_cuts = history_.power_cuts().size();
    result.events = events_.events_run();
    return result;
  }

  const SimulationSettings settings_;
  SeededRandom random_;
  EventQueue events_;
  Trace trace_;
  Faults faults_;
  World world_{events_, trace_, random_, faults_};
  SimulatedNetwork network_{world_};
  History history_;
  std::vector<std::unique_ptr<SimulatedNode>> nodes_;
  std::vector<std::unique_ptr<Workload>> workloads_;
  std::unique_ptr<Nemesis> nemesis_;
  std::set<uint64_t> boots_;
  std::optional<Violation> violation_;
};

}  // namespace

SimulationResult simulate(const SimulationSettings& settings) { return Simulation(settings).run(); }

}  // namespace ringkv::simulation
