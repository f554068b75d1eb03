#include "tools/simulation/ring_history.h"

#include <algorithm>
#include <span>

namespace ringkv::simulation {
namespace {

using List = std::span<const uint16_t>;

std::vector<NodeId> sorted(const Ring& ring, List list) {
  std::vector<NodeId> nodes;
  for (const uint16_t position : list) nodes.push_back(ring.member(position).node);
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

RingHistory::Copies joint(RingHistory::Copies copies, List list) {
  const auto owners = static_cast<uint32_t>(list.size());
  return {copies.fewest == 0 ? owners : std::min(copies.fewest, owners), std::max(copies.most, owners)};
}

RingHistory::Copies with_lists(RingHistory::Copies copies, const Ring& ring, Partition partition) {
  return joint(joint(copies, ring.preference_list(partition)), ring.next_preference_list(partition));
}

bool has_quorum(const Ring& ring, List list, const std::vector<std::string_view>& nodes) {
  const auto found = std::count_if(list.begin(), list.end(), [&](uint16_t position) {
    return std::find(nodes.begin(), nodes.end(), ring.member(position).name) != nodes.end();
  });
  return static_cast<uint32_t>(found) >= quorum_of(static_cast<uint32_t>(list.size()));
}

}  // namespace

void RingHistory::note(const Ring& ring, Step step, Time now) {
  keys_.clear();
  rings_.push_back({step, now, std::make_shared<const Ring>(ring.description()), with_lists({}, ring, 0)});
}

const Ring* RingHistory::find(uint64_t epoch) const {
  const auto seen =
      std::lower_bound(rings_.begin(), rings_.end(), epoch,
                       [](const Seen& one, uint64_t wanted) { return one.ring->epoch() < wanted; });
  return seen == rings_.end() || seen->ring->epoch() != epoch ? nullptr : seen->ring.get();
}

bool RingHistory::was_always_member(std::string_view node) const {
  return std::all_of(rings_.begin(), rings_.end(),
                     [&](const Seen& seen) { return seen.ring->description().find_member(node) != nullptr; });
}

RingHistory::Key& RingHistory::key_of(std::string_view bucket, std::string_view key) const {
  const auto [at, is_new] = keys_.try_emplace({std::string(bucket), std::string(key)});
  if (is_new) {
    at->second.digest = digest_of(bucket, key);
    at->second.rests_until = rests_until(at->second.digest);
  }
  return at->second;
}

// What ends at one ring ends there for all before it that had the same.
std::vector<size_t> RingHistory::rests_until(const KeyDigest& digest) const {
  std::vector<size_t> until(rings_.size());
  std::vector<NodeId> owners_after;
  bool rests_after = false;
  for (size_t i = rings_.size(); i-- > 0;) {
    const Ring& ring = *rings_[i].ring;
    const Partition partition = ring.partition(digest);
    std::vector<NodeId> owners = sorted(ring, ring.preference_list(partition));
    const bool rests = sorted(ring, ring.next_preference_list(partition)) == owners;
    if (!rests) {
      until[i] = i;
    } else {
      const bool same = i + 1 < rings_.size() && rests_after && owners == owners_after;
      until[i] = same ? until[i + 1] : i + 1;
    }
    owners_after = std::move(owners);
    rests_after = rests;
  }
  return until;
}

std::vector<size_t> RingHistory::owns_until(const KeyDigest& digest, std::string_view node) const {
  std::vector<size_t> until(rings_.size());
  for (size_t i = rings_.size(); i-- > 0;) {
    const Ring& ring = *rings_[i].ring;
    const Member* member = ring.description().find_member(node);
    const bool owns = member != nullptr && ring.is_owner(member->node, ring.partition(digest));
    until[i] = !owns ? i : (i + 1 < rings_.size() ? until[i + 1] : i + 1);
  }
  return until;
}

bool RingHistory::holds_from(const std::vector<size_t>& holds_until, Step from, Time until) const {
  const auto first = static_cast<size_t>(in_force(from) - rings_.begin());
  if (first == rings_.size()) return true;
  const size_t end = holds_until[first];
  return end == rings_.size() || rings_[end].at > until + kSeenLate;
}

RingHistory::Situation RingHistory::situation(Step first, Step last, Time until) const {
  const auto after = std::upper_bound(rings_.begin(), rings_.end(), until + kSeenLate,
                                      [](Time time, const Seen& seen) { return time < seen.at; });
  const auto seen_by = [this](Step step) {
    return static_cast<size_t>(
        std::upper_bound(rings_.begin(), rings_.end(), step,
                         [](Step wanted, const Seen& seen) { return wanted < seen.step; }) -
        rings_.begin());
  };
  return {seen_by(first), seen_by(last), static_cast<size_t>(after - rings_.begin())};
}

std::vector<RingHistory::Seen>::const_iterator RingHistory::in_force(Step step) const {
  const auto later = std::upper_bound(rings_.begin(), rings_.end(), step,
                                      [](Step wanted, const Seen& seen) { return wanted < seen.step; });
  return later == rings_.begin() ? later : later - 1;
}

bool RingHistory::stayed(std::string_view bucket, std::string_view key, std::string_view node, Step from,
                         Time until) const {
  Key& known = key_of(bucket, key);
  auto found = known.owns_until.find(node);
  if (found == known.owns_until.end())
    found = known.owns_until.emplace(node, owns_until(known.digest, node)).first;
  return holds_from(found->second, from, until);
}

bool RingHistory::quorum_of_each_list(std::string_view bucket, std::string_view key,
                                      const std::vector<std::string_view>& nodes, Step at) const {
  const auto first = in_force(at);
  const auto last = first + std::min<std::ptrdiff_t>(rings_.end() - first, 2);
  const KeyDigest& digest = key_of(bucket, key).digest;
  return std::all_of(first, last, [&](const Seen& seen) {
    const Ring& ring = *seen.ring;
    const Partition partition = ring.partition(digest);
    return has_quorum(ring, ring.preference_list(partition), nodes) &&
           has_quorum(ring, ring.next_preference_list(partition), nodes);
  });
}

bool RingHistory::owns_at_last(std::string_view bucket, std::string_view key, std::string_view node) const {
  if (rings_.empty()) return true;
  const Ring& ring = *rings_.back().ring;
  const Member* member = ring.description().find_member(node);
  return member != nullptr && ring.is_owner(member->node, ring.partition(key_of(bucket, key).digest));
}

bool RingHistory::quorum_without(std::string_view bucket, std::string_view key,
                                 const std::set<std::string>& nodes) const {
  if (rings_.empty()) return true;
  const Ring& ring = *rings_.back().ring;
  const Partition partition = ring.partition(key_of(bucket, key).digest);
  const auto is_left = [&](List list) {
    const auto left = std::count_if(list.begin(), list.end(), [&](uint16_t position) {
      return !nodes.contains(ring.member(position).name);
    });
    return static_cast<uint32_t>(left) >= quorum_of(static_cast<uint32_t>(list.size()));
  };
  return is_left(ring.preference_list(partition)) && is_left(ring.next_preference_list(partition));
}

bool RingHistory::rested(std::string_view bucket, std::string_view key, Step from, Time until) const {
  return holds_from(key_of(bucket, key).rests_until, from, until);
}

RingHistory::Copies RingHistory::copies(std::string_view bucket, std::string_view key, Step from,
                                        Step until) const {
  Copies copies;
  const KeyDigest& digest = key_of(bucket, key).digest;
  for (auto at = in_force(from); at != rings_.end(); ++at) {
    copies = with_lists(copies, *at->ring, at->ring->partition(digest));
    if (at->step > until) break;
  }
  return copies;
}

uint32_t RingHistory::most_copies_until(Step until) const {
  uint32_t most = 0;
  for (const Seen& seen : rings_) {
    most = std::max(most, seen.copies.most);
    if (seen.step > until) break;
  }
  return most;
}

uint32_t RingHistory::fewest_copies() const {
  uint32_t fewest = rings_.empty() ? 0 : rings_.front().copies.fewest;
  for (const Seen& seen : rings_) fewest = std::min(fewest, seen.copies.fewest);
  return fewest;
}

}  // namespace ringkv::simulation
