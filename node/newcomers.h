// Those who want to become members: checks a join request against the ring, that its sender can be reached
// back, and that nobody lives under its name; then has the ring changed, or has it wait for a plan.
//
// Loop thread.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/time.h"
#include "gossip/failure_detector.h"
#include "gossip/greeting.h"
#include "gossip/state_gossip.h"
#include "node/peer_links.h"
#include "node/ring_changer.h"
#include "replication/ring.h"

namespace ringkv {

class Newcomers {
 public:
  // What it looks at at each step, since rings and opinions change meanwhile.
  struct Member {
    std::function<const Ring&()> ring;
    std::function<Health(NodeId)> health;
    std::function<Address(NodeId)> address;  // peer address; empty: unknown
    std::function<std::vector<PeerState>()> states;
    std::function<void(RingEdit, RingChanger::Done)> change_ring;
    std::function<void(const PeerState&)> learn;  // where the new member is
  };
  using Answer = std::function<void(JoinAnswer)>;

  Newcomers(Member member, PeerLinks& links) : member_(std::move(member)), links_(links) {}

  void on_join(const JoinRequest& request, Answer answer);

 private:
  void reach_back(const JoinRequest& request, const Answer& answer);
  void join(const JoinRequest& request, const Answer& answer);
  void take_place(const JoinRequest& request, const ringkv::Member& member, const Answer& answer);
  void replace(const JoinRequest& request, DiskId lost, const Answer& answer);
  void wait(const JoinRequest& request, const Answer& answer);
  void change(const JoinRequest& request, RingEdit edit, const Answer& answer);
  JoinAnswer accepted() const;

  const Member member_;
  PeerLinks& links_;
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);

 public:
  ~Newcomers() { *alive_ = false; }
};

}  // namespace ringkv
