// One life of a node's store: from the moment it is open until it is closed or has failed. Holds the cores of
// that life and keeps the outbox's rule, here and nowhere else: what was queued behind a record leaves when
// that record is on disk.
//
// Routes, never decides. Loop thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "base/cluster_view.h"
#include "node/disk_reads.h"
#include "node/environment.h"
#include "node/peer_message.h"
#include "node/store_opener.h"
#include "replication/convergence.h"
#include "replication/coordinator.h"
#include "replication/replica.h"
#include "replication/ring.h"
#include "storage/record_store.h"

namespace ringkv {

class Life {
 public:
  struct Settings {
    Durability durability = Durability::kSynced;
    uint64_t cache_bytes = 0;
    Duration round_interval = std::chrono::seconds(10);    // zero: only when asked to
    uint64_t hint_budget_bytes = uint64_t{256} << 20;      // zero: no hints
    Duration scrub_interval = std::chrono::hours(7 * 24);  // zero: only when asked to
    Duration drop_grace = std::chrono::minutes(10);        // of partitions that the node owns no longer
    TokenFunction token = &token_of;
  };
  // What a life tells its node.
  struct Callbacks {
    std::function<void(const Requester&, const ClientReply&)> answer;
    std::function<void(NodeId, const PeerMessage&)> send;  // to another node
    std::function<void(GossipMessage)> gossip;             // to this one
    // What only the node itself can answer, for another one.
    std::function<void(const Requester&, ClientRequest)> serve;
    // A file of the store is damaged; true: this life ends, so that it can be set aside.
    std::function<bool(const Status&)> damaged;
    std::function<void(Status)>
        failed;  // the disk refused a write: nothing more is acknowledged in this life
  };

  Life(Environment& environment, NodeId self, const Settings& settings, OpenedStore opened,
       Callbacks callbacks);
  ~Life();
  Life(const Life&) = delete;
  Life& operator=(const Life&) = delete;

  // Requests that need the cores of this life.
  template <class Request>
  void on_request(const Arrival& arrival, Request request) {
    MessageOutbox outbox;
    if constexpr (kOfConvergence<Request>) {
      convergence_.on(arrival, request, outbox);
    } else {
      coordinator_.on(arrival, std::move(request), outbox);
    }
    perform(outbox);
  }
  template <class Request>
  static constexpr bool kOfConvergence =
      std::is_same_v<Request, ClientHints> || std::is_same_v<Request, ClientLag> ||
      std::is_same_v<Request, ClientTransfers> || std::is_same_v<Request, ClientRepair> ||
      std::is_same_v<Request, ClientPurge> || std::is_same_v<Request, ClientScrub>;

  // To who asked for it, by whatever way it came.
  void answer(const Requester& requester, ClientReply reply);

  // While the disk is nearly full puts are refused with this reason; deletes are taken.
  void refuse_puts(const std::string& reason);
  void take_puts();

  // To another node, which serves it in this one's place.
  void forward(const Coordinator::Arrival& arrival, ClientRequest request, NodeId to);

  // From another node: requests under this ring's epoch, answers of whatever epoch. Gossip isn't for here.
  void on_peer_message(NodeId from, PeerMessage&& message);

  // Does what gossip's cores ask, by the same rule and in the same batches.
  void perform(GossipOutbox& outbox);
  // `then` once the record is on disk.
  void record(MetaRecord record, std::function<void()> then);

  // A later ring, chosen by its voters: holds at once, and is on disk before anything that relies on it
  // leaves. `on_disk` then.
  void adopt_ring(RingDescription ring, std::function<void()> on_disk);
  void set_view(const ClusterView& view);
  void on_link_restored(NodeId node);
  // Another life of that node.
  void on_boot(NodeId node);
  // What gossip has found out about the members' lives, and about the time.
  void set_boots(BootClosing::Boots boots);
  void set_clock(int64_t correction_micros, bool heard_majority);
  // Once a second: what an operator and the other members say of the pace of transfers.
  void pace_transfers(TransferPace::Second second);
  // This directory is an older copy of itself: it isn't whole anywhere until it has caught up.
  void lose_all();

  void on_tick(Time now);
  void on_turn_end();  // hands the open batch over, if none is under way

  // Nothing is under way any more and all that was staged is on disk.
  bool idle() const { return coordinator_.under_way() == 0 && !commit_under_way_ && !store_.has_staged(); }
  bool off_loop() const { return off_loop_ > 0; }  // something still uses the engine

  // Nothing in the background begins any more, or takes long. For a clean end.
  void stop_converging() {
    converging_ = false;
    engine_->stop_reclaiming();
  }

  // Answers everything under way, and goes on.
  void answer_all(const Status& why);
  // Answers everything under way as of unknown outcome, or failed. For a life that ends.
  void fail_all(const Status& why);

