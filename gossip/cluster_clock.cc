#include "gossip/cluster_clock.h"

#include <algorithm>

namespace ringkv {
namespace {

// Some year past 9999: sums and differences of plausible times don't overflow.
constexpr WallMicros kWallMax = uint64_t{1} << 60;

}  // namespace

void ClusterClock::set_members(const std::vector<NodeId>& others) {
  others_ = others;
  std::sort(others_.begin(), others_.end());
  std::erase_if(readings_, [this](const auto& one) {
    return !std::binary_search(others_.begin(), others_.end(), one.first);
  });
}

void ClusterClock::on_heard(NodeId node, WallMicros theirs, Time now) {
  if (theirs == 0 || theirs > kWallMax || !std::binary_search(others_.begin(), others_.end(), node)) return;
  readings_[node] = {theirs, now};
}

std::optional<int64_t> ClusterClock::offset_micros(NodeId node, WallMicros own, Time now) const {
  const auto found = readings_.find(node);
  if (found == readings_.end() || now - found->second.at > kHeardWithin) return std::nullopt;
  const auto theirs = static_cast<int64_t>(found->second.wall) + (now - found->second.at).count();
  return theirs - static_cast<int64_t>(own);
}

// Of an even number the lower of the two in the middle: so two members agree on the earlier clock, and
// nothing expires for the one that hasn't for the other.
int64_t ClusterClock::correction_micros(WallMicros own, Time now) const {
  if (!heard_majority(now)) return 0;
  std::vector<int64_t> offsets{0};
  for (const NodeId node : others_) {
    if (const std::optional<int64_t> offset = offset_micros(node, own, now)) offsets.push_back(*offset);
  }
  const auto middle = offsets.begin() + static_cast<std::ptrdiff_t>((offsets.size() - 1) / 2);
  std::nth_element(offsets.begin(), middle, offsets.end());
  return *middle > kSkewBoundMicros || *middle < -kSkewBoundMicros ? *middle : 0;
}

bool ClusterClock::heard_majority(Time now) const {
  const auto heard =
      static_cast<size_t>(std::count_if(readings_.begin(), readings_.end(), [&](const auto& one) {
        return now - one.second.at <= kHeardWithin;
      }));
  return heard + 1 > (others_.size() + 1) / 2;
}

}  // namespace ringkv
