// Which rings there were, and from when on: who has held a key all the time, so that what he held must still
// be there.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "replication/ring.h"
#include "tools/simulation/history.h"

namespace ringkv::simulation {

class RingHistory {
  struct Seen {
    Step step;
    Time at;
    std::shared_ptr<const Ring> ring;
  };

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

  // By the rings of that time so many of these nodes are on each of the key's lists, the present one and the
  // next.
  bool on_each_list(std::string_view bucket, std::string_view key, const std::vector<std::string_view>& nodes,
                    Step at, uint32_t quorum) const {
    const auto first = in_force(at);
    return std::all_of(
        first, first + std::min<std::ptrdiff_t>(rings_.end() - first, 2), [&](const Seen& seen) {
          const Ring& ring = *seen.ring;
          const Partition partition = partition_of_key(ring, bucket, key);
          const auto count = [&](std::span<const uint16_t> list) {
            return static_cast<uint32_t>(std::count_if(list.begin(), list.end(), [&](uint16_t position) {
              return std::find(nodes.begin(), nodes.end(), ring.member(position).name) != nodes.end();
            }));
          };
          return count(ring.preference_list(partition)) >= quorum &&
                 count(ring.next_preference_list(partition)) >= quorum;
        });
  }

  // Whether the newest ring has the node among the key's owners.
  bool owns_at_last(std::string_view bucket, std::string_view key, std::string_view node) const {
    if (rings_.empty()) return true;
    const Ring& ring = *rings_.back().ring;
    const Member* member = ring.description().find_member(node);
    return member != nullptr && ring.is_owner(member->node, partition_of_key(ring, bucket, key));
  }

  // The key has had the same owners all the time, and wasn't to get others.
  bool rested(std::string_view bucket, std::string_view key, Step from, Time until) const {
    std::vector<NodeId> first;
    return all_of(from, until, [&](const Ring& ring) {
      const Partition partition = partition_of_key(ring, bucket, key);
      const std::vector<NodeId> owners = sorted(ring, ring.preference_list(partition));
      if (first.empty()) first = owners;
      return owners == first && sorted(ring, ring.next_preference_list(partition)) == first;
    });
  }

 private:
  static std::vector<NodeId> sorted(const Ring& ring, std::span<const uint16_t> list) {
    std::vector<NodeId> nodes;
    for (const uint16_t position : list) nodes.push_back(ring.member(position).node);
    std::sort(nodes.begin(), nodes.end());
    return nodes;
  }

  static Partition partition_of_key(const Ring& ring, std::string_view bucket, std::string_view key) {
    return ring.partition(digest_of(bucket, key));
  }

  template <class Holds>
  bool all_of(Step from, Time until, Holds holds) const {
    for (auto at = in_force(from); at != rings_.end() && at->at <= until + kSeenLate; ++at) {
      if (!holds(*at->ring)) return false;
    }
    return true;
  }

  std::vector<Seen>::const_iterator in_force(Step step) const {
    const auto later =
        std::find_if(rings_.begin(), rings_.end(), [step](const Seen& seen) { return seen.step > step; });
    return later == rings_.begin() ? later : later - 1;
  }

  std::vector<Seen> rings_;
};

}  // namespace ringkv::simulation
