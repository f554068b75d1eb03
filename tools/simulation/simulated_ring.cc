#include "tools/simulation/simulated_ring.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <utility>

#include "base/text.h"
#include "gossip/cluster_clock.h"
#include "storage/storage_key.h"

namespace ringkv::simulation {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr uint32_t kReplicas = 3;
// Machines beside those of the first ring, where there may be changes.
constexpr uint32_t kSpares = 2;
constexpr const char* kRacks[] = {"a", "b", "c"};
constexpr uint32_t kKeysPerBucket = 8;
constexpr Duration kStep = milliseconds(100);
constexpr Duration kTimeStep = milliseconds(10);
constexpr Duration kFoundingMax = seconds(90);
constexpr uint32_t kPartitions[] = {8, 16, 64};
constexpr Duration kRoundIntervals[] = {seconds(2), seconds(4), seconds(10)};
constexpr uint64_t kHintBudgets[] = {0, 16 << 10, 64 << 10, 256 << 10, 16 << 20};
constexpr Duration kScrubInterval = seconds(60);
constexpr Duration kDropGraces[] = {Duration(), seconds(5), seconds(30)};
constexpr uint64_t kCacheBytes[] = {0, 16 << 10, 1 << 20};

// A range that is dropped takes its floor with it, and what was let go there just before is in the same
// batch.
bool is_dropped(const Life& life, std::string_view storage_key) {
  const std::optional<StorageKeyParts> parts = parse_storage_key(storage_key);
  if (!parts) return false;
  const Ring& ring = life.ring();
  const Partition partition = partition_of(parts->token, ring.partitions());
  return !ring.is_owner(life.store().actor().node, partition) &&
         !life.convergence().former().held().contains(partition);
}

}  // namespace

SimulatedRing::SimulatedRing(const SimulationSettings& settings)
    : settings_(settings),
      random_(settings.seed),
      trace_(settings.trace),
      faults_(drawn(settings.faults, random_)),
      strikes_(events_, hash_bytes(settings.seed, "strikes"), settings.only_faults) {
  common_.partitions = kPartitions[random_.below(std::size(kPartitions))];
  common_.round_interval = kRoundIntervals[random_.below(std::size(kRoundIntervals))];
  common_.hint_budget_bytes = kHintBudgets[random_.below(std::size(kHintBudgets))];
  common_.scrub_interval = kScrubInterval;
  common_.drop_grace = kDropGraces[random_.below(std::size(kDropGraces))];
  const uint32_t spares = faults_.members > Duration::zero() ? kSpares : 0;
  for (uint32_t i = 0; i < settings_.nodes + spares; ++i) add_node(i);
  add_workload();
  if (settings_.make_workload) add_user_load();
  add_nemesis();
}

void SimulatedRing::add_nemesis() {
  Nemesis::Setting setting{.strikes = strikes_};
  for (const auto& node : nodes_) setting.nodes.push_back(node.get());
  setting.clients = workload_->client_names();
  if (user_load_ != nullptr) {
    for (std::string& name : user_load_->client_names()) setting.clients.push_back(std::move(name));
  }
  setting.requests_under_way = [this] { return workload_->under_way() > 0; };
  setting.on_other_disk = [this](const SimulatedNode& node) { watch_.forget(node.name(), node.node()); };
  nemesis_ = std::make_unique<Nemesis>(strikes_world_, network_, std::move(setting), history_);
}

RingFacts SimulatedRing::facts() const {
  RingFacts facts;
  facts.copies = std::min(kReplicas, settings_.nodes);
  facts.lww_bucket = kLwwBucket;
  for (const auto& node : nodes_) {
    for (const NodeId known : node->nodes()) facts.names[known] = node->name();
    if (!ring_history_.was_always_member(node->name())) facts.left.insert(node->name());
    if (nemesis_ != nullptr && nemesis_->is_gone_member(*node)) facts.gone.insert(node->name());
  }
  facts.closed_lives = closed_lives_;
  facts.rings = &ring_history_;
  facts.files_damaged = files_damaged_;
  for (const RingDescription& ring : watch_.descriptions()) {
    for (const BucketDescription& bucket : ring.buckets) facts.bucket_since.emplace(bucket.name, ring.epoch);
  }
  return facts;
}

