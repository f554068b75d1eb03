// This node as a member of its cluster, for one life: the cores of gossip joined to the links to other nodes
// and to the life's disk. Takes rings and passes them on, keeps the view of who can be asked, and looks at
// the epoch of every message at the door.
//
// Routes, never decides. Loop thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/client_message.h"
#include "base/cluster_view.h"
#include "gossip/cluster_clock.h"
#include "gossip/epoch_register.h"
#include "gossip/failure_detector.h"
#include "gossip/older_copy.h"
#include "gossip/peer_book.h"
#include "gossip/state_gossip.h"
#include "node/absences.h"
#include "node/environment.h"
#include "node/epoch_gate.h"
#include "node/introduction.h"
#include "node/life.h"
#include "node/lives_met.h"
#include "node/newcomers.h"
#include "node/peer_links.h"
#include "node/ring_changer.h"
#include "node/ring_driver.h"
#include "node/said_once.h"
#include "node/transfer_limit.h"

namespace ringkv {

class ClusterMember {
 public:
  struct Settings {
    PeerHello self;  // how this node introduces itself; generation and epoch as at the start of this life
    std::vector<Address> seeds;    // asked as well, besides those that are known
    std::vector<PeerState> peers;  // heard at joining
    std::string acceptor_record;   // as found on disk
    std::string peers_record;
    std::string older_copy_record;
    std::vector<Boot> known_boots;  // earlier lives that this directory remembers
    Duration auto_remove_after{};   // zero: it gives up nobody
  };
  struct Callbacks {
    std::function<void()> on_ring;                 // another ring holds
    std::function<void(NodeId, Boot)> on_boot;     // the latest life of a node; others are over
    std::function<void(const Status&)> on_fenced;  // this node is no member any more
    // The same, as it was asked to: others have its data. Not OK: a joiner whose joining was cancelled.
    std::function<void(const Status&)> on_left;
    std::function<void(NodeId, const Status&)> on_removed;  // that node is no member any more
  };

  // CORRUPTION when what was found on disk is damaged.
  static Result<std::unique_ptr<ClusterMember>> make(Environment& environment, Settings settings, Life& life,
                                                     PeerLinks& links, Callbacks callbacks);

  // Introduces itself to all others. `greeted` once: those that can be reached have taken this life, or one
  // refuses it.
  void start(std::function<void(Status)> greeted);

  void on_tick(Time now);

  PeerHello hello() const;
  void on_hello(const PeerHello& hello, const std::function<void(Result<PeerWelcome>)>& answer);
  void on_join(const JoinRequest& request, std::function<void(JoinAnswer)> answer);
  bool on_welcome(const PeerWelcome& welcome, const Address& address);
  void on_refused(NodeId node, const Status& why);
  void on_unreachable(NodeId node, const Status& why);
  void on_reachable(NodeId node, bool maybe_lost);
  void on_peer_message(NodeId from, uint64_t lineage, uint64_t epoch, PeerMessage&& message);
  void on_gossip(NodeId from, GossipMessage message);  // from this node too

  void send(NodeId to, const PeerMessage& message);
  void change_ring(RingEdit edit, Time deadline, RingChanger::Done done);
  void fail_all(const Status& why) { changer_.fail_all(why); }
  // Of all members; 0: none.
  void limit_transfers(uint64_t bytes_per_second);
  // Without anybody's agreement (ring_force.h). `done` once, on success when the ring is on disk here.
  void force_ring(const ClientForceRing& request, const std::function<void(Result<ForceReport>)>& done);

  bool changing_ring() const { return register_.proposing(); }
  const Ring& ring() const { return life_.ring(); }
  const FailureDetector& detector() const { return *detector_; }
  const StateGossip& states() const { return *gossip_; }
  const ClusterView& view() const { return view_; }
  // Not DOWN, and a connection stands: others may hear it even where the view routes around the way to it.
  bool is_up(NodeId node) const;
  PeerState own_state() const;  // as of now; gossip carries one that is up to a second old
  // Of its clock against ours; nothing: it was not heard within a minute.
  std::optional<int64_t> skew_micros(NodeId node) const;
  uint64_t generation() const { return generation_; }  // of this start
  uint64_t proposals_lost() const { return changer_.proposals_lost(); }
  const EpochGate::Statistics& gate_statistics() const { return gate_.statistics(); }

 private:
  ClusterMember(Environment& environment, Settings settings, Life& life, PeerLinks& links, PeerBook book,
                EpochRegister epochs, OlderCopy older_copy, Callbacks callbacks);

  void make_cores(uint64_t generation);
  std::vector<NodeId> others() const;
  FailureDetector::Moment moment() const { return {environment_.clock.now(), environment_.clock.wall_now()}; }
  PeerWelcome welcome_for(const PeerHello& hello) const;
  void welcome(const PeerHello& hello, const std::function<void(Result<PeerWelcome>)>& answer);
  void raise_generation(uint64_t known);
  void ask_for_generation(NodeId node);
  Address address_of(NodeId node) const;
  void learn_addresses();
  void take_members();
  void take_life(NodeId node, Boot boot);
  void look_for_older_copy(const PeerWelcome& welcome);
  void doubt_wholeness(NodeId node);
  void keep_older_copy();
  void adopt(std::string_view description, std::function<void()> on_disk = {});
  void log_lineage(const RingDescription& next) const;
  void end_membership(const Ring& last, const Status& why);
  void take_outcome();
  void update_view();
  void log_way(NodeId node, bool hears);
  void update_own_state(Time now);
  void pace_transfers();
  void update_clock(Time now);
  void look_at_clock(Time now);
  RingView ring_view() const;
  void drive_change(Time now);
  void ask_seeds();
  void look_for_others(Time now);
  void on_seed(const Address& seed, const Result<PeerWelcome>& found);

  template <class Call>
  void with_outbox(Call call);

  Environment& environment_;
  const Settings settings_;
  Life& life_;
  PeerLinks& links_;
  const Callbacks callbacks_;

  PeerBook book_;
  EpochRegister register_;
  OlderCopy older_copy_;
  bool doubts_wholeness_ = false;  // that was told to the life
  bool own_votes_void_ = false;    // those in the proposal under way
  LivesMet lives_met_;
  TransferLimit transfer_limit_;
  Absences absences_;
  ClusterClock clock_;
  std::unique_ptr<FailureDetector> detector_;  // anew when the generation turns out to be too low
  std::unique_ptr<StateGossip> gossip_;
  RingChanger changer_;
  RingDriver driver_;
  std::string why_absent_stay_;  // as the log has it
  Time driven_at_{};
  Time seeds_asked_at_{};
  Newcomers newcomers_;
  SaidOnce said_;  // of refusals
  EpochGate gate_;

  uint64_t generation_ = 0;
  uint64_t generation_recorded_ = 0;  // raised to that, on disk or on its way
  uint64_t epoch_on_disk_ = 0;
  Introduction introduction_;
  ClusterView view_;
  std::set<NodeId> unheard_;  // as the log has it: others hear them, and this node doesn't
  Time state_updated_at_{};
  Time lag_said_at_{};
  Time clock_looked_at_{};

  // Continuations of identifications and syncs look here whether their member is still there.
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);

 public:
  ~ClusterMember();
};

}  // namespace ringkv
