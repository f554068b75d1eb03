// One life of a node's store: from the moment it is open until it is closed or has failed. Holds the cores of
// that life and keeps the outbox's rule, here and nowhere else: what was queued behind a record leaves when
// that record is on disk.
//
// Routes, never decides. Loop thread.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <variant>

#include "base/cluster_view.h"
#include "node/environment.h"
#include "node/peer_message.h"
#include "node/store_opener.h"
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
    TokenFunction token = &token_of;
  };
  // What a life tells its node.
  struct Callbacks {
    std::function<void(const Requester&, const ClientReply&)> answer;
    std::function<void(NodeId, PeerMessage)> send;                  // to another node
    std::function<void(GossipMessage)> gossip;                      // to this one
    std::function<Statistics(const ClientStatistics&)> statistics;  // for another node
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
  void on_request(const Coordinator::Arrival& arrival, Request request) {
    MessageOutbox outbox;
    coordinator_.on(arrival, std::move(request), outbox);
    perform(outbox);
  }

  // While the disk is nearly full puts are refused with this reason; deletes are taken.
  void refuse_puts(const std::string& reason);
  void take_puts();

  // To another node, which serves it in this one's place.
  void forward(const Coordinator::Arrival& arrival, ClientRequest request, NodeId to);

  // From another node: requests under this ring's epoch, answers of whatever epoch. Gossip isn't for here.
  void on_peer_message(NodeId from, PeerMessage message);

  // Does what gossip's cores ask, by the same rule and in the same batches.
  void perform(GossipOutbox& outbox);
  // `then` once the record is on disk.
  void record(MetaRecord record, std::function<void()> then);

  // A later ring, chosen by its voters: holds at once, and is on disk before anything that relies on it
  // leaves. `on_disk` then.
  void adopt_ring(RingDescription ring, std::function<void()> on_disk);
  void set_view(const ClusterView& view);
  void on_link_restored(NodeId node);

  void on_tick(Time now);
  void on_turn_end();  // hands the open batch over, if none is under way

  // Nothing is under way any more and all that was staged is on disk.
  bool idle() const { return coordinator_.under_way() == 0 && !commit_under_way_ && !store_.has_staged(); }
  bool off_loop() const { return off_loop_ > 0; }  // something still uses the engine

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
  size_t backlog_bytes() const { return store_.staged_bytes() + replica_.latched_bytes(); }

  // The engine goes off the loop to be closed. Only when !off_loop(); the life is over.
  std::unique_ptr<Engine> release_engine() { return std::move(engine_); }

  const Ring& ring() const { return *ring_; }
  Boot boot() const { return store_.actor().boot; }
  const RecordStore& store() const { return store_; }
  Engine& engine() { return *engine_; }
  Coordinator& coordinator() { return coordinator_; }
  uint64_t commits() const { return commits_; }

 private:
  struct Outgoing {
    NodeId to;
    std::variant<Message, GossipMessage> message;
  };
  struct Waiting {
    BatchNumber batch;
    std::variant<Outgoing, std::function<void()>> what;
  };

  template <class AnyMessage>
  void perform_any(Outbox<AnyMessage>& outbox);
  void perform(MessageOutbox& outbox) { perform_any(outbox); }
  void dispatch(Outgoing outgoing);
  void handle(Message message);
  void run_ready();
  // `from`: the node that sent it; this one for what stays here.
  void on_message(NodeId from, StampPut put, MessageOutbox& outbox);
  void on_message(NodeId from, PutStamped stamped, MessageOutbox& outbox);
  void on_message(NodeId from, StampPutAck ack, MessageOutbox& outbox);
  void on_message(NodeId from, ReplicaPut put, MessageOutbox& outbox);
  void on_message(NodeId from, ReplicaPutAck ack, MessageOutbox& outbox);
  void on_message(NodeId from, ReplicaGet get, MessageOutbox& outbox);
  void on_message(NodeId from, ReplicaGetReply reply, MessageOutbox& outbox);
  void on_message(NodeId from, ReplicaScan scan, MessageOutbox& outbox);
  void on_message(NodeId from, ReplicaScanReply reply, MessageOutbox& outbox);
  void on_message(NodeId from, ForwardedRequest request, MessageOutbox& outbox);
  void on_message(NodeId from, ForwardedReply reply, MessageOutbox& outbox);
  void on_message(NodeId from, ReadRecord read, MessageOutbox& outbox);
  void on_message(NodeId from, ReadSlice read, MessageOutbox& outbox);
  void on_message(NodeId from, const ClientAnswer& answer, MessageOutbox& outbox);
  void wait_to_read(Time deadline, std::variant<ReadRecord, ReadSlice> read);
  void start_reads();
  void start_read(ReadRecord read);
  void start_read(ReadSlice read);
  void pass_over(const ReadRecord& read);
  void pass_over(const ReadSlice& read);
  void on_read(RecordRead read);
  void on_read(SliceRead read);
  // `then` runs on the loop afterwards, unless this life is gone by then.
  void run_off_loop(Lane lane, std::function<void(Engine&)> work, std::function<void()> then);
  void on_committed(const Commit& commit, Status status);

  Environment& environment_;
  const NodeId self_;
  const Settings settings_;
  const Callbacks callbacks_;

  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Ring> ring_;
  RecordStore store_;
  Replica replica_;
  Coordinator coordinator_;

  std::deque<Outgoing> ready_;  // to be dispatched in this turn
  bool running_ = false;
  std::deque<Waiting> waiting_;  // for their batch, in order
  bool commit_under_way_ = false;
  struct WaitingRead {
    Time deadline;
    std::variant<ReadRecord, ReadSlice> read;
  };
  std::deque<WaitingRead> reads_waiting_;
  size_t reads_under_way_ = 0;
  size_t off_loop_ = 0;  // jobs that use the engine now
  bool failed_ = false;
  uint64_t commits_ = 0;

  // Continuations of work off the loop outlive a life; they look here whether theirs is still there.
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace ringkv
