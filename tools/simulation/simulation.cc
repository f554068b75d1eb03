#include "tools/simulation/simulation.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/text.h"
#include "tools/simulation/checkers.h"
#include "tools/simulation/cluster_watch.h"
#include "tools/simulation/nemesis.h"
#include "tools/simulation/peace_checker.h"
#include "tools/simulation/simulated_node.h"
#include "tools/simulation/workload.h"

namespace ringkv::simulation {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr uint32_t kReplicas = 3;
constexpr const char* kRacks[] = {"a", "b", "c"};
constexpr uint32_t kKeysPerBucket = 8;
constexpr Duration kStep = milliseconds(100);
constexpr Duration kFoundingMax = seconds(90);
// Longer than any deadline, any silence of the network and any pause before a node is started again.
constexpr Duration kPeace = seconds(45);
constexpr Duration kLastReads = seconds(6);
constexpr uint32_t kPartitions[] = {8, 64, 512};
constexpr uint64_t kCacheBytes[] = {0, 16 << 10, 1 << 20};
// Of a node at rest: each client, both channels of each other node both ways, and what is just replaced.
constexpr size_t kConnectionsPerPeer = 6;

class Simulation {
 public:
  explicit Simulation(const SimulationSettings& settings)
      : settings_(settings),
        random_(settings.seed),
        trace_(settings.trace),
        faults_(drawn(settings.faults, random_)) {
    const uint32_t partitions = kPartitions[random_.below(std::size(kPartitions))];
    for (uint32_t i = 0; i < settings_.nodes; ++i) add_node(i, partitions);
    add_workload();
    Nemesis::Setting setting;
    for (const auto& node : nodes_) setting.nodes.push_back(node.get());
    setting.clients = workload_->client_names();
    setting.requests_under_way = [this] { return workload_->under_way() > 0; };
    nemesis_ = std::make_unique<Nemesis>(world_, network_, std::move(setting), history_);
  }

  SimulationResult run() {
    found();
    workload_->start();
    pass(settings_.duration);
    workload_->quiesce();
    nemesis_->make_peace();
    faults_ = Faults();
    pass(kPeace);
    const size_t last_reads = history_.operations().size();
    workload_->read_all_copies();
    pass(kLastReads);
    const size_t last_looks = history_.operations().size();
    workload_->read_everything();
    pass(kLastReads);
    if (!violation_) violation_ = check_history(history_, facts());
    if (!violation_) violation_ = check_peace(history_, {last_reads, last_looks}, facts());
    if (!violation_) check_ring_changes();
    for (const auto& node : nodes_) {
      if (!violation_) check_rest(*node);
    }
    for (const auto& node : nodes_) node->count_figures();
    return result();
  }

 private:
  RingFacts facts() const {
    RingFacts facts;
    facts.copies = std::min(kReplicas, settings_.nodes);
    facts.lww_bucket = kLwwBucket;
    for (const auto& node : nodes_) facts.names[node->node()] = node->name();
    for (const RingDescription& ring : watch_.descriptions()) {
      if (ring.find_bucket(kLwwBucket) == nullptr) continue;
      facts.lww_since = ring.epoch;
      break;
    }
    return facts;
  }

  void add_node(uint32_t number, uint32_t partitions) {
    SimulatedNode::Settings settings;
    settings.name = cat("n", number + 1);
    settings.rack = kRacks[number % std::size(kRacks)];
    settings.bootstrap = number == 0;
    settings.partitions = partitions;
    settings.cache_bytes = kCacheBytes[random_.below(std::size(kCacheBytes))];
    settings.seed = random_.next();
    settings.others = [this, number] { return others_of(number); };
    settings.on_figures = [this](const Statistics& figures) { sightings_.add_figures(figures); };
    nodes_.push_back(std::make_unique<SimulatedNode>(world_, network_, std::move(settings)));
    SimulatedNode& node = *nodes_.back();
    node.set_on_life([this, &node](const Life& life) { check_node_leaves(node, life); });
  }

  std::vector<Address> others_of(uint32_t number) const {
    std::vector<Address> addresses;
    for (uint32_t other = 0; other < nodes_.size(); ++other) {
      if (other != number) addresses.push_back(nodes_[other]->peer_address());
    }
    return addresses;
  }

