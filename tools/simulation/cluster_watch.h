// What no two nodes may disagree about, checked whenever one is looked at: there is one ring an epoch (I7),
// one process serves a node (I10), rings, generations and boots go forward only. And of each ring, that
// copies are spread as they must be (I8).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "replication/ring.h"
#include "tools/simulation/history.h"

namespace ringkv::simulation {

class ClusterWatch {
 public:
  // One process that serves. `machine` is where it runs: two machines may hold copies of one directory.
  struct Sight {
    std::string machine;
    NodeId node;
    Boot boot;
    uint64_t generation = 0;
    uint64_t epoch_told = 0;  // that it tells others it holds on disk
    const Ring* ring = nullptr;
  };

  void look(const Sight& sight);
  // The process on that machine serves no more.
  void gone(const std::string& machine) { serving_.erase(machine); }

  // Its disk isn't the one any more that knew what was before; the others may, but who can't be reached can't
  // tell.
  void forget(const std::string& machine, NodeId node) {
    serving_.erase(machine);
    told_.erase(machine);
    generations_.erase(node);
  }

  const std::optional<Violation>& violation() const { return violation_; }
  uint64_t boots() const { return boots_.size(); }
  uint64_t rings() const { return rings_.size(); }
  std::vector<RingDescription> descriptions() const;  // of all rings that were seen

 private:
  using Epoch = std::pair<uint64_t, uint64_t>;  // lineage, epoch

  struct ServingProcess {
    NodeId node;
    Boot boot;
    Epoch epoch;
  };
  struct KnownRing {
    std::string machine;  // that was seen with it first
    std::string encoded;
    uint64_t lists = 0;  // hash of all preference lists
  };

  void broken(std::string_view invariant, std::string what);
  void check_boot(const Sight& sight);
  void check_epoch(const Sight& sight, Epoch epoch, bool same_life);
  void check_ring(const Sight& sight, Epoch epoch);
  void check_lists(const Ring& ring);

  std::map<std::string, ServingProcess> serving_;  // by machine, as last seen
  std::map<Epoch, KnownRing> rings_;
  std::map<std::string, uint64_t> told_;    // of each machine, the last epoch on its disk
  std::set<Boot> boots_;                    // ever seen
  std::map<NodeId, uint64_t> generations_;  // of each node, the last
  std::optional<Violation> violation_;
};

}  // namespace ringkv::simulation
