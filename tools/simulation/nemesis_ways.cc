// What strikes the ways between machines.
#include <algorithm>
#include <map>
#include <utility>

#include "tools/simulation/nemesis.h"

namespace ringkv::simulation {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kPartitionMin = seconds(1);
constexpr Duration kPartitionMax = seconds(20);
constexpr Duration kApartMax = seconds(10);
constexpr Duration kLongerMax = milliseconds(100);
constexpr Duration kSwizzleStepMin = milliseconds(50);
constexpr Duration kSwizzleStepMax = seconds(2);

template <class Thing>
std::vector<Thing> shuffled(std::vector<Thing> things, Random& random) {
  for (size_t left = things.size(); left > 1; --left) std::swap(things[left - 1], things[random.below(left)]);
  return things;
}

}  // namespace

std::vector<std::string> Nemesis::machines() const {
  std::vector<std::string> names;
  for (const SimulatedNode* node : setting_.nodes) names.push_back(node->name());
  names.insert(names.end(), setting_.clients.begin(), setting_.clients.end());
  return names;
}

// All to it and from it.
std::vector<SimulatedNetwork::Way> Nemesis::ways_of(const std::string& machine) const {
  std::vector<Way> ways;
  for (const std::string& other : machines()) {
    if (other == machine) continue;
    ways.push_back({machine, other});
    ways.push_back({other, machine});
  }
  return ways;
}

std::string Nemesis::any_node() const {
  return setting_.nodes[world_.random.below(setting_.nodes.size())]->name();
}

void Nemesis::cut(const std::vector<Way>& ways, Duration duration) {
  for (const Way& way : ways) network_.cut(way);
  world_.events.after(duration, [this, ways] {
    if (peace_) return;
    for (const Way& way : ways) network_.heal(way);
  });
}

// Into two groups or three; clients fall into one too, or hear everybody.
void Nemesis::partition() {
  if (partitioned_) return;
  const uint64_t groups = 2 + world_.random.below(2);
  const bool clients_too = world_.random.one_in(2);
  std::map<std::string, uint64_t> group;
  for (const SimulatedNode* node : setting_.nodes) group[node->name()] = world_.random.below(groups);
  for (const std::string& client : setting_.clients) {
    if (clients_too) group[client] = world_.random.below(groups);
  }
  std::vector<Way> ways;
  for (const auto& [from, from_group] : group) {
    for (const auto& [to, to_group] : group) {
      if (from_group != to_group) ways.push_back({from, to});
    }
  }
  const Duration duration = between(kPartitionMin, kPartitionMax);
  cut(ways, duration);
  partitioned_ = true;
  world_.events.after(duration, [this] { partitioned_ = false; });
  if (!ways.empty()) saw_under_load(sighting::kPartitionUnderLoad);
}

void Nemesis::cut_pair() {
  const std::vector<std::string> names = machines();
  const std::string one = any_node();
  const std::string other = names[world_.random.below(names.size())];
  if (one == other) return;
  std::vector<Way> ways = {{one, other}, {other, one}};
  if (world_.random.one_in(2)) {
    ways.erase(ways.begin() + static_cast<std::ptrdiff_t>(world_.random.below(2)));
    world_.sightings.saw(sighting::kOneWayCut);
  }
  cut(ways, between(kCutMin, kCutMax));
}

void Nemesis::draw_apart() {
  const std::vector<std::string> names = machines();
  const std::string one = any_node();
  const std::string other = names[world_.random.below(names.size())];
  const Duration longer = world_.up_to(kLongerMax);
  network_.delay({one, other}, longer);
  network_.delay({other, one}, longer);
  world_.events.after(world_.up_to(kApartMax), [this, one, other] {
    network_.delay({one, other}, Duration::zero());
    network_.delay({other, one}, Duration::zero());
  });
}

// After FoundationDB's "swizzle-clogging": who draws conclusions from the order in which others went or came
// back is wrong.
void Nemesis::swizzle() {
  std::vector<std::string> chosen;
  for (const SimulatedNode* node : setting_.nodes) {
    if (world_.random.one_in(2)) chosen.push_back(node->name());
  }
  if (chosen.size() < 2) return;
  Duration at{};
  const auto one_by_one = [&](void (SimulatedNetwork::*act)(const Way&)) {
    for (const std::string& name : shuffled(chosen, world_.random)) {
      world_.events.after(at += between(kSwizzleStepMin, kSwizzleStepMax), [this, name, act] {
        if (peace_) return;
        for (const Way& way : ways_of(name)) (network_.*act)(way);
      });
    }
  };
  one_by_one(&SimulatedNetwork::cut);
  one_by_one(&SimulatedNetwork::heal);
  saw_under_load(sighting::kSwizzled);
}

// From the core, both ways or one way.
void Nemesis::cut_off(const SimulatedNode& node, const Machines& core) {
  world_.trace.add(world_.events.now(), node.name(), "is cut off for good");
  world_.sightings.saw(sighting::kCutOffForGood);
  const uint64_t roll = world_.random.below(3);
  for (const SimulatedNode* other : core) {
    if (roll != 0) network_.cut({node.name(), other->name()});
    if (roll != 1) network_.cut({other->name(), node.name()});
  }
}

void Nemesis::isolate(const SimulatedNode& node) { cut(ways_of(node.name()), between(kCutMin, kCutMax)); }

}  // namespace ringkv::simulation
