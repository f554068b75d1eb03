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
      replica_(self, store_),
      coordinator_({.self = self,
                    .boot = store_.actor().boot,
                    .durability = settings.durability,
                    .token = settings.token},
                   *ring_),
      register_(self, ring_->epoch()) {}

Life::~Life() { *alive_ = false; }

void Life::perform(MessageOutbox& outbox) {
  for (const MetaRecord& record : outbox.meta_records()) store_.stage(record);
  for (MessageOutbox::Envelope& envelope : outbox.envelopes()) {
    if (envelope.after_records) {
      waiting_.push_back({store_.open_batch(), std::move(envelope.message)});
    } else {
      ready_.push_back(std::move(envelope.message));
    }
  }
  run_ready();
}

// Messages to oneself give rise to others; a queue keeps their order and the stack flat.
void Life::run_ready() {
  if (running_) return;
  running_ = true;
  while (!ready_.empty()) {
    Message message = std::move(ready_.front());
    ready_.pop_front();
    dispatch(std::move(message));
  }
  running_ = false;
}

void Life::dispatch(Message message) {
  MessageOutbox outbox;
  std::visit([&](auto& body) { on_message(std::move(body), outbox); }, message);
  if (!outbox.empty()) perform(outbox);
}

void Life::on_message(StampPut put, MessageOutbox& outbox) {
  replica_.on(std::move(put), environment_.clock.now(), environment_.clock.wall_now(), outbox);
}

void Life::on_message(const StampPutAck& ack, MessageOutbox& outbox) {
  coordinator_.on(ack, environment_.clock.now(), outbox);
}

void Life::on_message(ReplicaGet get, MessageOutbox& outbox) {
  replica_.on(std::move(get), environment_.clock.now(), outbox);
}

void Life::on_message(ReplicaGetReply reply, MessageOutbox& outbox) {
  coordinator_.on(std::move(reply), environment_.clock.now(), environment_.clock.wall_now(), outbox);
}

void Life::on_message(const ClientAnswer& answer, MessageOutbox&) {
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

void Life::on_message(ReadRecord read, MessageOutbox&) {
  const Time deadline = read.deadline;
  wait_to_read(deadline, std::move(read));
}

void Life::on_message(ReadSlice read, MessageOutbox&) {
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

// Its request has been answered by then; the coordinator knows it no more.
void Life::pass_over(const ReadSlice&) {}

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
  result->request = read.request;
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
  coordinator_.on(std::move(read), environment_.clock.now(), outbox);
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
    ready_.push_back(std::move(waiting_.front().message));
    waiting_.pop_front();
  }
  run_ready();
  MessageOutbox outbox;
  replica_.on_committed(commit.number, environment_.clock.now(), environment_.clock.wall_now(), outbox);
  perform(outbox);
  if (ring_change_ && ring_change_->batch <= commit.number) {
    const RingChange change = *std::exchange(ring_change_, std::nullopt);
    on_ring_chosen(change.chosen);
    change.done({});
  }
}

void Life::change_ring(RingDescription next, std::function<void(Status)> done) {
  next.epoch = ring_->epoch() + 1;
  const std::string encoded = encode_ring_description(next);
  // What every later start must read is read once before it is written.
  const Result<RingDescription> readable = decode_ring_description(encoded);
  if (!readable.ok()) return done(readable.status());
  Outbox<RingChosen> outbox;
  Status status = register_.propose(encoded, std::string(kRingKey), outbox);
  if (!status.ok()) return done(std::move(status));
  for (const MetaRecord& record : outbox.meta_records()) store_.stage(record);
  ring_change_ = {store_.open_batch(), std::move(outbox.envelopes().front().message), std::move(done)};
}

void Life::on_ring_chosen(const RingChosen& chosen) {
  register_.on(chosen);
  Result<RingDescription> description = decode_ring_description(chosen.description);
  CHECK(description.ok());  // as it was before it was proposed
  auto ring = std::make_unique<Ring>(std::move(*description), settings_.token);
  coordinator_.set_ring(*ring);
  ring_ = std::move(ring);
  environment_.log.info("node", cat("epoch ", ring_->epoch(), ", ring ", ring_->digest()));
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
    const auto& answer = std::get<ClientAnswer>(envelope.message);
    callbacks_.answer(answer.requester, answer.reply);
  }
  if (ring_change_) std::exchange(ring_change_, std::nullopt)->done(unknown_outcome(why.message()));
}

}  // namespace ringkv
