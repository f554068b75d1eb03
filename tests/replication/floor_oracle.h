// Raises floors as rounds do, by one who sees all that nodes hold: a floor that it raises is true. What went
// under floors it remembers, for those who check what is left.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/replication/cluster_fixture.h"

namespace ringkv {

class FloorOracle {
 public:
  explicit FloorOracle(ClusterFixture& cluster) : cluster_(cluster) {}

  void on_stamped(const Dot& dot, const std::string& key, HybridTime time) {
    stamped_[cluster_.place(key).partition][dot] = key;
    latest_ = std::max(latest_, time);
  }

  // To all that the node itself has merged in order. True where that told something new.
  bool raise_by_own(uint64_t at, const std::string& key) {
    const Partition partition = cluster_.place(key).partition;
    return raise(at, partition, {}, [&](const Dot& dot) { return knows(at, partition, dot); });
  }

  // To the floor of another node, whose versions are all merged here: what it doesn't hold itself is
  // superseded there.
  bool raise_by(uint64_t source, uint64_t at, const std::string& key) {
    const Partition partition = cluster_.place(key).partition;
    for (const auto& [dot, name] : stamped_[partition]) {
      if (holds(source, name, dot) && !knows(at, partition, dot)) return false;
    }
    const RecordStore& theirs = *cluster_.node(source).fixture.store;
    return raise(at, partition, theirs.erased(partition),
                 [&](const Dot& dot) { return theirs.floor_covers(partition, dot); });
  }

  // Held or superseded there.
  bool knows(uint64_t at, const std::string& key, const Dot& dot) {
    const RecordHead head = newest(at, key);
    return head.context.covers(dot) || std::binary_search(head.dots.begin(), head.dots.end(), dot) ||
           cluster_.node(at).fixture.store->floor_covers(cluster_.place(key).partition, dot);
  }

  // What any node has ever erased; whoever checks an answer looks first.
  void look() {
    for (const auto& node : cluster_.nodes) {
      if (!node->up) continue;
      for (const auto& [partition, dots] : stamped_) {
        const CausalContext& erased = node->fixture.store->erased(partition);
        erasures_ += erased_[partition].vector.covers(erased.vector) ? 0 : 1;
        erased_[partition].join(erased);
      }
    }
  }
  CausalContext with_erased(CausalContext context, const std::string& key) const {
    const auto erased = erased_.find(cluster_.place(key).partition);
    if (erased != erased_.end()) context.join(erased->second);
    return context;
  }

  size_t raised() const { return raised_; }
  size_t erasures() const { return erasures_; }  // of something that was there for the first time

 private:
  template <class Known>
  bool raise(uint64_t at, Partition partition, const CausalContext& erased, Known known) {
    RecordStore& store = *cluster_.node(at).fixture.store;
    Floor floor;
    floor.highest_time = latest_;
    std::set<Actor> stopped;
    for (const auto& [dot, key] : stamped_[partition]) {  // in order
      if (stopped.contains(dot.actor) || dot.actor == store.actor()) continue;
      if (known(dot)) {
        floor.vector.raise(dot.actor, dot.counter);
      } else {
        stopped.insert(dot.actor);
      }
    }
    const bool is_new = !store.floor(partition).vector.covers(floor.vector);
    store.raise_floor(partition, floor, erased);
    cluster_.node(at).environment->floors_raised = true;
    raised_ += is_new ? 1 : 0;
    return is_new;
  }

  bool knows(uint64_t at, Partition partition, const Dot& dot) {
    return knows(at, stamped_[partition].at(dot), dot);
  }
  bool holds(uint64_t at, const std::string& key, const Dot& dot) {
    const RecordHead head = newest(at, key);
    return std::binary_search(head.dots.begin(), head.dots.end(), dot);
  }

  // Staged or not.
  RecordHead newest(uint64_t at, const std::string& key) {
    RecordStore& store = *cluster_.node(at).fixture.store;
    const Place place = cluster_.place(key);
    std::optional<RecordHead> head = *store.newest_head(place);
    if (!head) {
      std::string bytes;
      const Result<Lookup> found =
          cluster_.node(at).fixture.engine->get(Family::kData, place.storage_key, bytes);
      head = *found == Lookup::kFound ? *decode_record_head(bytes) : RecordHead();
    }
    store.restore(head->context);
    return *head;
  }

  ClusterFixture& cluster_;
  std::map<Partition, std::map<Dot, std::string>> stamped_;
  std::map<Partition, CausalContext> erased_;
  HybridTime latest_ = 0;
  size_t raised_ = 0;
  size_t erasures_ = 0;
};

}  // namespace ringkv