void SimulatedRing::add_node(uint32_t number) {
  SimulatedNode::Settings settings = common_;
  settings.name = cat("n", number + 1);
  settings.rack = kRacks[number % std::size(kRacks)];
  settings.bootstrap = number == 0;
  settings.spare = number >= settings_.nodes;
  settings.cache_bytes = kCacheBytes[random_.below(std::size(kCacheBytes))];
  settings.seed = random_.next();
  settings.others = [this, number] { return others_of(number); };
  settings.known = [this](const std::string& name) { return known_member(name); };
  settings.on_figures = [this](const Statistics& figures) { sightings_.add_figures(figures); };
  nodes_.push_back(std::make_unique<SimulatedNode>(world_, network_, std::move(settings)));
  SimulatedNode& node = *nodes_.back();
  node.set_on_life([this, &node](const Life& life) { check_node_leaves(node, life); });
  node.set_on_erase([this, &node](const Life& life, std::string_view key, std::string_view record) {
    if (!is_dropped(life, key)) note(node, check_erasure(life.store(), key, record));
  });
}

const Ring* SimulatedRing::newest_ring() const {
  const Ring* newest = nullptr;
  for (const auto& node : nodes_) {
    if (node->serving() && (newest == nullptr || node->life()->ring().epoch() > newest->epoch()))
      newest = &node->life()->ring();
  }
  return newest;
}

std::optional<Member> SimulatedRing::known_member(const std::string& name) const {
  const Ring* newest = newest_ring();
  const Member* member = newest == nullptr ? nullptr : newest->description().find_member(name);
  return member == nullptr ? std::nullopt : std::optional(*member);
}

std::vector<Address> SimulatedRing::others_of(uint32_t number) const {
  std::vector<Address> addresses;
  for (uint32_t other = 0; other < nodes_.size(); ++other) {
    if (other != number) addresses.push_back(nodes_[other]->peer_address());
  }
  return addresses;
}

void SimulatedRing::add_workload() {
  Workload::Settings settings;
  for (uint32_t i = 0; i < nodes_.size(); ++i)
    settings.nodes.push_back({nodes_[i]->name(), nodes_[i]->client_addresses(), i >= settings_.nodes});
  settings.is_member = [this](uint32_t node) {
    const Ring* newest = ring_history_.newest();
    return newest == nullptr || newest->description().find_member(nodes_[node]->name()) != nullptr;
  };
  settings.copies = facts().copies;
  settings.operations_per_second = settings_.operations_per_second;
  settings.keys = kKeysPerBucket;
  settings.seed = random_.next();
  settings.only = settings_.only_operations;
  settings.user_bucket = settings_.make_workload != nullptr;
  workload_ = std::make_unique<Workload>(world_, network_, history_, std::move(settings));
}

void SimulatedRing::add_user_load() {
  UserLoad::Settings settings;
  for (uint32_t i = 0; i < settings_.nodes; ++i) {
    for (const Address& address : nodes_[i]->client_addresses()) settings.nodes.push_back(address);
  }
  settings.seed = hash_bytes(settings_.seed, "user");
  settings.make = settings_.make_workload;
  user_load_ = std::make_unique<UserLoad>(world_, network_, settings);
}

void SimulatedRing::found() {
  const bool in_peace = random_.one_in(2);
  nemesis_->keep_nodes_up();
  if (!in_peace) nemesis_->let_loose();
  const Time give_up_at = events_.now() + kFoundingMax;
  while (!is_founded() && events_.now() < give_up_at && !violation_) pass(kStep);
  if (in_peace) nemesis_->let_loose();
}

bool SimulatedRing::is_founded() const {
  return std::any_of(nodes_.begin(), nodes_.end(), [this](const auto& node) {
    return node->serving() && node->life()->ring().description().members.size() == settings_.nodes;
  });
}

void SimulatedRing::pass(Duration duration) {
  const Time end = events_.now() + duration;
  while (events_.now() < end && !violation_) {
    for (const Time step_end = std::min(end, events_.now() + kStep); events_.now() < step_end;) {
      events_.run_until(std::min(step_end, events_.now() + kTimeStep));
      look_at_lives();
    }
    look_at_nodes();
  }
}

// A life may begin with a wrong idea of the time until it has heard a majority; and it stamps by it what
// others hand on to it, before it serves clients itself.
void SimulatedRing::look_at_lives() {
  for (const auto& node : nodes_) {
    const Life* life = node->life();
    if (life == nullptr) continue;
    if (node->serving() && ring_history_.is_new(life->ring())) note_ring(life->ring());
    look_at_time(*life);
    if (life->wholeness().incomplete() == common_.partitions) history_.notice_loss(node->name());
  }
}

void SimulatedRing::look_at_nodes() {
  for (const auto& node : nodes_) {
    if (const auto sight = node->sight()) {
      watch_.look(*sight);
      look_at_life(*node, *node->life());
    } else {
      watch_.gone(node->name());
    }
  }
  note(watch_.violation());
}

