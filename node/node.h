// A node: joins its cluster if it must, opens its store, lives, and after a failure of the disk lives again
// as another boot. Joins doors, links and cores to the environment; the same on Asio and RocksDB as on a
// simulated clock, network and disk. It routes and never decides.
//
// All calls on the loop thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/client_message.h"
#include "base/loop.h"
#include "node/client_door.h"
#include "node/cluster_member.h"
#include "node/connection_router.h"
#include "node/environment.h"
#include "node/first_puts.h"
#include "node/joiner.h"
#include "node/labels.h"
#include "node/life.h"
#include "node/peer_door.h"
#include "node/peer_faults.h"
#include "node/peer_links.h"
#include "node/skewed_clock.h"
#include "node/store_opener.h"
#include "storage/data_directory.h"

namespace ringkv {

class Node final : public LoopHandler, private PeerReception {
 public:
  struct Settings {
    Identity identity;  // without a cluster: one that must join first
    Founding founding;
    std::vector<Address> join;  // peer addresses of members
    Duration join_timeout = std::chrono::seconds(30);
    bool plan_only = false;  // waits until a plan takes it in
    // What the ring must have been founded with, where the joiner was told so.
    std::optional<uint32_t> replicas_expected;
    std::optional<uint32_t> partitions_expected;
    std::optional<PlacerKind> placer_expected;
    LabelsGiven labels;            // that must be the ring's, from the second start on
    Duration auto_remove_after{};  // zero: it gives up nobody
    Address peer_address;          // as advertised; empty: no other nodes
    Address client_address;
    bool enable_faults = false;
    // The identity has changed by joining, and the ring is on disk: to be kept. Called on the loop, once.
    std::function<Status(const Identity&)> keep_identity;
    // It was told to leave the cluster, and has; not OK: its joining was cancelled. Called on the loop, once.
    std::function<void(const Status&)> on_left;
    Life::Settings life;
    uint64_t disk_reserve_bytes = 0;  // 0: 5 % of the disk, at least the write buffers, at most 1 GiB
    uint64_t write_buffer_bytes = 0;
  };

  Node(Environment environment, Settings settings);

  // Before start: where it is found, once the doors are open.
  void set_addresses(Address peer_address, Address client_address);

  // Joins if it must, opens the store, introduces itself; `ready` is called once: it serves, or why it can't.
  void start(std::function<void(Status)> ready);

  // Takes no more requests, finishes what was accepted (for at most `patience`), then calls `done`: nothing
  // runs off the loop any more and all that was acknowledged is on disk.
  void stop(Duration patience, std::function<void(Status)> done);

  // A request of this process.
  void call(ClientRequest request, std::function<void(ClientReply)> done) {
    door_.call(std::move(request), std::move(done));
  }

  TransportHandler& transport_handler() { return router_; }

  void on_tick(Time now) override;
  void on_turn_end() override;

  bool serving() const { return life_ != nullptr && greeted_ && !failing_ && ended_.ok(); }
  uint64_t epoch() const { return life_ == nullptr ? 0 : life_->ring().epoch(); }
  const Identity& identity() const { return identity_; }
  const Life* life() const { return life_.get(); }
  const ClusterMember* member() const { return member_.get(); }
  ClusterMember* member() { return member_.get(); }

 private:
  // ---- From nothing to serving (node.cc)
  void join();
  void on_joined(JoinAnswer answer);
  void open();
  void on_opened(Result<OpenedStore> opened);
  Status enter_cluster(OpenedStore& opened);
  void on_greeted(Status status);
  void warn_of_labels();
  void fail_start(Status status);
  void on_failed(const Status& why);
  bool on_damaged(const Status& why);
  bool may_hold_damage(Time now) const;
  void end_life(const Status& reason);
  void log_losses(const OpenedStore& opened);
  void on_fenced(const Status& why);
  void on_left(const Status& why);
  void reopen_when_quiet(Time now);
  void check_disk();
  void on_disk_checked(uint64_t free_bytes, uint64_t size_bytes);
  void finish_stopping(Time now);
  void end_stopping(Status status);
  PeerHello hello() const;
  Result<Welcome> welcome() const;
  std::string why_not_serving() const;

  // ---- Other nodes
  PeerLinks::Callbacks link_callbacks();
  void on_hello(const PeerHello& hello, std::function<void(Result<PeerWelcome>)> answer) override;
  void on_join(const JoinRequest& request, std::function<void(JoinAnswer)> answer) override;
  void on_peer_message(NodeId from, uint64_t lineage, uint64_t epoch, PeerMessage&& message) override;

