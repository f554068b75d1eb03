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

  // Of the keys that there are.
  explicit SightOfNodes(std::set<Partition> partitions) : partitions_(std::move(partitions)) {}

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
      waits_[node].push_back({digests->lives, theirs, partitions_});
    } else if (const auto* leaves = std::get_if<RoundLeaves>(&letter.message)) {
      last_leaves_[{node, leaves->partition}] = theirs;
      if (partitions_.contains(leaves->partition))
        waits_[node].push_back({leaves->floor, theirs, {leaves->partition}});
    } else if (std::holds_alternative<RoundSlice>(letter.message)) {
      last_slice_[node] = theirs;
    } else if (const auto* put = std::get_if<ReplicaPut>(&letter.message)) {
      if (put->source != Source::kAntiEntropy) return;
      // What is let go is so by what came with the leaves.
      const bool comes_from_there = put->floor != nullptr;
      const auto& sight = comes_from_there ? last_slice_[node] : last_leaves_[{node, put->place.partition}];
      if (const auto seen = sight->find(put->key); seen != sight->end()) add(node, put->key, seen->second);
    }
  }

  // What others said of keys counts once the node's own floor of their partition says as much. How often that
  // was.
  size_t look_at_floor(const RoundFixture::Node& node) {
    size_t raised = 0;
    for (const Partition partition : partitions_) {
      const VersionVector& floor = node.store->floors().floor(partition);
      VersionVector& before = floors_[{node.id.value, partition}];
      if (floor == before) continue;
      before = floor;
      for (Waits& waits : waits_[node.id.value]) {
        VersionVector said = waits.floor.vector;
        said.erase_if([&](const auto& entry) { return entry.actor.node == node.id; });
        if (said.empty() || !floor.covers(said) || waits.partitions.erase(partition) == 0) continue;
        ++raised;
        for (const auto& [key, dots] : *waits.sight) {
          if (RoundFixture::place(key).partition == partition) add(node.id.value, key, dots);
        }
      }
    }
    if (raised > 0) {
      std::erase_if(waits_[node.id.value], [](const Waits& waits) { return waits.partitions.empty(); });
    }
    return raised;
  }

 private:
  struct Waits {
    Floor floor;
    std::shared_ptr<const Sight> sight;
    std::set<Partition> partitions;  // where it waits still
  };

  const std::set<Partition> partitions_;
  std::map<uint64_t, Sight> sight_;
  std::map<uint64_t, std::vector<Waits>> waits_;
  std::map<std::pair<uint64_t, Partition>, VersionVector> floors_;  // as last looked at
  std::map<uint64_t, std::shared_ptr<const Sight>> last_slice_;
  std::map<std::pair<uint64_t, Partition>, std::shared_ptr<const Sight>> last_leaves_;
  std::map<std::string, Sight> saved_;
  uint64_t last_saved_ = 0;
};

}  // namespace ringkv
