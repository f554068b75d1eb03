#include "node/life.h"

#include <utility>

#include "base/check.h"
#include "base/plants.h"
#include "base/text.h"

namespace ringkv {

Life::Life(Environment& environment, NodeId self, const Settings& settings, OpenedStore opened,
           Callbacks callbacks)
    : environment_(environment),
      self_(self),
      settings_(settings),
      callbacks_(std::move(callbacks)),
      engine_(std::move(opened.engine)),
      ring_(std::make_unique<Ring>(std::move(opened.ring), settings.token)),
      wholeness_(std::move(opened.wholeness)),
      store_(*engine_, std::move(opened.recovered),
             {.secret = ring_->description().secret, .cache_bytes = settings.cache_bytes}),
      hints_(*engine_, store_, std::move(opened.hints)),
      replica_({.self = self,
                .placement = {ring_->partitions(), settings.token},
                .damage = std::move(opened.damage)},
               *ring_, store_, hints_, wholeness_),
      coordinator_({.self = self,
                    .boot = store_.actor().boot,
                    .durability = settings.durability,
                    .hints = settings.hint_budget_bytes > 0,
                    .token = settings.token},
                   *ring_),
      convergence_({.self = self,
                    .boot = store_.actor().boot,
                    .round_interval = settings.round_interval,
                    .hint_budget_bytes = settings.hint_budget_bytes,
                    .scrub_interval = settings.scrub_interval,
                    .drop_grace = settings.drop_grace,
                    .token = settings.token},
                   *ring_, store_, hints_, wholeness_),
      cluster_time_{environment.clock.now(), environment.clock.wall_now()},
      reads_([this](std::function<void(Engine&)> work, std::function<void()> then) {
        run_off_loop(Lane::kRead, std::move(work), std::move(then));
      }) {}

Life::~Life() { *alive_ = false; }

template <class AnyMessage>
void Life::perform_any(Outbox<AnyMessage>& outbox) {
  for (const MetaRecord& record : outbox.meta_records()) {
    store_.stage(record);
    store_.require_sync();
  }
  for (auto& envelope : outbox.envelopes()) {
    if (envelope.after_records && !planted(Plant::kAcknowledgeBeforeCommit)) {
      waiting_.emplace_back(Outgoing{envelope.to, std::move(envelope.message)});
    } else {
      ready_.push_back({envelope.to, std::move(envelope.message)});
    }
  }
  run_ready();
}

void Life::perform(GossipOutbox& outbox) { perform_any(outbox); }

void Life::record(MetaRecord record, std::function<void()> then) {
  store_.stage(record);
  store_.require_sync();
  waiting_.emplace_back(std::move(then));
}

// Messages to oneself give rise to others; a queue keeps their order and the stack flat.
void Life::run_ready() {
  if (running_) return;
  running_ = true;
  while (!ready_.empty()) {
    dispatching_.swap(ready_);
    for (Outgoing& outgoing : dispatching_) dispatch(outgoing);
    dispatching_.clear();
  }
  running_ = false;
}

void Life::dispatch(Outgoing& outgoing) {
  if (auto* gossip = std::get_if<GossipMessage>(&outgoing.message)) {
    if (outgoing.to == self_) return callbacks_.gossip(std::move(*gossip));
    return callbacks_.send(outgoing.to, peer_message(std::move(*gossip)));
  }
  Message& message = std::get<Message>(outgoing.message);
  if (outgoing.to == self_) return handle(message);
  callbacks_.send(outgoing.to, peer_message(std::move(message)));
}

void Life::handle(Message& message) {
  MessageOutbox outbox;
  std::visit([&](auto& body) { on_message(self_, std::move(body), outbox); }, message);
  if (!outbox.empty()) perform(outbox);
}

void Life::on_peer_message(NodeId from, PeerMessage&& message) {
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

Moment Life::moment() const {
  const Time now = environment_.clock.now();
  return {now, cluster_time_.wall_now + static_cast<WallMicros>((now - cluster_time_.now).count())};
}

void Life::on_message(NodeId, StampPut put, MessageOutbox& outbox) {
  const auto [now, wall_now] = moment();
  replica_.on(std::move(put), now, wall_now, outbox);
}

void Life::on_message(NodeId, PutStamped stamped, MessageOutbox& outbox) {
  coordinator_.on(std::move(stamped), environment_.clock.now(), outbox);
}

void Life::on_message(NodeId, const StampPutAck& ack, MessageOutbox& outbox) {
  coordinator_.on(ack, environment_.clock.now(), outbox);
}

void Life::on_message(NodeId from, ReplicaPut put, MessageOutbox& outbox) {
  const auto [now, wall_now] = moment();
  replica_.on(from, std::move(put), now, wall_now, outbox);
}

void Life::on_message(NodeId, const ReplicaPutAck& ack, MessageOutbox& outbox) {
  if ((ack.request & kBackground) != 0) return convergence_.on(ack, moment(), outbox);
  const auto [now, wall_now] = moment();
  coordinator_.on(ack, now, wall_now, outbox);
}

void Life::on_message(NodeId from, ReplicaGet get, MessageOutbox& outbox) {
  replica_.on(from, std::move(get), environment_.clock.now(), outbox);
}

void Life::on_message(NodeId, ReplicaGetReply reply, MessageOutbox& outbox) {
  const auto [now, wall_now] = moment();
  coordinator_.on(std::move(reply), now, wall_now, outbox);
}

void Life::on_message(NodeId from, ReplicaScan scan, MessageOutbox& outbox) {
  replica_.on(from, std::move(scan), environment_.clock.now(), outbox);
}

void Life::on_message(NodeId, ReplicaScanReply reply, MessageOutbox& outbox) {
  const auto [now, wall_now] = moment();
  coordinator_.on(std::move(reply), now, wall_now, outbox);
}

void Life::on_message(NodeId, EraseRecord erase, MessageOutbox& outbox) {
  const auto [now, wall_now] = moment();
  replica_.on(std::move(erase), now, wall_now, outbox);
}

void Life::on_message(NodeId from, ForwardedRequest request, MessageOutbox& outbox) {
  const Requester requester{.request = request.request, .forwarded_by = from};
  if (!std::holds_alternative<ClientPut>(request.body.body)) {
    request.body.timeout = std::max(Duration(), request.deadline - environment_.clock.now());
    return callbacks_.serve(requester, std::move(request.body));
  }
  const auto [now, wall_now] = moment();
  const Time deadline = request.deadline;
  coordinator_.on({.requester = requester,
                   .deadline = deadline,
                   .now = now,
                   .wall_now = wall_now,
                   .backlog_bytes = backlog_bytes()},
                  std::move(request), outbox);
}

void Life::on_message(NodeId, ForwardedReply reply, MessageOutbox& outbox) {
  const auto [now, wall_now] = moment();
  coordinator_.on(std::move(reply), now, wall_now, outbox);
}

void Life::on_message(NodeId, const ClientAnswer& answer, MessageOutbox&) {
  callbacks_.answer(answer.requester, answer.reply);
}

// Takes its time, on a worker. What fails here gives back less disk, and nothing else.
void Life::on_message(NodeId, const ReclaimDisk& range, MessageOutbox&) {
  auto status = std::make_shared<Status>();
  run_off_loop(
      Lane::kRead,
      [range, status](Engine& engine) { *status = engine.reclaim(Family::kData, range.lower, range.upper); },
      [this, status] {
        if (!status->ok() && converging_) environment_.log.warning("storage", status->message());
      });
}

template <class Body>
void Life::on_message(NodeId from, Body body, MessageOutbox& outbox) {
  if constexpr (requires { read(std::move(body)); }) {
    read(std::move(body));
  } else if (converging_) {
    convergence_.on(from, std::move(body), moment(), outbox);
  }
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

void Life::on_turn_end() {
  if (failed_ || commit_under_way_ || !store_.has_staged()) return;
  commit_under_way_ = true;
  committing_.swap(waiting_);
  auto commit = std::make_shared<Commit>(store_.take());
  auto status = std::make_shared<Status>();
  run_off_loop(
      Lane::kCommit,
      [commit, status](Engine& engine) {
        *status = engine.write(*commit->batch, commit->sync && !planted(Plant::kSkipFsync));
      },
      [this, commit, status] { on_committed(*commit, std::move(*status)); });
}

void Life::on_committed(const Commit& commit, Status status) {
  commit_under_way_ = false;
  if (failed_) return;
  if (!status.ok() && !planted(Plant::kIgnoreFailedSync)) {
    failed_ = true;
    callbacks_.failed(std::move(status));
    return;
  }
  ++commits_;
  store_.committed(commit);
  std::vector<Waiting> done = std::exchange(committing_, {});
  for (Waiting& waiting : done) {
    if (failed_) break;  // by one of these: a life that has failed acknowledges nothing more
    if (auto* outgoing = std::get_if<Outgoing>(&waiting)) {
      ready_.push_back(std::move(*outgoing));
    } else {
      std::get<std::function<void()>>(waiting)();
    }
  }
  done.clear();
  committing_.swap(done);  // its room
  run_ready();
  MessageOutbox outbox;
  const auto [now, wall_now] = moment();
  replica_.on_committed(commit.number, now, wall_now, outbox);
  convergence_.on_committed(commit.number, {now, wall_now}, outbox);
  perform(outbox);
}

void Life::refuse_puts(const std::string& reason) {
  coordinator_.refuse_puts(reason);
  replica_.refuse_puts(reason);
  convergence_.refuse_puts(reason);
}

void Life::take_puts() {
  coordinator_.take_puts();
  replica_.take_puts();
  convergence_.take_puts();
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
  const auto [now, wall_now] = moment();
  replica_.set_ring(*ring, outbox);
  coordinator_.set_ring(*ring, now, wall_now, outbox);
  convergence_.set_ring(*ring, {now, wall_now}, outbox);
  ring_ = std::move(ring);
  environment_.log.info("node", cat("epoch ", ring_->epoch(), ", ring ", ring_->digest()));
  perform(outbox);
  waiting_.emplace_back(std::move(on_disk));
}

void Life::answer_all(const Status& why) {
  MessageOutbox outbox;
  coordinator_.fail_all(why, environment_.clock.now(), outbox);
  convergence_.fail_all(why, outbox);
  perform(outbox);
}

void Life::answer(const Requester& requester, ClientReply reply) {
  MessageOutbox outbox;
  convergence_.answer(requester, std::move(reply), outbox);
  perform(outbox);
}

void Life::set_view(const ClusterView& view) {
  if (failed_) return;
  MessageOutbox outbox;
  const auto [now, wall_now] = moment();
  coordinator_.set_view(view, now, wall_now, outbox);
  convergence_.set_view(view, {now, wall_now}, outbox);
  perform(outbox);
}

void Life::on_link_restored(NodeId node) {
  if (failed_) return;
  MessageOutbox outbox;
  coordinator_.on_link_restored(node, outbox);
  convergence_.on_link_restored(node, moment(), outbox);
  perform(outbox);
}

void Life::on_boot(NodeId node) {
  if (failed_) return;
  MessageOutbox outbox;
  convergence_.on_boot(node, moment(), outbox);
  perform(outbox);
}

void Life::set_boots(BootClosing::Boots boots) {
  if (failed_) return;
  MessageOutbox outbox;
  convergence_.set_boots(std::move(boots), moment(), outbox);
  perform(outbox);
}

void Life::set_clock(int64_t correction_micros, bool heard_majority) {
  if ((correction_micros != 0) != (clock_correction_micros_ != 0)) {
    environment_.log.warning(
        "node", correction_micros == 0
                    ? std::string("this machine's clock agrees with the other members' again")
                    : cat("this machine's clock is off by ", -correction_micros / 1'000'000,
                          " s from the other members': the cluster's time is used; correct the clock"));
  }
  clock_correction_micros_ = correction_micros;
  cluster_time_ = {environment_.clock.now(),
                   environment_.clock.wall_now() + static_cast<WallMicros>(correction_micros)};
  convergence_.set_time_trusted(heard_majority);
}

void Life::pace_transfers(TransferPace::Second second) {
  const LatencyHistogram latencies = coordinator_.statistics().take_recent();
  second.requests = latencies.count();
  second.p99_us = latencies.quantile_us(0.99);
  convergence_.pace_transfers(second);
}

void Life::lose_all() {
  MessageOutbox outbox;
  convergence_.lose_all(outbox);
  perform(outbox);
}

void Life::on_tick(Time now) {
  MessageOutbox outbox;
  coordinator_.tick(now, moment().wall_now, outbox);
  if (converging_) convergence_.tick(moment(), outbox);
  perform(outbox);
  reads_.tick(now);
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
  engine_->stop_reclaiming();
  waiting_.clear();
  committing_.clear();
  reads_.clear();
  MessageOutbox outbox;
  coordinator_.fail_all(why, environment_.clock.now(), outbox);
  convergence_.fail_all(why, outbox);
  for (MessageOutbox::Envelope& envelope : outbox.envelopes()) {
    if (const auto* answer = std::get_if<ClientAnswer>(&envelope.message)) {
      callbacks_.answer(answer->requester, answer->reply);
    } else if (envelope.to != self_) {
      callbacks_.send(envelope.to, peer_message(std::move(envelope.message)));
    }
  }
}

}  // namespace ringkv
