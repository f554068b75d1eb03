// What this node believes of each member, how claims change it, and which claims it passes on (SWIM, section
// 4: suspicion and infection-style dissemination).
//
// Of two claims about a node the one of the later generation wins, then of the later incarnation; only the
// node itself raises its incarnation, when it hears that it is accused. An accusation of another is never
// taken at its word, not even DOWN: it begins a suspicion here, which ends as DOWN unless the accused refutes
// it first. So one node that can send and hears nothing can't have the others declared DOWN.
//
// Loop thread.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "gossip/messages.h"
#include "gossip/suspicion.h"

namespace ringkv {

// Claims in one message, at most.
inline constexpr size_t kClaimsMax = 32;

class HealthTable {
 public:
  // Which of a member's lives is meant.
  struct Life {
    uint64_t generation = 0;  // 0: not known yet
    uint64_t incarnation = 0;

    friend auto operator<=>(const Life&, const Life&) = default;
  };

  HealthTable(NodeId self, uint64_t generation) : self_(self), own_life_{generation, 0} {}

  // This node not among them. Who is new is alive; who is gone is forgotten.
  void set_members(const std::vector<NodeId>& others);
  bool is_member(NodeId node) const { return members_.contains(node); }
  const std::vector<NodeId>& members() const { return order_; }  // in order

  // True: it accused this node, which has refuted it by a later incarnation. A claim about somebody who
  // isn't a member says nothing, nor does one from a life that is over.
  bool take(const HealthClaim& claim, const Suspicion::Patience& patience, Time now);

  // This node's own probes got no answer from the member.
  void accuse(NodeId node, const Suspicion::Patience& patience, Time now);

  // The member has begun another life. Nothing happens when the generation isn't later than the known one.
  // True: it is a later life than the known one.
  bool begin_life(NodeId node, uint64_t generation);

  // Suspicions whose time is over become DOWN.
  void expire(Time now);
  void postpone_suspicions(Duration by);

  Health health(NodeId node) const;                                  // of nodes that aren't members: kDown
  const std::vector<NodeId>& down() const { return down_; }          // in order
  const std::vector<NodeId>& suspects() const { return suspects_; }  // in order

  // For a message to `receiver` that concerns `about` (zero: nobody): this node's own first; then, if it
  // doesn't count as alive here, the receiver's; then that about `about`; then those that changed most
  // recently.
  std::vector<HealthClaim> claims_for(NodeId receiver, NodeId about) const;

  uint64_t suspicions() const { return suspicions_; }
  uint64_t refutations() const { return refutations_; }
  uint64_t downs() const { return downs_; }

 private:
  struct Alive {};
  struct Down {
    NodeId accuser;
  };
  struct Member {
    Life life;
    std::variant<Alive, Suspicion, Down> belief;  // its index is a Health
  };

  static Health health_of(const Member& member) { return static_cast<Health>(member.belief.index()); }
  static HealthClaim claim_of(NodeId node, const Member& member);

  bool refute(const HealthClaim& claim);
  void suspect(NodeId node, Member& member, NodeId accuser, const Suspicion::Patience& patience, Time now);
  void believe(NodeId node, Member& member, std::variant<Alive, Suspicion, Down> belief);
  void changed(NodeId node);

  const NodeId self_;
  Life own_life_;
  std::unordered_map<NodeId, Member> members_;
  std::vector<NodeId> order_;         // of members_
  std::vector<NodeId> newest_first_;  // by their last change; not those that never changed
  std::vector<NodeId> suspects_;
  std::vector<NodeId> down_;

  uint64_t suspicions_ = 0;
  uint64_t refutations_ = 0;
  uint64_t downs_ = 0;
};

}  // namespace ringkv
