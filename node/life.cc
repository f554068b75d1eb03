#include "node/life.h"

#include <utility>

#include "base/check.h"
#include "base/text.h"

namespace ringkv {
namespace {

// Enough to keep the read workers busy.
constexpr size_t kReadsAtOnce = 8;

}  // namespace

Life::Life(Environment& environment, NodeId self, const Settings& settings, OpenedStore opened,
           Callbacks callbacks)
    : environment_(environment),
      self_(self),
      settings_(settings),
      callbacks_(std::move(callbacks)),
      engine_(std::move(opened.engine)),
      ring_(std::make_unique<Ring>(std::move(opened.ring), settings.token)),
      store_(*engine_, std::move(opened.recovered),
             {.secret = ring_->description().secret, .cache_bytes = settings.cache_bytes}),
      replica_({.self = self, .placement = {ring_->partitions(), settings.token}}, store_),
      coordinator_({.self = self,
                    .boot = store_.actor().boot,
                    .durability = settings.durability,
                    .token = settings.token},
                   *ring_) {
  replica_.set_whole(opened.whole);
}

Life::~Life() { *alive_ = false; }

template <class AnyMessage>
void Life::perform_any(Outbox<AnyMessage>& outbox) {
  for (const MetaRecord& record : outbox.meta_records()) {
    store_.stage(record);
    store_.require_sync();
  }
  for (auto& envelope : outbox.envelopes()) {
    Outgoing outgoing{envelope.to, std::move(envelope.message)};
    if (envelope.after_records) {
      waiting_.push_back({store_.open_batch(), std::move(outgoing)});
    } else {
      ready_.push_back(std::move(outgoing));
    }
  }
  run_ready();
}

void Life::perform(GossipOutbox& outbox) { perform_any(outbox); }

void Life::record(MetaRecord record, std::function<void()> then) {
  store_.stage(record);
  store_.require_sync();
  waiting_.push_back({store_.open_batch(), std::move(then)});
}

// Messages to oneself give rise to others; a queue keeps their order and the stack flat.
void Life::run_ready() {
  if (running_) return;
  running_ = true;
  while (!ready_.empty()) {
    Outgoing outgoing = std::move(ready_.front());
    ready_.pop_front();
    dispatch(std::move(outgoing));
  }
  running_ = false;
}

void Life::dispatch(Outgoing outgoing) {
  if (auto* gossip = std::get_if<GossipMessage>(&outgoing.message)) {
    if (outgoing.to == self_) return callbacks_.gossip(std::move(*gossip));
    return callbacks_.send(outgoing.to, peer_message(std::move(*gossip)));
  }
  Message& message = std::get<Message>(outgoing.message);
  if (outgoing.to == self_) return handle(std::move(message));
  callbacks_.send(outgoing.to, peer_message(std::move(message)));
}

void Life::handle(Message message) {
  MessageOutbox outbox;
  std::visit([&](auto& body) { on_message(self_, std::move(body), outbox); }, message);
  if (!outbox.empty()) perform(outbox);
}

void Life::on_peer_message(NodeId from, PeerMessage message) {
  if (failed_) return;
  MessageOutbox outbox;
  std::visit(
      [&](auto& body) {
        using Body = std::decay_t<decltype(body)>;
        if constexpr (std::is_constructible_v<Message, Body>) {
          on_message(from, std::move(body), outbox);
        }
      },
      message);
  if (!outbox.empty()) perform(outbox);
}

void Life::on_message(NodeId, StampPut put, MessageOutbox& outbox) {
  replica_.on(std::move(put), environment_.clock.now(), environment_.clock.wall_now(), outbox);
}

void Life::on_message(NodeId, PutStamped stamped, MessageOutbox& outbox) {
  coordinator_.on(std::move(stamped), environment_.clock.now(), outbox);
}

void Life::on_message(NodeId, StampPutAck ack, MessageOutbox& outbox) {
  coordinator_.on(std::move(ack), environment_.clock.now(), outbox);
}

void Life::on_message(NodeId from, ReplicaPut put, MessageOutbox& outbox) {
  replica_.on(from, std::move(put), environment_.clock.now(), environment_.clock.wall_now(), outbox);
}

void Life::on_message(NodeId, ReplicaPutAck ack, MessageOutbox& outbox) {
  coordinator_.on(std::move(ack), environment_.clock.now(), environment_.clock.wall_now(), outbox);
}

void Life::on_message(NodeId from, ReplicaGet get, MessageOutbox& outbox) {
  replica_.on(from, std::move(get), environment_.clock.now(), outbox);
}

void Life::on_message(NodeId, ReplicaGetReply reply, MessageOutbox& outbox) {
  coordinator_.on(std::move(reply), environment_.clock.now(), environment_.clock.wall_now(), outbox);
}

void Life::on_message(NodeId from, ReplicaScan scan, MessageOutbox& outbox) {
  replica_.on(from, std::move(scan), environment_.clock.now(), outbox);
}

void Life::on_message(NodeId, ReplicaScanReply reply, MessageOutbox& outbox) {
  coordinator_.on(std::move(reply), environment_.clock.now(), environment_.clock.wall_now(), outbox);
}

void Life::on_message(NodeId from, ForwardedRequest request, MessageOutbox& outbox) {
  if (const auto* statistics = std::get_if<ClientStatistics>(&request.body.body)) {
    ForwardedReply reply{request.request, {}};
    reply.reply.body = callbacks_.statistics(*statistics);
    outbox.send(from, std::move(reply));
    return;
  }
  const RequestNumber number = request.request;
  const Time deadline = request.deadline;
  coordinator_.on({.requester = {.request = number, .forwarded_by = from},
                   .deadline = deadline,
                   .now = environment_.clock.now(),
                   .wall_now = environment_.clock.wall_now(),
                   .backlog_bytes = backlog_bytes()},
                  std::move(request), outbox);
}

void Life::on_message(NodeId, ForwardedReply reply, MessageOutbox& outbox) {
  coordinator_.on(std::move(reply), environment_.clock.now(), environment_.clock.wall_now(), outbox);
}

void Life::on_message(NodeId, const ClientAnswer& answer, MessageOutbox&) {
  callbacks_.answer(answer.requester, answer.reply);
}

void Life::run_off_loop(Lane lane, std::function<void(Engine&)> work, std::function<void()> then) {
  ++off_loop_;
  environment_.executor.run(
      lane, [engine = engine_.get(), work = std::move(work)] { work(*engine); },
      [this, alive = alive_, then = std::move(then)] {
        if (!*alive) return;
        --off_loop_;
        then();
      });
}

void Life::on_message(NodeId, ReadRecord read, MessageOutbox&) {
  const Time deadline = read.deadline;
  wait_to_read(deadline, std::move(read));
}

void Life::on_message(NodeId, ReadSlice read, MessageOutbox&) {
  const Time deadline = read.deadline;
  wait_to_read(deadline, std::move(read));
}

// Few reads at a time are handed over, so that one whose time has run out before its turn costs nothing.
void Life::wait_to_read(Time deadline, std::variant<ReadRecord, ReadSlice> read) {
  reads_waiting_.push_back({deadline, std::move(read)});
  start_reads();
}

void Life::start_reads() {
  const Time now = environment_.clock.now();
  while (!failed_ && reads_under_way_ < kReadsAtOnce && !reads_waiting_.empty()) {
    WaitingRead next = std::move(reads_waiting_.front());
    reads_waiting_.pop_front();
    if (now >= next.deadline) {
      std::visit([this](const auto& read) { pass_over(read); }, next.read);
    } else {
      std::visit([this](auto& read) { start_read(std::move(read)); }, next.read);
    }
  }
}

void Life::pass_over(const ReadRecord& read) {
  on_read(RecordRead{read.ticket, unavailable("timed out before it was read"), {}});
}

void Life::pass_over(const ReadSlice& read) {
  SliceRead result;
  result.ticket = read.ticket;
  result.status = unavailable("timed out before it was read");
  on_read(std::move(result));
}

void Life::start_read(ReadRecord read) {
  ++reads_under_way_;
  auto result = std::make_shared<RecordRead>();
  result->ticket = read.ticket;
  run_off_loop(
      Lane::kRead,
      [key = std::move(read.place.storage_key), result](Engine& engine) {
        const Result<Lookup> found = engine.get(Family::kData, key, result->bytes);
        if (!found.ok()) result->status = found.status();
      },
      [this, result] {
        --reads_under_way_;
        on_read(std::move(*result));
        start_reads();
      });
}

void Life::start_read(ReadSlice read) {
  ++reads_under_way_;
  auto result = std::make_shared<SliceRead>();
  result->ticket = read.ticket;
  run_off_loop(
      Lane::kRead,
      [step = std::move(read.step), result](Engine& engine) {
        Result<ScanSlice> slice = scan_slice(engine, step);
        if (slice.ok()) {
          result->slice = std::move(*slice);
        } else {
          result->status = slice.status();
        }
      },
      [this, result] {
        --reads_under_way_;
        on_read(std::move(*result));
        start_reads();
      });
}

void Life::on_read(RecordRead read) {
  if (failed_) return;
  MessageOutbox outbox;
  replica_.on(std::move(read), environment_.clock.now(), environment_.clock.wall_now(), outbox);
  perform(outbox);
}

void Life::on_read(SliceRead read) {
  if (failed_) return;
  MessageOutbox outbox;
  replica_.on(std::move(read), outbox);
  perform(outbox);
}

void Life::on_turn_end() {
  if (failed_ || commit_under_way_ || !store_.has_staged()) return;
  commit_under_way_ = true;
  auto commit = std::make_shared<Commit>(store_.take());
  auto status = std::make_shared<Status>();
  run_off_loop(
      Lane::kCommit,
      [commit, status](Engine& engine) { *status = engine.write(*commit->batch, commit->sync); },
      [this, commit, status] { on_committed(*commit, std::move(*status)); });
}

void Life::on_committed(const Commit& commit, Status status) {
  commit_under_way_ = false;
  if (failed_) return;
  if (!status.ok()) {
    failed_ = true;
    callbacks_.failed(std::move(status));
    return;
  }
  ++commits_;
  store_.committed(commit);
  while (!waiting_.empty() && waiting_.front().batch <= commit.number) {
    Waiting waiting = std::move(waiting_.front());
    waiting_.pop_front();
    if (auto* outgoing = std::get_if<Outgoing>(&waiting.what)) {
      ready_.push_back(std::move(*outgoing));
    } else {
      std::get<std::function<void()>>(waiting.what)();
    }
  }
  run_ready();
  MessageOutbox outbox;
  replica_.on_committed(commit.number, environment_.clock.now(), environment_.clock.wall_now(), outbox);
  perform(outbox);
}

void Life::refuse_puts(const std::string& reason) {
  coordinator_.refuse_puts(reason);
  replica_.refuse_puts(reason);
}

void Life::take_puts() {
  coordinator_.take_puts();
  replica_.take_puts();
}

void Life::forward(const Coordinator::Arrival& arrival, ClientRequest request, NodeId to) {
  MessageOutbox outbox;
  coordinator_.forward(arrival, std::move(request), to, outbox);
  perform(outbox);
}

void Life::adopt_ring(RingDescription description, std::function<void()> on_disk) {
  auto ring = std::make_unique<Ring>(std::move(description), settings_.token);
  MessageOutbox outbox;
  outbox.record({std::string(kRingKey), ring->encoded()});
  coordinator_.set_ring(*ring, environment_.clock.now(), environment_.clock.wall_now(), outbox);
  ring_ = std::move(ring);
  environment_.log.info("node", cat("epoch ", ring_->epoch(), ", ring ", ring_->digest()));
  perform(outbox);
  waiting_.push_back({store_.open_batch(), std::move(on_disk)});
}

void Life::answer_all(const Status& why) {
  MessageOutbox outbox;
  coordinator_.fail_all(why, environment_.clock.now(), outbox);
  perform(outbox);
}

void Life::set_view(const ClusterView& view) {
  if (failed_) return;
  MessageOutbox outbox;
  coordinator_.set_view(view, environment_.clock.now(), environment_.clock.wall_now(), outbox);
  perform(outbox);
}

void Life::on_link_restored(NodeId node) {
  if (failed_) return;
  MessageOutbox outbox;
  coordinator_.on_link_restored(node, outbox);
  perform(outbox);
}

void Life::on_tick(Time now) {
  MessageOutbox outbox;
  coordinator_.tick(now, environment_.clock.wall_now(), outbox);
  perform(outbox);
  if (!reads_waiting_.empty() && now >= reads_waiting_.front().deadline) start_reads();
}

void Life::flush(std::function<void(Status)> done) {
  auto status = std::make_shared<Status>();
  run_off_loop(
      Lane::kCommit, [status](Engine& engine) { *status = engine.flush(); },
      [status, done = std::move(done)] { done(std::move(*status)); });
}

void Life::measure_disk(std::function<void(DiskSpace)> done) {
  auto space = std::make_shared<DiskSpace>();
  run_off_loop(
      Lane::kRead,
      [space](Engine& engine) {
        *space = {engine.disk_free_bytes(), engine.disk_size_bytes()};
      },
      [space, done = std::move(done)] { done(*space); });
}

void Life::fail_all(const Status& why) {
  failed_ = true;
  waiting_.clear();
  reads_waiting_.clear();
  MessageOutbox outbox;
  coordinator_.fail_all(why, environment_.clock.now(), outbox);
  for (MessageOutbox::Envelope& envelope : outbox.envelopes()) {
    if (const auto* answer = std::get_if<ClientAnswer>(&envelope.message)) {
      callbacks_.answer(answer->requester, answer->reply);
    } else if (envelope.to != self_) {
      callbacks_.send(envelope.to, peer_message(std::move(envelope.message)));
    }
  }
}

}  // namespace ringkv