// Whose place another has taken is never asked again for what it has: its disk is lost.
void SimulatedRing::lose_replaced(const RingDescription& before, const RingDescription& after) {
  const auto& change = before.change;
  if (!change) return;
  for (const Member& member : before.members) {
    const auto stays = [&](const Member& one) { return one.name == member.name; };
    if (after.find_member(member.node) == nullptr && member.status == MemberStatus::kLeaving &&
        std::none_of(change->members.begin(), change->members.end(), stays))
      history_.lose_disk(member.name);
  }
}

void SimulatedRing::note_ring(const Ring& ring) {
  if (const Ring* last = ring_history_.newest()) {
    sightings_.add_change(last->description(), ring.description());
    const auto& change = last->description().change;
    const bool cancelled = change && !change->switched && !ring.description().change;
    if (cancelled && nemesis_->at_peace() && settings_.mode == Mode::kLiveness)
      sightings_.saw(sighting::kChangeGivenUp);
    lose_replaced(last->description(), ring.description());
  }
  ring_history_.note(ring, history_.mark(), events_.now());
}

void SimulatedRing::look_at_life(const SimulatedNode& node, const Life& life) {
  const std::vector<Actor>& closed = life.store().floors().closed();
  if (closed.size() != closed_seen_[node.name()]) {
    closed_lives_.insert(closed.begin(), closed.end());
    closed_seen_[node.name()] = closed.size();
  }
  for (const auto& [intended, count] : life.hints().counts()) {
    if (count.bytes <= common_.hint_budget_bytes) continue;
    note(node, Violation{"I13", cat("holds ", count.bytes, " bytes of hints for one node, of a budget of ",
                                    common_.hint_budget_bytes)});
  }
}

void SimulatedRing::look_at_time(const Life& life) {
  const auto truth = static_cast<int64_t>(SimulatedClock::true_now(world_));
  const int64_t wrong_by = static_cast<int64_t>(life.moment().wall_now) - truth;
  if (std::abs(wrong_by) <= ClusterClock::kSkewBoundMicros) return;
  sightings_.saw(sighting::kTimeWrong);
  history_.calendar().note_wrong(events_.now() - kStep, events_.now() + kStep);
}

void SimulatedRing::note(const SimulatedNode& node, std::optional<Violation> violation) {
  if (violation_ || !violation) return;
  violation_ = std::move(violation);
  violation_->what = cat(node.name(), ": ", violation_->what);
}

void SimulatedRing::check_node_leaves(const SimulatedNode& node, const Life& life) {
  note(node, check_leaves(life.store().leaves(), life.ring().description(), node.disk()));
  note(node, check_keys_owned(copy_of(node), life.ring()));
}

void SimulatedRing::note(std::optional<Violation> violation) {
  if (!violation_) violation_ = std::move(violation);
}

bool SimulatedRing::is_there(const SimulatedNode& node) const {
  const Ring* newest = newest_ring();
  if (nemesis_->is_gone(node)) return false;
  return newest == nullptr || newest->description().find_member(node.node()) != nullptr;
}

std::set<std::string> SimulatedRing::absent() const {
  std::set<std::string> names;
  for (const auto& node : nodes_) {
    if (!is_there(*node)) names.insert(node->name());
  }
  return names;
}

void SimulatedRing::drop_draft() const {
  const Ring* newest = newest_ring();
  if (newest == nullptr || !newest->description().plan) return;
  for (const auto& node : nodes_) {
    if (node->serving() && &node->life()->ring() == newest)
      return node->ask(ClientCancelPlan{newest->epoch()}, "cancels the plan");
  }
}

NodeCopy SimulatedRing::copy_of(const SimulatedNode& node) const {
  NodeCopy copy{node.name(), node.node(), &node.disk(), {}, {}};
  for (const auto& other : nodes_) copy.once_members.insert(other->nodes().begin(), other->nodes().end());
  const Life* life = node.life();
  if (life != nullptr) copy.former = life->convergence().former().held();
  return copy;
}

SimulationResult SimulatedRing::result() {
  for (const auto& node : nodes_) node->count_figures();
  SimulationResult result;
  result.hash = trace_.hash();
  result.violation = violation_;
  result.simulated = events_.now() - EventQueue().now();
  result.operations = history_.operations().size();
  for (const Operation& operation : history_.operations()) {
    result.ok += operation.completed != kNever && operation.reply.status.ok() ? 1 : 0;
    result.unknown += operation.reply.status.code() == StatusCode::kUnknownOutcome ? 1 : 0;
  }
  result.lives = watch_.boots();
  result.rings = watch_.rings();
  result.power_cuts = history_.power_cuts().size();
  result.events = events_.events_run();
  result.sightings = sightings_.counts();
  result.strikes = strikes_.struck();
  result.operations_asked = workload_->asked();
  return result;
}

}  // namespace ringkv::simulation
