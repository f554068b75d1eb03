#include "tools/simulation/simulation.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/text.h"
#include "gossip/cluster_clock.h"
#include "node/ring_driver.h"
#include "storage/storage_key.h"
#include "tools/simulation/checkers.h"
#include "tools/simulation/cluster_watch.h"
#include "tools/simulation/copies_checker.h"
#include "tools/simulation/core_checker.h"
#include "tools/simulation/nemesis.h"
#include "tools/simulation/peace_checker.h"
#include "tools/simulation/ring_history.h"
#include "tools/simulation/simulated_node.h"
#include "tools/simulation/workload.h"

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
// Longer than any deadline, and after that as long as it takes, but no longer than this.
constexpr Duration kPeaceMin = seconds(6);
constexpr Duration kPeaceMax = seconds(120);
// Two that are given up one after the other, and as long for all else.
constexpr Duration kCoreSettlesWithin = 2 * RingDriver::kGivenUpAfter + std::chrono::minutes(5);
constexpr Duration kLookAtPeace = seconds(1);
constexpr Duration kLastReads = seconds(6);
// Of a connection that nothing comes through any more, by its ends.
constexpr Duration kSilenceFound = seconds(20);
constexpr uint32_t kPartitions[] = {8, 16, 64};
constexpr Duration kRoundIntervals[] = {seconds(2), seconds(4), seconds(10)};
constexpr uint64_t kHintBudgets[] = {0, 16 << 10, 64 << 10, 256 << 10, 16 << 20};
constexpr Duration kScrubInterval = seconds(60);
// Between two rounds of a pair there is up to a quarter more than the interval.
constexpr double kTwoRounds = 2.6;
// Longer than what is left to do then.
constexpr uint64_t kExpiresSoonMs = 45'000;
// Marks of what rounds have found are always on their way to the disk.
constexpr size_t kStagedBytesAtRest = size_t{64} << 10;
constexpr const char* kFiguresOfRest[] = {"rounds.differences", "rounds.keys_received", "get.read_repairs"};
constexpr Duration kDropGraces[] = {Duration(), seconds(5), seconds(30)};
constexpr uint64_t kCacheBytes[] = {0, 16 << 10, 1 << 20};
// Of a node at rest: each client, both channels of each other node both ways, and what is just replaced.
constexpr size_t kConnectionsPerPeer = 6;

class Simulation {
 public:
  explicit Simulation(const SimulationSettings& settings)
      : settings_(settings),
        random_(settings.seed),
        trace_(settings.trace),
        faults_(drawn(settings.faults, random_)) {
    common_.partitions = kPartitions[random_.below(std::size(kPartitions))];
    common_.round_interval = kRoundIntervals[random_.below(std::size(kRoundIntervals))];
    common_.hint_budget_bytes = kHintBudgets[random_.below(std::size(kHintBudgets))];
    common_.scrub_interval = kScrubInterval;
    common_.drop_grace = kDropGraces[random_.below(std::size(kDropGraces))];
    const uint32_t spares = faults_.members > Duration::zero() ? kSpares : 0;
    for (uint32_t i = 0; i < settings_.nodes + spares; ++i) add_node(i);
    add_workload();
    Nemesis::Setting setting;
    for (const auto& node : nodes_) setting.nodes.push_back(node.get());
    setting.clients = workload_->client_names();
    setting.requests_under_way = [this] { return workload_->under_way() > 0; };
    setting.on_other_disk = [this](const SimulatedNode& node) { watch_.forget(node.name(), node.node()); };
    nemesis_ = std::make_unique<Nemesis>(world_, network_, std::move(setting), history_);
  }

  SimulationResult run() {
    found();
    workload_->start();
    nemesis_->strike_members();
    pass(settings_.duration);
    workload_->quiesce();
    if (settings_.mode == Mode::kLiveness) {
      go_on_in_core();
    } else {
      converge_in_peace();
    }
    if (!violation_) check_ring_changes();
    for (const auto& node : nodes_) node->count_figures();
    return result();
  }