  void add_workload() {
    Workload::Settings settings;
    for (const auto& node : nodes_) settings.nodes.push_back({node->name(), node->client_addresses()});
    settings.copies = facts().copies;
    settings.operations_per_second = settings_.operations_per_second;
    settings.keys = kKeysPerBucket;
    settings.seed = random_.next();
    workload_ = std::make_unique<Workload>(world_, network_, history_, std::move(settings));
  }

  // Until all nodes have joined. Half of the rings are founded in peace.
  void found() {
    const bool in_peace = random_.one_in(2);
    nemesis_->keep_nodes_up();
    if (!in_peace) nemesis_->let_loose();
    const Time give_up_at = events_.now() + kFoundingMax;
    while (!is_founded() && events_.now() < give_up_at && !violation_) pass(kStep);
    if (in_peace) nemesis_->let_loose();
  }

  bool is_founded() const {
    return std::any_of(nodes_.begin(), nodes_.end(), [this](const auto& node) {
      return node->serving() && node->life()->ring().description().members.size() == nodes_.size();
    });
  }

  void pass(Duration duration) {
    const Time end = events_.now() + duration;
    while (events_.now() < end && !violation_) {
      events_.run_until(std::min(end, events_.now() + kStep));
      look_at_nodes();
    }
  }

  void look_at_nodes() {
    for (const auto& node : nodes_) {
      if (const auto sight = node->sight()) {
        watch_.look(*sight);
      } else {
        watch_.gone(node->name());
      }
    }
    if (!violation_) violation_ = watch_.violation();
  }

  void check_node_leaves(const SimulatedNode& node, const Life& life) {
    if (violation_) return;
    violation_ = check_leaves(life.store().leaves(), life.ring().description(), node.disk());
    if (violation_) violation_->what = cat(node.name(), ": ", violation_->what);
  }

  // I5 for changes of the ring, which are named by the time to live that they set.
  void check_ring_changes() {
    std::set<uint64_t> chosen;
    for (const RingDescription& ring : watch_.descriptions()) {
      const BucketDescription* spare = ring.find_bucket(kSpareBucket);
      if (spare != nullptr) chosen.insert(spare->ttl_ms);
    }
    for (OperationIndex index = 0; index < history_.operations().size(); ++index) {
      const Operation& operation = history_.operations()[index];
      const auto* change = std::get_if<ClientChangeBucket>(&operation.request.body);
      if (change == nullptr || !chosen.contains(*change->change.ttl_ms)) continue;
      const Status& status = operation.reply.status;
      if (status.code() == StatusCode::kUnknownOutcome) {
        sightings_.saw(sighting::kRingChangeFinishedByOthers);
      } else if (!status.ok()) {
        violation_ = Violation{"I5", cat(name_of(index), " changed the ring and had failed")};
      }
    }
  }

  // I13: nothing is left of requests that were answered.
  void check_rest(const SimulatedNode& node) {
    if (!node.serving() || !workload_->ready()) {
      violation_ = Violation{"L6", cat(node.name(), " doesn't serve")};
    } else if (!node.life()->idle() || workload_->under_way() > 0) {
      violation_ = Violation{"I13", cat(node.name(), " still has requests under way")};
    } else if (node.life()->store().staged_bytes() > 0 || node.connections() > connections_max()) {
      violation_ = Violation{"I13", cat(node.name(), " still holds ", node.life()->store().staged_bytes(),
                                        " staged bytes and ", node.connections(), " connections")};
    } else {
      check_node_leaves(node, *node.life());
    }
  }

  size_t connections_max() const {
    return workload_->client_names().size() + kConnectionsPerPeer * nodes_.size();
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
    result.lives = watch_.boots();
    result.rings = watch_.rings();
    result.power_cuts = history_.power_cuts().size();
    result.events = events_.events_run();
    result.sightings = sightings_.counts();
    return result;
  }

  const SimulationSettings settings_;
  SeededRandom random_;
  EventQueue events_;
  Trace trace_;
  Faults faults_;
  Sightings sightings_;
  World world_{events_, trace_, random_, faults_, sightings_};
  SimulatedNetwork network_{world_};
  History history_;
  ClusterWatch watch_;
  std::vector<std::unique_ptr<SimulatedNode>> nodes_;
  std::unique_ptr<Workload> workload_;
  std::unique_ptr<Nemesis> nemesis_;
  std::optional<Violation> violation_;
};

}  // namespace

SimulationResult simulate(const SimulationSettings& settings) { return Simulation(settings).run(); }

}  // namespace ringkv::simulation
