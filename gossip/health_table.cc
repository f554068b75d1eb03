#include "gossip/health_table.h"

#include <algorithm>
#include <utility>

namespace ringkv {
namespace {

// Claims beyond it are nobody's: nobody lives to refute so often, and the number after it must exist.
constexpr uint64_t kIncarnationMax = uint64_t{1} << 62;

bool contains(const std::vector<NodeId>& sorted, NodeId node) {
  return std::binary_search(sorted.begin(), sorted.end(), node);
}

void insert(std::vector<NodeId>& sorted, NodeId node) {
  const auto at = std::lower_bound(sorted.begin(), sorted.end(), node);
  if (at == sorted.end() || *at != node) sorted.insert(at, node);
}

void erase(std::vector<NodeId>& sorted, NodeId node) {
  const auto at = std::lower_bound(sorted.begin(), sorted.end(), node);
  if (at != sorted.end() && *at == node) sorted.erase(at);
}

}  // namespace

void HealthTable::set_members(const std::vector<NodeId>& others) {
  order_ = others;
  std::sort(order_.begin(), order_.end());
  order_.erase(std::unique(order_.begin(), order_.end()), order_.end());
  erase(order_, self_);

  const auto is_gone = [this](NodeId node) { return !contains(order_, node); };
  std::erase_if(members_, [&](const auto& entry) { return is_gone(entry.first); });
  for (std::vector<NodeId>* list : {&newest_first_, &suspects_, &down_}) std::erase_if(*list, is_gone);
  for (const NodeId node : order_) members_.try_emplace(node);
}

bool HealthTable::take(const HealthClaim& claim, const Suspicion::Patience& patience, Time now) {
  if (claim.incarnation > kIncarnationMax) return false;
  if (claim.node == self_) return refute(claim);
  const auto at = members_.find(claim.node);
  if (at == members_.end()) return false;
  Member& member = at->second;

  const Life life{claim.generation, claim.incarnation};
  if (life < member.life) return false;
  if (life > member.life) {
    member.life = life;
    believe(claim.node, member, Alive{});
  }
  if (claim.health != Health::kAlive) suspect(claim.node, member, claim.accuser, patience, now);
  return false;
}

// A later generation than its own is the memory of a life whose directory was lost: this node alone is left
// to speak for it, so it goes on from there.
bool HealthTable::refute(const HealthClaim& claim) {
  const Life accused{claim.generation, claim.incarnation};
  if (claim.health == Health::kAlive || accused < own_life_) return false;
  own_life_ = {accused.generation, accused.incarnation + 1};
  ++refutations_;
  return true;
}

void HealthTable::suspect(NodeId node, Member& member, NodeId accuser, const Suspicion::Patience& patience,
                          Time now) {
  if (auto* suspicion = std::get_if<Suspicion>(&member.belief)) {
    suspicion->confirm(accuser);
  } else if (std::holds_alternative<Alive>(member.belief)) {
    ++suspicions_;
    believe(node, member, Suspicion(accuser, patience, now));
  }
}

void HealthTable::accuse(NodeId node, const Suspicion::Patience& patience, Time now) {
  const auto at = members_.find(node);
  if (at == members_.end()) return;
  suspect(node, at->second, self_, patience, now);
  auto* suspicion = std::get_if<Suspicion>(&at->second.belief);
  if (suspicion != nullptr && suspicion->observe(self_)) changed(node);
}

bool HealthTable::begin_life(NodeId node, uint64_t generation) {
  const auto at = members_.find(node);
  if (at == members_.end() || generation <= at->second.life.generation) return false;
  at->second.life = {generation, 0};
  believe(node, at->second, Alive{});
  return true;
}

void HealthTable::expire(Time now) {
  if (suspects_.empty()) return;
  for (const NodeId node : std::vector<NodeId>(suspects_)) {
    Member& member = members_.at(node);
    const auto& suspicion = std::get<Suspicion>(member.belief);
    if (now < suspicion.ends()) continue;
    ++downs_;
    believe(node, member, Down{suspicion.accuser()});
  }
}

void HealthTable::postpone_suspicions(Duration by) {
  for (const NodeId node : suspects_) std::get<Suspicion>(members_.at(node).belief).postpone(by);
}

Health HealthTable::health(NodeId node) const {
  if (node == self_) return Health::kAlive;
  const auto at = members_.find(node);
  return at == members_.end() ? Health::kDown : health_of(at->second);
}

std::vector<HealthClaim> HealthTable::claims_for(NodeId receiver, NodeId about) const {
  std::vector<HealthClaim> claims;
  claims.reserve(std::min(kClaimsMax, newest_first_.size() + 3));
  claims.push_back({self_, own_life_.generation, own_life_.incarnation, Health::kAlive, {}});
  if (const auto at = members_.find(receiver);
      at != members_.end() && health_of(at->second) != Health::kAlive) {
    claims.push_back(claim_of(receiver, at->second));
  }
  if (const auto at = members_.find(about); at != members_.end() && about != receiver) {
    claims.push_back(claim_of(about, at->second));
  }
  for (const NodeId node : newest_first_) {
    if (claims.size() == kClaimsMax) break;
    if (node != receiver && node != about) claims.push_back(claim_of(node, members_.at(node)));
  }
  return claims;
}

HealthClaim HealthTable::claim_of(NodeId node, const Member& member) {
  HealthClaim claim{node, member.life.generation, member.life.incarnation, health_of(member), {}};
  if (const auto* suspicion = std::get_if<Suspicion>(&member.belief)) claim.accuser = suspicion->accuser();
  if (const auto* down = std::get_if<Down>(&member.belief)) claim.accuser = down->accuser;
  return claim;
}

void HealthTable::believe(NodeId node, Member& member, std::variant<Alive, Suspicion, Down> belief) {
  member.belief = std::move(belief);
  erase(suspects_, node);
  erase(down_, node);
  if (health_of(member) == Health::kSuspect) insert(suspects_, node);
  if (health_of(member) == Health::kDown) insert(down_, node);
  changed(node);
}

void HealthTable::changed(NodeId node) {
  auto at = std::find(newest_first_.begin(), newest_first_.end(), node);
  if (at == newest_first_.end()) at = newest_first_.insert(at, node);
  std::rotate(newest_first_.begin(), at, at + 1);
}

}  // namespace ringkv
