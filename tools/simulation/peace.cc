#include "tools/simulation/peace.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "tools/simulation/checkers.h"
#include "tools/simulation/copies_checker.h"
#include "tools/simulation/peace_checker.h"

namespace ringkv::simulation {
namespace {

using std::chrono::seconds;

// Longer than any deadline, and after that as long as it takes, but no longer than this: a process may stand
// still for the first minute of it.
constexpr Duration kPeaceMin = seconds(6);
constexpr Duration kPeaceMax = seconds(180);
constexpr Duration kLookAtPeace = seconds(1);
constexpr Duration kLastReads = seconds(6);
// Between two rounds of a pair there is up to a quarter more than the interval.
constexpr double kTwoRounds = 2.6;
// Longer than what is left to do then.
constexpr uint64_t kExpiresSoonMs = 45'000;
// Marks of what rounds have found are always on their way to the disk.
constexpr size_t kStagedBytesAtRest = size_t{64} << 10;
constexpr const char* kFiguresOfRest[] = {"rounds.differences", "rounds.keys_received", "get.read_repairs"};
// Of a node at rest: each client, both channels of each other node both ways, and what is just replaced.
constexpr size_t kConnectionsPerPeer = 6;

}  // namespace

void Peace::demand() {
  ring_.nemesis().make_peace();
  ring_.end_random_faults();
  converge();
  const Statistics converged = convergence_figures();
  ring_.pass(
      Duration(static_cast<int64_t>(kTwoRounds * static_cast<double>(ring_.round_interval().count()))));
  const size_t last_reads = ring_.history().operations().size();
  if (!ring_.violation()) ring_.workload().read_everything(ring_.absent());
  if (!ring_.violation() && ring_.user_load() != nullptr) ring_.user_load()->on_quiet();
  ring_.pass(kLastReads);
  if (!ring_.violation()) check_at_rest(converged);
  if (!ring_.violation() && ring_.user_load() != nullptr) ring_.note(ring_.user_load()->verdict());
  if (!ring_.violation()) ring_.note(check_history(ring_.history(), ring_.facts()));
  if (!ring_.violation()) ring_.note(check_peace(ring_.history(), last_reads, ring_.facts()));
}

// Until nothing differs any more, or it has taken too long: then what still does is the broken promise.
void Peace::converge() {
  ring_.pass(kPeaceMin);
  const Time give_up_at = ring_.now() + kPeaceMax;
  std::optional<Violation> lacking = what_is_lacking(kExpiresSoonMs);
  while ((lacking || is_anybody_asking()) && ring_.now() < give_up_at && !ring_.violation()) {
    ring_.drop_draft();
    ring_.pass(kLookAtPeace);
    lacking = what_is_lacking(kExpiresSoonMs);
    if (ring_.now() < give_up_at - kPeaceMax / 2) continue;
    accept_losses();
    cancel_hopeless_change();
  }
  if (!ring_.violation()) ring_.note(std::move(lacking));
  ring_.history().heal();
}

// Who is taken in late, after a change that had to be cancelled, has the ring change once more.
bool Peace::is_anybody_asking() const {
  return std::any_of(ring_.nodes().begin(), ring_.nodes().end(),
                     [](const auto& node) { return node->asks_to_join(); });
}

// Who has lost something that only a member had which is gone for good waits for its operator's word.
void Peace::accept_losses() {
  if (ring_.facts().gone.empty()) return;
  for (const auto& node : ring_.nodes()) {
    if (!node->serving() || node->life()->wholeness().incomplete() == 0) continue;
    node->accept_loss();
    ring_.sightings().saw(sighting::kLossAccepted);
  }
}

// A change that waits for a member which is gone for good, or has ended since it alone was told that the
// change is cancelled, ends by itself after ten minutes; an operator cancels it.
void Peace::cancel_hopeless_change() {
  if (ring_.facts().gone.empty() && ring_.absent().empty()) return;
  for (const auto& node : ring_.nodes()) {
    if (!node->serving()) continue;
    const RingDescription& ring = node->life()->ring().description();
    if (ring.change && !ring.change->switched) node->ask(ClientCancelPlan{ring.epoch}, "cancels the change");
    return;
  }
}

std::optional<Violation> Peace::what_is_lacking(uint64_t expires_within_ms) const {
  Convergent found;
  for (const auto& node : ring_.nodes()) {
    if (!ring_.is_there(*node)) {
      if (auto violation = what_is_wrong_outside(*node)) return violation;
      continue;
    }
    if (auto violation = what_is_lacking(*node)) return violation;
    found.ring = &node->life()->ring();
    found.copies.push_back(ring_.copy_of(*node));
  }
  found.expires_within_ms = expires_within_ms;
  found.now_ms = ring_.true_now_ms();
  return check_copies(found);
}

// I9: who is no member serves nobody. L5: who asks to be taken in is.
std::optional<Violation> Peace::what_is_wrong_outside(const SimulatedNode& node) const {
  if (node.serving()) return Violation{"I9", cat(node.name(), " serves, and is no member any more")};
  if (node.asks_to_join() && ring_.facts().gone.empty())
    return Violation{"L5", cat(node.name(), " asks to join, and isn't taken in")};
  return std::nullopt;
}

// I13: nothing is left of requests that were answered.
std::optional<Violation> Peace::what_is_lacking(const SimulatedNode& node) const {
  if (!node.serving() || !ring_.workload().ready())
    return Violation{"L6", cat(node.name(), " doesn't serve")};
  const Life& life = *node.life();
  if (node.figures()["requests.under_way"] > 0 || ring_.workload().under_way() > 0)
    return Violation{"I13", cat(node.name(), " still has requests under way")};
  if (life.store().staged_bytes() > kStagedBytesAtRest || node.connections() > connections_max())
    return Violation{"I13", cat(node.name(), " still holds ", life.store().staged_bytes(),
                                " staged bytes and ", node.connections(), " connections")};
  if (auto violation = change_under_way(node, life.ring().description())) return violation;
  if (life.wholeness().incomplete() > 0)
    return Violation{"L3", cat(node.name(), " still lacks ", life.wholeness().incomplete(), " partitions")};
  if (ring_.facts().gone.empty() && node.figures()["transient.blocked"] > 0)
    return Violation{"tombstones",
                     cat(node.name(), " can't let go of what was deleted: it waits for", blocking(node))};
  for (const auto& other : ring_.nodes()) {
    if (life.ring().description().find_member(other->node()) == nullptr) continue;
    if (node.can_reach(other->node()) == (&node == other.get() || ring_.is_there(*other))) continue;
    return Violation{
        "L1", cat(node.name(), ring_.is_there(*other) ? " doesn't reach " : " doesn't miss ", other->name())};
  }
  return std::nullopt;
}

std::string Peace::blocking(const SimulatedNode& node) {
  constexpr std::string_view kBlockedBy = "transient.blocked_by.";
  std::string text;
  for (const auto& [name, figure] : node.figures()) {
    if (figure > 0 && name.starts_with(kBlockedBy)) text += cat(" ", name.substr(kBlockedBy.size()));
  }
  return text;
}

// L5: a change ends, all who were to leave have left, and what moved is nowhere else. (Who is gone for good
// would have to take what former owners have.)
std::optional<Violation> Peace::change_under_way(const SimulatedNode& node,
                                                 const RingDescription& ring) const {
  if (ring.change)
    return Violation{"L5", cat(node.name(), " is in a change of the ring that doesn't end: ", readiness())};
  for (const Member& member : ring.members) {
    if (member.status != MemberStatus::kNormal && !waits_for_gone(member))
      return Violation{"L5", cat(member.name, " is joining or leaving and doesn't come to an end")};
    if (!member.voter && !ring_.facts().gone.contains(member.name))
      return Violation{"L5", cat(member.name, " doesn't vote yet")};
  }
  const uint32_t former = node.life()->convergence().former().partitions();
  if (former > 0 && ring_.facts().gone.empty())
    return Violation{"L5", cat(node.name(), " still has ", former, " partitions of others")};
  return std::nullopt;
}

// By the rules, as core_checker.h has them: a leaver stays until its hints are delivered, or an operator has
// removed whom they are for. One that is gone for good itself is removed after ten minutes.
bool Peace::waits_for_gone(const Member& leaver) const {
  const auto holds_hints_for = [&](const SimulatedNode& node, const std::string& gone) {
    const std::vector<KeptHint> hints = kept_hints(node.disk());
    const Member* member = node.life()->ring().description().find_member(gone);
    return member != nullptr && std::any_of(hints.begin(), hints.end(), [&](const KeptHint& hint) {
             return hint.intended == member->node;
           });
  };
  const std::set<std::string>& gone = ring_.facts().gone;
  if (leaver.status == MemberStatus::kLeaving && gone.contains(leaver.name)) return true;
  return std::any_of(ring_.nodes().begin(), ring_.nodes().end(), [&](const auto& node) {
    return node->node() == leaver.node && node->serving() && leaver.status == MemberStatus::kLeaving &&
           std::any_of(gone.begin(), gone.end(),
                       [&](const std::string& name) { return holds_hints_for(*node, name); });
  });
}

std::string Peace::readiness() const {
  std::string text;
  for (const auto& node : ring_.nodes()) {
    if (!node->serving()) continue;
    const PeerState state = node->member_state();
    text += cat(text.empty() ? "" : ", ", node->name(), " ready for ", state.ready_epoch, " in ", state.epoch,
                " lacks ", state.incomplete_partitions);
  }
  return text;
}

// L4: where all are equal nothing is sent, or repaired, or found to differ any more.
Statistics Peace::convergence_figures() const {
  Statistics sum;
  for (const auto& node : ring_.nodes()) {
    Statistics figures = node->figures();
    for (const char* name : kFiguresOfRest) sum[name] += figures[name];
  }
  return sum;
}

void Peace::check_at_rest(const Statistics& converged) {
  for (const auto& [name, figure] : convergence_figures()) {
    if (ring_.violation() || figure == converged.at(name)) continue;
    ring_.note(Violation{
        "L4", cat("after all were equal ", name, " went from ", static_cast<uint64_t>(converged.at(name)),
                  " to ", static_cast<uint64_t>(figure))});
  }
  if (!ring_.violation()) ring_.note(what_is_lacking(0));
  for (const auto& node : ring_.nodes()) {
    if (!ring_.violation() && ring_.is_there(*node)) ring_.check_node_leaves(*node, *node->life());
  }
}

size_t Peace::connections_max() const {
  const size_t users = ring_.user_load() == nullptr ? 0 : ring_.user_load()->clients();
  return ring_.workload().client_names().size() + users + kConnectionsPerPeer * ring_.nodes().size();
}

}  // namespace ringkv::simulation