  // Everything written so far is put into tables and synced; buffered writes too. For a clean end.
  void flush(std::function<void(Status)> done);

  struct DiskSpace {
    uint64_t free_bytes = 0;
    uint64_t size_bytes = 0;
  };
  void measure_disk(std::function<void(DiskSpace)> done);

  // What the store holds for its disk.
  const Replica::Statistics& replica_statistics() const { return replica_.statistics(); }
  size_t backlog_bytes() const { return store_.staged_bytes() + replica_.latched_bytes(); }

  // The engine goes off the loop to be closed. Only when !off_loop(); the life is over.
  std::unique_ptr<Engine> release_engine() { return std::move(engine_); }

  // Now; the wall's clock is the cluster's where this machine's is wrong, and runs on by monotonic time
  // between two calls of set_clock.
  Moment moment() const;

  const Ring& ring() const { return *ring_; }
  Boot boot() const { return store_.actor().boot; }
  const RecordStore& store() const { return store_; }
  Engine& engine() { return *engine_; }
  Coordinator& coordinator() { return coordinator_; }
  const Convergence& convergence() const { return convergence_; }
  const HintStore& hints() const { return hints_; }
  const Wholeness& wholeness() const { return wholeness_; }
  uint64_t commits() const { return commits_; }

 private:
  struct Outgoing {
    NodeId to;
    std::variant<Message, GossipMessage> message;
  };
  using Waiting = std::variant<Outgoing, std::function<void()>>;

  template <class AnyMessage>
  void perform_any(Outbox<AnyMessage>& outbox);
  void perform(MessageOutbox& outbox) { perform_any(outbox); }
  void dispatch(Outgoing& outgoing);
  void handle(Message& message);
  void run_ready();

  // `from`: the node that sent it; this one for what stays here.
  void on_message(NodeId from, StampPut put, MessageOutbox& outbox);
  void on_message(NodeId from, PutStamped stamped, MessageOutbox& outbox);
  void on_message(NodeId from, const StampPutAck& ack, MessageOutbox& outbox);
  void on_message(NodeId from, ReplicaPut put, MessageOutbox& outbox);
  void on_message(NodeId from, const ReplicaPutAck& ack, MessageOutbox& outbox);
  void on_message(NodeId from, ReplicaGet get, MessageOutbox& outbox);
  void on_message(NodeId from, ReplicaGetReply reply, MessageOutbox& outbox);
  void on_message(NodeId from, ReplicaScan scan, MessageOutbox& outbox);
  void on_message(NodeId from, ReplicaScanReply reply, MessageOutbox& outbox);
  void on_message(NodeId from, EraseRecord erase, MessageOutbox& outbox);
  void on_message(NodeId from, ForwardedRequest request, MessageOutbox& outbox);
  void on_message(NodeId from, ForwardedReply reply, MessageOutbox& outbox);
  void on_message(NodeId from, const ClientAnswer& answer, MessageOutbox& outbox);
  void on_message(NodeId from, const ReclaimDisk& range, MessageOutbox& outbox);
  template <class Body>
  void on_message(NodeId from, Body body, MessageOutbox& outbox);  // of converging, and reads
  // Reads of the disk (life_reads.cc).
  void read(ReadRecord read);
  void read(ReadSlice read);
  void read(ReadRange read);
  void read(ReadHint read);
  void read(ReadHints read);
  void read(ReadTransient read);
  template <class Answer, class Work>
  void read_in_background(uint64_t ticket, Work work);
  template <class Answer>
  void on_read(Answer read);
  // `then` runs on the loop afterwards, unless this life is gone by then.
  void run_off_loop(Lane lane, std::function<void(Engine&)> work, std::function<void()> then);
  void on_committed(const Commit& commit, Status status);

  Environment& environment_;
  const NodeId self_;
  const Settings settings_;
  const Callbacks callbacks_;

  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Ring> ring_;
  Wholeness wholeness_;
  RecordStore store_;
  HintStore hints_;
  Replica replica_;
  Coordinator coordinator_;
  Convergence convergence_;
  bool converging_ = true;
  int64_t clock_correction_micros_ = 0;
  Moment cluster_time_;  // as set last

  // In order; what is dispatched may add to what is ready. (A std::deque would allocate for each.)
  std::vector<Outgoing> ready_;  // to be dispatched in this turn
  std::vector<Outgoing> dispatching_;
  bool running_ = false;
  std::vector<Waiting> waiting_;     // for the open batch, in order
  std::vector<Waiting> committing_;  // for the one that is being written
  bool commit_under_way_ = false;
  DiskReads reads_;
  size_t off_loop_ = 0;  // jobs that use the engine now
  bool failed_ = false;
  uint64_t commits_ = 0;

  // Continuations of work off the loop outlive a life; they look here whether theirs is still there.
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace ringkv