  // ---- Requests (node_requests.cc)
  void on_request(Requester requester, ClientRequest request);
  template <class Request>
  void route(const Requester& requester, Request request, Duration timeout);
  void take_put(const Requester& requester, ClientPut put, Time deadline);
  void refuse_put(const Requester& requester, Status why);
  void refuse_first_puts(const std::deque<FirstPuts::Waiting>& puts, std::string_view reason);
  void on_ring();
  void serve(const Requester& requester, const ClientStatus& request, Time deadline);
  void serve(const Requester& requester, const ClientRing& request, Time deadline);
  void serve(const Requester& requester, const ClientRouting& request, Time deadline);
  void serve(const Requester& requester, const ClientStatistics& request, Time deadline);
  void serve(const Requester& requester, const ClientBuckets& request, Time deadline);
  void serve(const Requester& requester, const ClientCreateBucket& request, Time deadline);
  void serve(const Requester& requester, const ClientChangeBucket& request, Time deadline);
  void serve(const Requester& requester, const ClientFault& request, Time deadline);
  void serve(const Requester& requester, const ClientPartitionSizes& request, Time deadline);
  void serve(const Requester& requester, const ClientPlanShow& request, Time deadline);
  void serve(const Requester& requester, const ClientPlan& request, Time deadline);
  void serve(const Requester& requester, const ClientCommitPlan& request, Time deadline);
  void serve(const Requester& requester, const ClientCancelPlan& request, Time deadline);
  void serve(const Requester& requester, const ClientThrottle& request, Time deadline);
  void serve(const Requester& requester, const ClientForceRing& request, Time deadline);
  template <class Request>
  void serve_converging(const Requester& requester, const Request& request, Time deadline);
  template <class Request>
  void hand_over(const Requester& requester, const Request& request, Time deadline);
  void on_handed_over(const Requester& requester, ClientRequest request);
  bool is_other(std::string_view name) const;
  void apply(const ClientFault& fault, const Member* peer);
  Status check_majority() const;
  void change_ring(const Requester& requester, RingEdit edit, Time deadline);
  Statistics statistics(bool reset_latencies);
  void answer(const Requester& requester, Status status, ClientReply::Body body = {});
  Coordinator::Arrival arrival(const Requester& requester, Time deadline) const;

  SkewedClock clock_;
  Environment environment_;
  Settings settings_;
  Identity identity_;
  ClientDoor door_;
  PeerFaults faults_;
  PeerDoor peer_door_;
  PeerLinks links_;
  ConnectionRouter router_;

  std::unique_ptr<Joiner> joiner_;         // while it joins
  std::unique_ptr<Life> life_;             // nullptr: joining, opening
  std::unique_ptr<ClusterMember> member_;  // beside the life
  bool joined_ = false;                    // just now: the joiner may go
  bool greeted_ = false;                   // the others have taken this life
  bool failing_ = false;                   // the life has failed and waits to be replaced
  std::string failure_;                    // why the store is being reopened
  Status ended_;  // why it never serves again: no member any more, or its start failed
  std::vector<PeerState> joined_peers_;
  std::string labels_warned_;  // what was last said of them
  std::function<void(Status)> ready_;
  Boot next_boot_;
  Time reopen_at_{};
  OpenMode open_mode_ = OpenMode::kPlain;   // of the next opening
  std::optional<Time> found_undamaged_at_;  // when all table files were last read and were whole
  std::string damage_logged_;
  bool opening_ = false;
  FirstPuts first_puts_;

  struct Stopping {
    enum class Step : uint8_t { kFinishing, kFlushing, kEnded };

    Time until;
    std::function<void(Status)> done;
    Step step = Step::kFinishing;  // what was accepted; then what was written
    bool peers_closed = false;
  };
  std::optional<Stopping> stopping_;

  Time door_checked_at_{};
  Time disk_checked_at_{};
  bool disk_check_under_way_ = false;
  uint64_t disk_free_bytes_ = 0;
  uint64_t fences_ = 0;
  std::string log_damage_;
  uint64_t damaged_files_ = 0;  // set aside since this process began

  // Continuations of work off the loop look here whether their node is still there.
  const std::shared_ptr<bool> alive_;

 public:
  ~Node() override;
};

}  // namespace ringkv
