// The machines of one run with all that happens to them, watched at every step: what can be judged at any
// time is judged here. Who makes peace, or heals a core, lets time pass in it and asks it how things stand.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tools/simulation/checkers.h"
#include "tools/simulation/cluster_watch.h"
#include "tools/simulation/copies_checker.h"
#include "tools/simulation/nemesis.h"
#include "tools/simulation/ring_history.h"
#include "tools/simulation/simulated_node.h"
#include "tools/simulation/simulation.h"
#include "tools/simulation/strikes.h"
#include "tools/simulation/user_load.h"
#include "tools/simulation/workload.h"

namespace ringkv::simulation {

class SimulatedRing {
 public:
  using Nodes = std::vector<std::unique_ptr<SimulatedNode>>;

  explicit SimulatedRing(const SimulationSettings& settings);
  SimulatedRing(const SimulatedRing&) = delete;
  SimulatedRing& operator=(const SimulatedRing&) = delete;

  // Until all nodes have joined. Half of the rings are founded in peace.
  void found();
  // Less if a promise is broken meanwhile.
  void pass(Duration duration);
  // Nothing goes wrong by chance any more.
  void end_random_faults() { faults_ = Faults(); }

  // The first promise that was found broken; what is found later counts no more.
  const std::optional<Violation>& violation() const { return violation_; }
  void note(std::optional<Violation> violation);
  void check_node_leaves(const SimulatedNode& node, const Life& life);

  const Ring* newest_ring() const;
  // A member that isn't gone. Who waits for a plan, or begins anew, is none.
  bool is_there(const SimulatedNode& node) const;
  std::set<std::string> absent() const;
  NodeCopy copy_of(const SimulatedNode& node) const;
  // A plan that nobody will commit any more: who wants to join, or to vote, would wait for it.
  void drop_draft() const;
  RingFacts facts() const;
  Time now() const { return events_.now(); }
  uint64_t true_now_ms() const { return SimulatedClock::true_now(world_) / 1000; }
  Duration round_interval() const { return common_.round_interval; }

  const Nodes& nodes() const { return nodes_; }
  Workload& workload() const { return *workload_; }
  UserLoad* user_load() const { return user_load_.get(); }  // nullptr: none
  Nemesis& nemesis() const { return *nemesis_; }
  History& history() { return history_; }
  const ClusterWatch& watch() const { return watch_; }
  Sightings& sightings() { return sightings_; }

  // Once, at the end.
  SimulationResult result();

 private:
  void add_node(uint32_t number);
  void add_workload();
  void add_user_load();
  void add_nemesis();
  std::optional<Member> known_member(const std::string& name) const;
  std::vector<Address> others_of(uint32_t number) const;
  bool is_founded() const;
  void look_at_lives();
  void look_at_nodes();
  void note_ring(const Ring& ring);
  void lose_replaced(const RingDescription& before, const RingDescription& after);
  void look_at_life(const SimulatedNode& node, const Life& life);
  void look_at_time(const Life& life);
  void note(const SimulatedNode& node, std::optional<Violation> violation);

  const SimulationSettings settings_;
  SeededRandom random_;
  EventQueue events_;
  Trace trace_;
  Faults faults_;  // none any more at the end
  const bool files_damaged_ = std::max(faults_.damage, faults_.flip) > Duration::zero();
  Sightings sightings_;
  History history_;
  World world_{events_, trace_, random_, faults_, sightings_, history_.calendar()};
  SimulatedNetwork network_{world_};
  Strikes strikes_;
  World strikes_world_{events_, trace_, strikes_.random(), faults_, sightings_, history_.calendar()};
  ClusterWatch watch_;
  RingHistory ring_history_;
  std::set<Actor> closed_lives_;
  std::map<std::string, size_t> closed_seen_;  // of each node, so many
  SimulatedNode::Settings common_;
  Nodes nodes_;
  std::unique_ptr<Workload> workload_;
  std::unique_ptr<UserLoad> user_load_;
  std::unique_ptr<Nemesis> nemesis_;
  std::optional<Violation> violation_;
};

}  // namespace ringkv::simulation
