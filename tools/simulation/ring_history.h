// Which rings there were, and from when on: who has held a key all the time, so that what he held must still be
// there.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "replication/ring.h"
#include "tools/simulation/history.h"

namespace ringkv::simulation {

class RingHistory {
 public:
  // A ring is seen up to so much later than some node has adopted it.
  static constexpr Duration kSeenLate = std::chrono::seconds(1);

  bool is_new(const Ring& ring) const { return rings_.empty() || ring.epoch() > rings_.back().ring->epoch(); }
  // In order of epochs.
  void note(const Ring& ring, Step step, Time now) {
    rings_.push_back({step, now, std::make_shared<const Ring>(ring.description())});
  }

  // By every ring from then on the node was one of the key's owners.
  bool stayed(std::string_view bucket, std::string_view key, std::string_view node, Step from,
              Time until) const {
    return all_of(from, until, [&](const Ring& ring) {
      const Member* member = ring.description().find_member(node);
      return member != nullptr && ring.is_owner(member->node, partition_of_key(ring, bucket, key));
    });
  }

  // The key has had the same owners all the time.
  bool rested(std::string_view bucket, std::string_view key, Step from, Time until) const {
    std::vector<NodeId> first;
    return all_of(from, until, [&](const Ring& ring) {
      std::vector<NodeId> owners;
      const Partition partition = partition_of_key(ring, bucket, key);
      for (const auto& list : {ring.preference_list(partition), ring.next_preference_list(partition)}) {
        for (const uint16_t position : list) owners.push_back(ring.member(position).node);
      }
      std::sort(owners.begin(), owners.end());
      owners.erase(std::unique(owners.begin(), owners.end()), owners.end());
      if (first.empty()) first = owners;
      return owners == first;
    });
  }

 private:
  struct Seen {
    Step step;
    Time at;
    std::shared_ptr<const Ring> ring;
  };

  static Partition partition_of_key(const Ring& ring, std::string_view bucket, std::string_view key) {
    return ring.partition(digest_of(bucket, key));
  }

  template <class Holds>
  bool all_of(Step from, Time until, Holds holds) const {
    auto ring = std::find_if(rings_.rbegin(), rings_.rend(), [from](const Seen& seen) { return seen.step <= from; });
    for (auto at = ring == rings_.rend() ? rings_.begin() : ring.base() - 1;
         at != rings_.end() && at->at <= until + kSeenLate; ++at) {
      if (!holds(*at->ring)) return false;
    }
    return true;
  }

  std::vector<Seen> rings_;
};

}  // namespace ringkv::simulation
