// What nodes have truly seen of each key: a shadow of their data that is kept by other means than contexts
// and floors. It goes with the data to other nodes, and back with a lost tail.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/replication/round_fixture.h"

namespace ringkv {

class SightOfNodes {
 public:
  using Dots = std::set<Dot>;
  using Sight = std::map<std::string, Dots>;  // by key: what was merged, or superseded what was merged

  explicit SightOfNodes(Partition partition) : partition_(partition) {}

  Dots& of(uint64_t node, const std::string& key) { return sight_[node][key]; }
  void add(uint64_t node, const std::string& key, const Dots& dots) {
    sight_[node][key].insert(dots.begin(), dots.end());
  }

  // With a batch on its way to the disk; and what of it a new life finds there.
  void save(const RoundFixture::Node& node, Commit& commit) {
    const std::string name = std::to_string(++last_saved_);
    saved_[name] = sight_[node.id.value];
    commit.batch->put(Family::kMeta, "sight", name);
  }
  void restore(const RoundFixture::Node& node) {
    sight_[node.id.value] = saved_[*read_meta(*node.engine, "sight")];
    waits_[node.id.value].clear();
  }

  // What rounds say of a node's data goes with its sight.
  void note(const RoundFixture::Node& from, RoundFixture::Letter& letter) {
    if (!RoundFixture::is_of_rounds(letter.message)) return;
    letter.note = std::make_shared<const Sight>(sight_[from.id.value]);
  }
  void see(const RoundFixture::Node& at, const RoundFixture::Letter& letter) {
    const auto theirs = std::static_pointer_cast<const Sight>(letter.note);
    const uint64_t node = at.id.value;
    if (const auto* digests = std::get_if<RoundDigests>(&letter.message)) {
      waits_[node].push_back({digests->lives, theirs});
    } else if (const auto* leaves = std::get_if<RoundLeaves>(&letter.message)) {
      waits_[node].push_back({leaves->floor, theirs});
    } else if (std::holds_alternative<RoundSlice>(letter.message)) {
      last_slice_[node] = theirs;
    } else if (const auto* put = std::get_if<ReplicaPut>(&letter.message)) {
      if (put->source != Source::kAntiEntropy) return;
      const auto seen = last_slice_[node]->find(put->key);
      if (seen != last_slice_[node]->end()) add(node, put->key, seen->second);
    }
  }

  // What others said counts once the node's own floor says as much. How many that were.
  size_t look_at_floor(const RoundFixture::Node& node) {
    const VersionVector& floor = node.store->floors().floor(partition_);
    return std::erase_if(waits_[node.id.value], [&](const Waits& waits) {
      VersionVector said = waits.floor.vector;
      said.erase_if([&](const auto& entry) { return entry.actor.node == node.id; });
      if (!floor.covers(said)) return false;
      if (said.empty()) return true;
      for (const auto& [key, dots] : *waits.sight) add(node.id.value, key, dots);
      return true;
    });
  }

 private:
  struct Waits {
    Floor floor;
    std::shared_ptr<const Sight> sight;
  };

  const Partition partition_;
  std::map<uint64_t, Sight> sight_;
  std::map<uint64_t, std::vector<Waits>> waits_;
  std::map<uint64_t, std::shared_ptr<const Sight>> last_slice_;
  std::map<std::string, Sight> saved_;
  uint64_t last_saved_ = 0;
};

}  // namespace ringkv
