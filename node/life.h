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

#include "gossip/epoch_register.h"
#include "node/environment.h"
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

  // Proposes the ring that follows; `done` once it is the ring, or why not.
  void change_ring(RingDescription next, std::function<void(Status)> done);

  void on_tick(Time now);
  void on_turn_end();  // hands the open batch over, if none is under way

  // Nothing is under way any more and all that was staged is on disk.
  bool idle() const { return coordinator_.under_way() == 0 && !commit_under_way_ && !store_.has_staged(); }
  bool off_loop() const { return off_loop_ > 0; }  // something still uses the engine

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
  struct Waiting {
    BatchNumber batch;
    Message message;
  };

  void perform(MessageOutbox& outbox);
  void dispatch(Message message);
  void run_ready();
  void on_message(StampPut put, MessageOutbox& outbox);
  void on_message(const StampPutAck& ack, MessageOutbox& outbox);
  void on_message(ReplicaGet get, MessageOutbox& outbox);
  void on_message(ReplicaGetReply reply, MessageOutbox& outbox);
  void on_message(ReadRecord read, MessageOutbox& outbox);
  void on_message(ReadSlice read, MessageOutbox& outbox);
  void on_message(const ClientAnswer& answer, MessageOutbox& outbox);
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
  void on_ring_chosen(const RingChosen& chosen);

  Environment& environment_;
  const NodeId self_;
  const Settings settings_;
  const Callbacks callbacks_;

  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Ring> ring_;
  RecordStore store_;
  Replica replica_;
  Coordinator coordinator_;
  EpochRegister register_;

  std::deque<Message> ready_;  // to be dispatched in this turn
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
  struct RingChange {
    BatchNumber batch;
    RingChosen chosen;
    std::function<void(Status)> done;
  };
  std::optional<RingChange> ring_change_;
  uint64_t commits_ = 0;

  // Continuations of work off the loop outlive a life; they look here whether theirs is still there.
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace ringkv
