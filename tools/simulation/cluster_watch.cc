#include "tools/simulation/cluster_watch.h"

#include <algorithm>
#include <span>

#include "base/text.h"
#include "tools/simulation/trace.h"

namespace ringkv::simulation {
namespace {

uint64_t hash_of_lists(const Ring& ring) {
  uint64_t hash = 0;
  for (Partition partition = 0; partition < ring.partitions(); ++partition) {
    for (const auto& list : {ring.preference_list(partition), ring.next_preference_list(partition)}) {
      for (const uint16_t position : list) hash = hash_bytes(hash, ring.member(position).name);
    }
  }
  return hash;
}

std::string text_of(const std::pair<uint64_t, uint64_t>& epoch) {
  return cat("epoch ", epoch.second, " of lineage ", epoch.first);
}

}  // namespace

void ClusterWatch::broken(std::string_view invariant, std::string what) {
  if (!violation_) violation_ = Violation{std::string(invariant), std::move(what)};
}

void ClusterWatch::look(const Sight& sight) {
  const RingDescription& description = sight.ring->description();
  const Epoch epoch = {description.lineage, description.epoch};
  ServingProcess& process = serving_[sight.machine];
  const bool same_life = process.boot == sight.boot;
  check_epoch(sight, epoch, same_life);
  if (same_life && process.epoch == epoch) return;
  process = {sight.node, sight.boot, epoch};
  if (!same_life) check_boot(sight);
  check_ring(sight, epoch);
}

// A ring holds at once and is on disk a little later: a crash between the two goes back, but not behind what
// others were told.
void ClusterWatch::check_epoch(const Sight& sight, Epoch epoch, bool same_life) {
  const Epoch before = serving_[sight.machine].epoch;
  if (same_life && epoch < before)
    broken("I7", cat(sight.machine, " went back from ", text_of(before), " to ", text_of(epoch)));
  uint64_t& told = told_[sight.machine];
  if (epoch.second < told)
    broken("I7", cat(sight.machine, " holds ", text_of(epoch), " and had told others of epoch ", told));
  told = std::max(told, sight.epoch_told);
}

std::vector<RingDescription> ClusterWatch::descriptions() const {
  std::vector<RingDescription> descriptions;
  for (const auto& [epoch, ring] : rings_) {
    Result<RingDescription> description = decode_ring_description(ring.encoded);
    if (description.ok()) descriptions.push_back(std::move(*description));
  }
  return descriptions;
}

void ClusterWatch::check_boot(const Sight& sight) {
  for (const auto& [machine, process] : serving_) {
    if (machine != sight.machine && process.node == sight.node)
      broken("I10", cat("two processes serve as one node, on ", machine, " and on ", sight.machine));
  }
  if (!boots_.insert(sight.boot).second)
    broken("I4", cat(sight.machine, " has drawn boot ", hex(sight.boot.value), " a second time"));
  uint64_t& last = generations_[sight.node];
  if (sight.generation < last)
    broken("I10", cat(sight.machine, " went back from generation ", last, " to ", sight.generation));
  last = sight.generation;
}

void ClusterWatch::check_ring(const Sight& sight, Epoch epoch) {
  const Ring& ring = *sight.ring;
  if (ring.digest() != ring_digest(ring.encoded()))
    broken("I7", cat(sight.machine, " has a digest that isn't that of its ring, ", text_of(epoch)));
  const auto [at, is_new] =
      rings_.try_emplace(epoch, KnownRing{sight.machine, ring.encoded(), hash_of_lists(ring)});
  if (is_new) return check_lists(ring);
  if (at->second.encoded != ring.encoded()) {
    broken("I7",
           cat(at->second.machine, " and ", sight.machine, " have different rings of ", text_of(epoch)));
  } else if (at->second.lists != hash_of_lists(ring)) {
    broken("I7", cat(at->second.machine, " and ", sight.machine, " have different preference lists of ",
                     text_of(epoch)));
  }
}

// I8: min(N, members with partitions) distinct nodes, on as many racks as these have, spread evenly.
void ClusterWatch::check_lists(const Ring& ring) {
  const RingDescription& description = ring.description();
  const auto check = [&](std::span<const uint16_t> list, const std::vector<Member>& members,
                         const OwnerTable& owners, uint32_t replicas, Partition partition) {
    std::map<std::string, uint32_t> left;  // nodes of each rack that has partitions
    const std::set<uint16_t> with_partitions(owners.begin(), owners.end());
    for (const uint16_t owner : with_partitions) ++left[members[owner].rack];
    std::set<NodeId> nodes;
    std::map<std::string, uint32_t> taken;
    const auto rack_of = [&](const Member& member) {
      const auto as_it_will_be = std::find_if(members.begin(), members.end(),
                                              [&](const Member& one) { return one.name == member.name; });
      return as_it_will_be == members.end() ? member.rack : as_it_will_be->rack;
    };
    for (const uint16_t position : list) {
      nodes.insert(ring.member(position).node);
      ++taken[rack_of(ring.member(position))];
    }
    uint32_t most = 0;
    for (const auto& [rack, count] : taken) most = std::max(most, count);
    const bool even = std::all_of(left.begin(), left.end(), [&](const auto& rack) {
      return taken[rack.first] + 1 >= most || taken[rack.first] == rack.second;
    });
    if (nodes.size() == std::min<size_t>(replicas, with_partitions.size()) && nodes.size() == list.size() &&
        even)
      return;
    broken("I8", cat("partition ", partition, " has copies on ", nodes.size(), " nodes and ", taken.size(),
                     " racks in ", text_of({description.lineage, description.epoch})));
  };
  for (Partition partition = 0; partition < ring.partitions(); ++partition) {
    check(ring.preference_list(partition), description.members, description.owners, description.replicas,
          partition);
    if (description.change)
      check(ring.next_preference_list(partition), description.change->members, description.change->owners,
            description.change->replicas, partition);
  }
}

}  // namespace ringkv::simulation