 private:
  void converge_in_peace() {
    nemesis_->make_peace();
    faults_ = Faults();
    converge();
    const Statistics converged = convergence_figures();
    pass(Duration(static_cast<int64_t>(kTwoRounds * static_cast<double>(common_.round_interval.count()))));
    const size_t last_reads = history_.operations().size();
    if (!violation_) workload_->read_everything(absent());
    pass(kLastReads);
    if (!violation_) check_at_rest(converged);
    if (!violation_) violation_ = check_history(history_, facts());
    if (!violation_) violation_ = check_peace(history_, last_reads, facts());
  }

  RingFacts facts() const {
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
      for (const BucketDescription& bucket : ring.buckets)
        facts.bucket_since.emplace(bucket.name, ring.epoch);
    }
    return facts;
  }

  void add_node(uint32_t number) {
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

  const Ring* newest_ring() const {
    const Ring* newest = nullptr;
    for (const auto& node : nodes_) {
      if (node->serving() && (newest == nullptr || node->life()->ring().epoch() > newest->epoch()))
        newest = &node->life()->ring();
    }
    return newest;
  }

  std::optional<Member> known_member(const std::string& name) const {
    const Ring* newest = newest_ring();
    const Member* member = newest == nullptr ? nullptr : newest->description().find_member(name);
    return member == nullptr ? std::nullopt : std::optional(*member);
  }

  std::vector<Address> others_of(uint32_t number) const {
    std::vector<Address> addresses;
    for (uint32_t other = 0; other < nodes_.size(); ++other) {
      if (other != number) addresses.push_back(nodes_[other]->peer_address());
    }
    return addresses;
  }

  void add_workload() {
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
    workload_ = std::make_unique<Workload>(world_, network_, history_, std::move(settings));
  }

  // Until all nodes have joined. Half of the rings are founded in peace.
  void found() {
    const bool in_peace = random_.one_in(2);
    nemesis_->keep_nodes_up();
    if (!in_peace) nemesis_->let_loose();
    const Time give_up_at = events_.now() + kFoundingMax;
    while (!is_founded() && events_.now() < give_up_at && !violation_) pass(kStep);
    if (in_peace) nemesis_->let_loose();
  }

  bool is_founded() const {
    return std::any_of(nodes_.begin(), nodes_.end(), [this](const auto& node) {
      return node->serving() && node->life()->ring().description().members.size() == settings_.nodes;
    });
  }

  void pass(Duration duration) {
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
  void look_at_lives() {
    for (const auto& node : nodes_) {
      const Life* life = node->life();
      if (life == nullptr) continue;
      if (node->serving() && ring_history_.is_new(life->ring())) note_ring(life->ring());
      look_at_time(*life);
      if (life->wholeness().incomplete() == common_.partitions) history_.notice_loss(node->name());
    }
  }

  void look_at_nodes() {
    for (const auto& node : nodes_) {
      if (const auto sight = node->sight()) {
        watch_.look(*sight);
        look_at_life(*node, *node->life());
      } else {
        watch_.gone(node->name());
      }
    }
    if (!violation_) violation_ = watch_.violation();
  }

  // Whose place another has taken is never asked again for what it has: its disk is lost.
  void note_ring(const Ring& ring) {
    const Ring* last = ring_history_.newest();
    if (last != nullptr) {
      sightings_.add_change(last->description(), ring.description());
      if (const auto& change = last->description().change) {
        for (const Member& member : last->description().members) {
          const auto stays = [&](const Member& one) { return one.name == member.name; };
          if (ring.description().find_member(member.node) == nullptr &&
              member.status == MemberStatus::kLeaving &&
              std::none_of(change->members.begin(), change->members.end(), stays))
            history_.lose_disk(member.name);
        }
      }
    }
    ring_history_.note(ring, history_.mark(), events_.now());
  }

  void look_at_life(const SimulatedNode& node, const Life& life) {
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

  void look_at_time(const Life& life) {
    const auto truth = static_cast<int64_t>(SimulatedClock::true_now(world_));
    const int64_t wrong_by = static_cast<int64_t>(life.moment().wall_now) - truth;
    if (std::abs(wrong_by) <= ClusterClock::kSkewBoundMicros) return;
    sightings_.saw(sighting::kTimeWrong);
    history_.calendar().note_wrong(events_.now() - kStep, events_.now() + kStep);
  }

  // A range that is dropped takes its floor with it, and what was let go there just before is in the same
  // batch.
  static bool is_dropped(const Life& life, std::string_view storage_key) {
    const std::optional<StorageKeyParts> parts = parse_storage_key(storage_key);
    if (!parts) return false;
    const Ring& ring = life.ring();
    const Partition partition = partition_of(parts->token, ring.partitions());
    return !ring.is_owner(life.store().actor().node, partition) &&
           !life.convergence().former().held().contains(partition);
  }

  void note(const SimulatedNode& node, std::optional<Violation> violation) {
    if (violation_ || !violation) return;
    violation_ = std::move(violation);
    violation_->what = cat(node.name(), ": ", violation_->what);
  }

  void check_node_leaves(const SimulatedNode& node, const Life& life) {
    note(node, check_leaves(life.store().leaves(), life.ring().description(), node.disk()));
    note(node, check_keys_owned(copy_of(node), life.ring()));
  }

  // ---- peace

  // A member that isn't gone. Who waits for a plan, or begins anew, is none.
  bool is_there(const SimulatedNode& node) const {
    const Ring* newest = newest_ring();
    if (nemesis_->is_gone(node)) return false;
    return newest == nullptr || newest->description().find_member(node.node()) != nullptr;
  }
  std::set<std::string> absent() const {
    std::set<std::string> names;
    for (const auto& node : nodes_) {
      if (!is_there(*node)) names.insert(node->name());
    }
    return names;
  }

  // Until nothing differs any more, or it has taken too long: then what still does is the broken promise.
  void converge() {
    pass(kPeaceMin);
    const Time give_up_at = events_.now() + kPeaceMax;
    std::optional<Violation> lacking = what_is_lacking(kExpiresSoonMs);
    while ((lacking || is_anybody_asking()) && events_.now() < give_up_at && !violation_) {
      drop_draft();
      pass(kLookAtPeace);
      lacking = what_is_lacking(kExpiresSoonMs);
      if (events_.now() < give_up_at - kPeaceMax / 2) continue;
      accept_losses();
      cancel_hopeless_change();
    }
    if (!violation_) violation_ = std::move(lacking);
    history_.heal();
  }

  // Who is taken in late, after a change that had to be cancelled, has the ring change once more.
  bool is_anybody_asking() const {
    return std::any_of(nodes_.begin(), nodes_.end(), [](const auto& node) { return node->asks_to_join(); });
  }

  // Who has lost something that only a member had which is gone for good waits for its operator's word.
  void accept_losses() {
    if (facts().gone.empty()) return;
    for (const auto& node : nodes_) {
      if (!node->serving() || node->life()->wholeness().incomplete() == 0) continue;
      node->accept_loss();
      sightings_.saw(sighting::kLossAccepted);
    }
  }

  // That nobody will commit any more: who wants to join, or to vote, would wait for it.
  void drop_draft() const {
    const Ring* newest = newest_ring();
    if (newest == nullptr || !newest->description().plan) return;
    for (const auto& node : nodes_) {
      if (node->serving() && &node->life()->ring() == newest)
        return node->ask(ClientCancelPlan{newest->epoch()}, "cancels the plan");
    }
  }

  NodeCopy copy_of(const SimulatedNode& node) const {
    NodeCopy copy{node.name(), node.node(), &node.disk(), {}, {}};
    for (const auto& other : nodes_) copy.once_members.insert(other->nodes().begin(), other->nodes().end());
    const Life* life = node.life();
    if (life != nullptr) copy.former = life->convergence().former().held();
    return copy;
  }

  // A change that waits for a member which is gone for good, or has ended since it alone was told that the
  // change is cancelled, ends by itself after ten minutes; an operator cancels it.
  void cancel_hopeless_change() {
    if (facts().gone.empty() && absent().empty()) return;
    for (const auto& node : nodes_) {
      if (!node->serving()) continue;
      const RingDescription& ring = node->life()->ring().description();
      if (ring.change && !ring.change->switched)
        node->ask(ClientCancelPlan{ring.epoch}, "cancels the change");
      return;
    }
  }

  std::optional<Violation> what_is_lacking(uint64_t expires_within_ms) const {
    Convergent found;
    for (const auto& node : nodes_) {
      if (!is_there(*node)) {
        if (auto violation = what_is_wrong_outside(*node)) return violation;
        continue;
      }
      if (auto violation = what_is_lacking(*node)) return violation;
      found.ring = &node->life()->ring();
      found.copies.push_back(copy_of(*node));
    }
    found.expires_within_ms = expires_within_ms;
    found.now_ms = SimulatedClock::true_now(world_) / 1000;
    return check_copies(found);
  }

  // I9: who is no member serves nobody. L5: who asks to be taken in is.
  std::optional<Violation> what_is_wrong_outside(const SimulatedNode& node) const {
    if (node.serving()) return Violation{"I9", cat(node.name(), " serves, and is no member any more")};
    if (node.asks_to_join() && facts().gone.empty())
      return Violation{"L5", cat(node.name(), " asks to join, and isn't taken in")};
    return std::nullopt;
  }

  // I13: nothing is left of requests that were answered.
  std::optional<Violation> what_is_lacking(const SimulatedNode& node) const {
    if (!node.serving() || !workload_->ready()) return Violation{"L6", cat(node.name(), " doesn't serve")};
    const Life& life = *node.life();
    if (node.figures()["requests.under_way"] > 0 || workload_->under_way() > 0)
      return Violation{"I13", cat(node.name(), " still has requests under way")};
    if (life.store().staged_bytes() > kStagedBytesAtRest || node.connections() > connections_max())
      return Violation{"I13", cat(node.name(), " still holds ", life.store().staged_bytes(),
                                  " staged bytes and ", node.connections(), " connections")};
    if (auto violation = change_under_way(node, life.ring().description())) return violation;
    if (life.wholeness().incomplete() > 0)
      return Violation{"L3", cat(node.name(), " still lacks ", life.wholeness().incomplete(), " partitions")};
    if (facts().gone.empty() && node.figures()["transient.blocked"] > 0)
      return Violation{"tombstones",
                       cat(node.name(), " can't let go of what was deleted: it waits for", blocking(node))};
    for (const auto& other : nodes_) {
      if (life.ring().description().find_member(other->node()) == nullptr) continue;
      if (node.can_reach(other->node()) == (&node == other.get() || is_there(*other))) continue;
      return Violation{
          "L1", cat(node.name(), is_there(*other) ? " doesn't reach " : " doesn't miss ", other->name())};
    }
    return std::nullopt;
  }

  static std::string blocking(const SimulatedNode& node) {
    constexpr std::string_view kBlockedBy = "transient.blocked_by.";
    std::string text;
    for (const auto& [name, figure] : node.figures()) {
      if (figure > 0 && name.starts_with(kBlockedBy)) text += cat(" ", name.substr(kBlockedBy.size()));
    }
    return text;
  }

  // L5: a change ends, all who were to leave have left, and what moved is nowhere else. (Who is gone for good
  // would have to take what former owners have.)
  std::optional<Violation> change_under_way(const SimulatedNode& node, const RingDescription& ring) const {
    if (ring.change)
      return Violation{"L5", cat(node.name(), " is in a change of the ring that doesn't end: ", readiness())};
    for (const Member& member : ring.members) {
      if (member.status != MemberStatus::kNormal)
        return Violation{"L5", cat(member.name, " is joining or leaving and doesn't come to an end")};
      if (!member.voter && !facts().gone.contains(member.name))
        return Violation{"L5", cat(member.name, " doesn't vote yet")};
    }
    const uint32_t former = node.life()->convergence().former().partitions();
    if (former > 0 && facts().gone.empty())
      return Violation{"L5", cat(node.name(), " still has ", former, " partitions of others")};
    return std::nullopt;
  }

  std::string readiness() const {
    std::string text;
    for (const auto& node : nodes_) {
      if (!node->serving()) continue;
      const PeerState state = node->member_state();
      text += cat(text.empty() ? "" : ", ", node->name(), " ready for ", state.ready_epoch, " in ",
                  state.epoch, " lacks ", state.incomplete_partitions);
    }
    return text;
  }

  // L4: where all are equal nothing is sent, or repaired, or found to differ any more.
  Statistics convergence_figures() const {
    Statistics sum;
    for (const auto& node : nodes_) {
      Statistics figures = node->figures();
      for (const char* name : kFiguresOfRest) sum[name] += figures[name];
    }
    return sum;
  }

  void check_at_rest(const Statistics& converged) {
    for (const auto& [name, figure] : convergence_figures()) {
      if (violation_ || figure == converged.at(name)) continue;
      violation_ = Violation{
          "L4", cat("after all were equal ", name, " went from ", static_cast<uint64_t>(converged.at(name)),
                    " to ", static_cast<uint64_t>(figure))};
    }
    if (!violation_) violation_ = what_is_lacking(0);
    for (const auto& node : nodes_) {
      if (!violation_ && is_there(*node)) check_node_leaves(*node, *node->life());
    }
  }

  // ---- a core

  void go_on_in_core() {
    const Machines core = nemesis_->chosen_core();
    faults_ = Faults();
    if (core.empty()) {
      sightings_.saw(sighting::kNoCore);
      nemesis_->make_peace();
      pass(kPeaceMin);
    } else {
      if (newest_ring()->description().change) sightings_.saw(sighting::kCoreInChange);
      nemesis_->make_peace_in(core);
      demand_progress(core);
    }
    if (!violation_) violation_ = check_history(history_, facts());
  }

  void demand_progress(const Machines& core) {
    settle_in(core);
    std::vector<uint32_t> asked;
    for (uint32_t node = 0; node < nodes_.size(); ++node) {
      const bool is_of_core = std::find(core.begin(), core.end(), nodes_[node].get()) != core.end();
      if (is_of_core && is_there(*nodes_[node])) asked.push_back(node);
    }
    // A connection that was silenced is known to be dead only once it has been used.
    if (!violation_) workload_->write_everything(asked);
    if (!violation_) workload_->read_through(asked);
    pass(kSilenceFound);
    const size_t first = history_.operations().size();
    if (!violation_) workload_->write_everything(asked);
    pass(kLastReads);
    if (!violation_) workload_->read_through(asked);
    pass(kLastReads);
    const std::vector<CoreMember> members = members_of(core);
    if (!violation_) violation_ = what_core_lacks(members);
    if (violation_) return;
    violation_ = check_core(history_, first, members);
    for (const auto& [bucket, key] : workload_->keys()) {
      const bool served = is_served_by(members, bucket, key);
      sightings_.saw(served ? sighting::kCoreServesKey : sighting::kCoreLacksKey);
    }
  }

  // A change that waits for somebody outside is taken back after ten minutes, and a leaver given up then.
  void settle_in(const Machines& core) {
    pass(kPeaceMin);
    const Time began = events_.now();
    std::optional<Violation> lacking = what_core_lacks(members_of(core));
    while (lacking && events_.now() < began + kCoreSettlesWithin && !violation_) {
      drop_draft();
      pass(kLookAtPeace);
      lacking = what_core_lacks(members_of(core));
    }
    if (!violation_) violation_ = std::move(lacking);
    if (events_.now() > began + RingDriver::kGivenUpAfter) sightings_.saw(sighting::kCoreWaitedLong);
  }

  // The node that it is for; and where that isn't an owner any more, all owners: one outside, if there is
  // one.
  static NodeId whom_awaits(const KeptHint& hint, const Ring& ring, const Machines& core) {
    const Partition partition = partition_of(hint.token, ring.partitions());
    if (ring.is_owner(hint.intended, partition)) return hint.intended;
    NodeId awaited = hint.intended;
    for (const auto& list : {ring.preference_list(partition), ring.next_preference_list(partition)}) {
      for (const uint16_t position : list) {
        const NodeId owner = ring.member(position).node;
        const bool is_of_core = std::any_of(
            core.begin(), core.end(), [owner](const SimulatedNode* node) { return node->node() == owner; });
        if (!is_of_core) return owner;
        awaited = owner;
      }
    }
    return awaited;
  }

  std::vector<CoreMember> members_of(const Machines& core) const {
    std::vector<CoreMember> members;
    for (const SimulatedNode* node : core) {
      if (!is_there(*node)) continue;  // it has left
      CoreMember& member = members.emplace_back();
      member.name = node->name();
      member.node = node->node();
      member.serves = node->serving() && workload_->ready();
      if (!member.serves) continue;
      const Life& life = *node->life();
      member.ring = &life.ring();
      for (const Partition partition : life.wholeness().incomplete_partitions())
        member.incomplete.insert(partition);
      for (const KeptHint& hint : kept_hints(node->disk()))
        ++member.hints[whom_awaits(hint, life.ring(), core)];
      for (const Member& other : life.ring().description().members) {
        if (node->can_reach(other.node)) member.reached.insert(other.node);
      }
      member.state = node->member_state();
    }
    return members;
  }

  // I5 for changes of the ring, which are named by the time to live that they set.
  void check_ring_changes() {
    std::set<uint64_t> chosen;
    for (const RingDescription& ring : watch_.descriptions()) {
      const BucketDescription* spare = ring.find_bucket(kSpareBucket);
      if (spare != nullptr) chosen.insert(spare->ttl_ms);
    }
    for (OperationIndex index = 0; index < history_.operations().size(); ++index) {
      const Operation& operation = history_.operations()[index];
      const auto* change = std::get_if<ClientChangeBucket>(&operation.request.body);
      if (change == nullptr || !chosen.contains(*change->change.ttl_ms)) continue;
      const Status& status = operation.reply.status;
      if (status.code() == StatusCode::kUnknownOutcome) {
        sightings_.saw(sighting::kRingChangeFinishedByOthers);
      } else if (!status.ok()) {
        violation_ = Violation{"I5", cat(name_of(index), " changed the ring and had failed")};
      }
    }
  }

  size_t connections_max() const {
    return workload_->client_names().size() + kConnectionsPerPeer * nodes_.size();
  }

  SimulationResult result() const {
    SimulationResult result;
    result.hash = trace_.hash();
    result.violation = violation_;
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
    return result;
  }

  const SimulationSettings settings_;
  SeededRandom random_;
  EventQueue events_;
  Trace trace_;
  Faults faults_;  // none any more at the end
  const bool files_damaged_ = faults_.damage > Duration::zero();
  Sightings sightings_;
  History history_;
  World world_{events_, trace_, random_, faults_, sightings_, history_.calendar()};
  SimulatedNetwork network_{world_};
  ClusterWatch watch_;
  RingHistory ring_history_;
  std::set<Actor> closed_lives_;
  std::map<std::string, size_t> closed_seen_;  // of each node, so many
  SimulatedNode::Settings common_;
  std::vector<std::unique_ptr<SimulatedNode>> nodes_;
  std::unique_ptr<Workload> workload_;
  std::unique_ptr<Nemesis> nemesis_;
  std::optional<Violation> violation_;
};

}  // namespace

SimulationResult simulate(const SimulationSettings& settings) { return Simulation(settings).run(); }

}  // namespace ringkv::simulation
