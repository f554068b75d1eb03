#include "node/node.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "base/text.h"
#include "node/views.h"

namespace ringkv {
namespace {

constexpr Duration kReopenPause = std::chrono::seconds(1);
constexpr Duration kDiskCheckPause = std::chrono::milliseconds(100);
constexpr Duration kDoorCheckPause = std::chrono::seconds(1);
constexpr uint64_t kDiskReserveBytesMax = uint64_t{1} << 30;
constexpr uint64_t kDiskReserveShare = 20;  // a twentieth of the disk

// Requests that the cores of a life serve; the rest are views of the node.
template <class Request>
constexpr bool kOfCoordinator =
    std::is_same_v<Request, ClientPut> || std::is_same_v<Request, ClientGet> ||
    std::is_same_v<Request, ClientScan> || std::is_same_v<Request, ClientLocalGet> ||
    std::is_same_v<Request, ClientExplain>;

// What is in the write buffers must still find room in table files, and on a small disk it is more than 5 %.
uint64_t disk_reserve_of(const Node::Settings& settings, uint64_t size_bytes) {
  if (settings.disk_reserve_bytes != 0) return settings.disk_reserve_bytes;
  const uint64_t share = std::max(size_bytes / kDiskReserveShare, settings.write_buffer_bytes);
  return std::min({kDiskReserveBytesMax, share, size_bytes / 2});
}

}  // namespace

Node::Node(Environment environment, Settings settings)
    : environment_(std::move(environment)),
      settings_(std::move(settings)),
      door_(
          environment_.transport, environment_.clock, environment_.log, [this] { return welcome(); },
          [this](Requester requester, ClientRequest request) { on_request(requester, std::move(request)); }),
      alive_(std::make_shared<bool>(true)) {}

Node::~Node() { *alive_ = false; }

void Node::start(std::function<void(Status)> ready) {
  ready_ = std::move(ready);
  open();
}

void Node::open() {
  opening_ = true;
  next_boot_ = Boot{environment_.random.next()};
  auto opened = std::make_shared<std::optional<Result<OpenedStore>>>();
  // A failed life's engine must be closed before its files are opened again; both may wait for the disk.
  std::shared_ptr<Engine> old = life_ == nullptr ? nullptr : life_->release_engine();
  life_.reset();
  failing_ = false;
  disk_check_under_way_ = false;  // its answer goes with its life
  environment_.executor.run(
      Lane::kCommit,
      [this, old = std::move(old), boot = next_boot_, opened]() mutable {
        old.reset();
        opened->emplace(open_store(environment_.open_engine, settings_.identity, boot, settings_.founding));
      },
      [this, alive = alive_, opened] {
        if (*alive) on_opened(std::move(**opened));
      });
}

void Node::on_opened(Result<OpenedStore> opened) {
  opening_ = false;
  if (!opened.ok()) {
    if (ready_) return std::exchange(ready_, nullptr)(opened.status());
    environment_.log.error("node", cat("the store can't be opened yet: ", opened.status().message()));
    failure_ = opened.status().message();
    reopen_at_ = environment_.clock.now() + kReopenPause;
    return;
  }
  log_damage_ = opened->log_damage;
  if (!log_damage_.empty()) environment_.log.error("storage", cat("the log was damaged: ", log_damage_));
  const uint64_t free_bytes = opened->engine->disk_free_bytes();
  const uint64_t size_bytes = opened->engine->disk_size_bytes();
  life_ = std::make_unique<Life>(
      environment_, settings_.identity.node, settings_.life, std::move(*opened),
      Life::Callbacks{[this](const Requester& to, const ClientReply& reply) { door_.answer(to, reply); },
                      [this](const Status& why) { on_failed(why); }});
  on_disk_checked(free_bytes, size_bytes);
  environment_.log.info("node", cat("serves with boot ", hex(life_->boot().value), ", epoch ", epoch(), ", ",
                                    life_->store().leaves().keys(), " keys"));
  if (ready_) std::exchange(ready_, nullptr)({});
}

// A failed append or fsync: what is on disk is known only after a reopen, so nothing more is acknowledged
// until then.
void Node::on_failed(const Status& why) {
  ++fences_;
  failing_ = true;
  failure_ = why.message();
  environment_.log.error("storage", cat("fenced after a failed write: ", why.message()));
  life_->fail_all(Status(why.code(), cat("the store failed: ", why.message())));
  reopen_at_ = environment_.clock.now();
}

void Node::reopen_when_quiet(Time now) {
  if (opening_ || stopping_ || now < reopen_at_ || (life_ != nullptr && (!failing_ || life_->off_loop())))
    return;
  open();
}

void Node::on_tick(Time now) {
  if (serving()) life_->on_tick(now);
  if (!ready_) reopen_when_quiet(now);
  if (now >= disk_checked_at_ + kDiskCheckPause) check_disk();
  if (now >= door_checked_at_ + kDoorCheckPause) {
    door_checked_at_ = now;
    door_.on_tick(now);
  }
  finish_stopping(now);
}

void Node::on_turn_end() {
  if (serving()) life_->on_turn_end();
}

void Node::check_disk() {
  if (!serving() || stopping_ || disk_check_under_way_) return;
  disk_checked_at_ = environment_.clock.now();
  disk_check_under_way_ = true;
  life_->measure_disk([this](Life::DiskSpace space) {
    disk_check_under_way_ = false;
    if (serving()) on_disk_checked(space.free_bytes, space.size_bytes);
  });
}

void Node::on_disk_checked(uint64_t free_bytes, uint64_t size_bytes) {
  disk_free_bytes_ = free_bytes;
  const uint64_t reserve = disk_reserve_of(settings_, size_bytes);
  Coordinator& coordinator = life_->coordinator();
  const bool refused = !coordinator.puts_refused().empty();
  if (free_bytes < reserve) {
    coordinator.refuse_puts(cat("the disk of ", settings_.identity.name, " has ", human_bytes(free_bytes),
                                " free, below its reserve of ", human_bytes(reserve),
                                ": free some space; deletes are taken, and puts again by themselves"));
    if (!refused) environment_.log.warning("storage", cat("puts are refused: ", coordinator.puts_refused()));
  } else if (refused) {
    coordinator.take_puts();
    environment_.log.info("storage", cat("puts are taken again: ", human_bytes(free_bytes), " free"));
  }
}

void Node::stop(Duration patience, std::function<void(Status)> done) {
  environment_.log.info("node", "stops: finishes what was accepted");
  stopping_ = Stopping{environment_.clock.now() + patience, std::move(done)};
}

void Node::finish_stopping(Time now) {
  if (!stopping_ || stopping_->step != Stopping::Step::kFinishing) return;
  const bool serves = life_ != nullptr && !failing_;
  const bool quiet = life_ == nullptr ? !opening_ : failing_ || life_->idle();
  if (!quiet && now < stopping_->until) return;
  if (serves && !quiet) life_->fail_all(unavailable(cat(settings_.identity.name, " is stopping")));
  if (opening_ || (life_ != nullptr && life_->off_loop())) return;
  if (!serves || !quiet) {
    return end_stopping(
        unavailable(cat("not everything was written in time, or the disk failed (", failure_, ")")));
  }
  stopping_->step = Stopping::Step::kFlushing;
  life_->flush([this](Status status) { end_stopping(std::move(status)); });
}

void Node::end_stopping(Status status) {
  environment_.log.info("node", "stopped");
  door_.close_all();
  if (!status.ok())
    environment_.log.error("storage", cat("stopped without a last flush: ", status.message()));
  const std::function<void(Status)> done = std::exchange(stopping_->done, nullptr);
  stopping_->step = Stopping::Step::kEnded;
  done(std::move(status));
}

std::string Node::why_not_serving() const {
  if (stopping_)
    return cat(settings_.identity.name, " is stopping: ask another node, or again when it is back");
  if (ready_) return cat(settings_.identity.name, " is opening its store: try again");
  return cat(settings_.identity.name, " reopens its store after a failed write (", failure_, "): try again");
}

void Node::on_request(Requester requester, ClientRequest request) {
  if (!serving() || stopping_) {
    // In no boot's name: nobody has looked whether an earlier try of this operation was written.
    ClientReply reply;
    reply.status = unavailable(why_not_serving());
    reply.epoch = epoch();
    return door_.answer(requester, reply);
  }
  std::visit([&](auto& body) { route(requester, std::move(body), request.timeout); }, request.body);
}

template <class Request>
void Node::route(const Requester& requester, Request request, Duration timeout) {
  if constexpr (kOfCoordinator<Request>) {
    const Time now = environment_.clock.now();
    life_->on_request({requester, now + timeout, now, environment_.clock.wall_now(), life_->backlog_bytes()},
                      std::move(request));
  } else {
    serve(requester, request);
  }
}

void Node::serve(const Requester& requester, const ClientStatus&) {
  answer(requester, {}, cluster_status(*life_, settings_.identity.node));
}

void Node::serve(const Requester& requester, const ClientRing& request) {
  answer(requester, {}, ring_info(life_->ring(), request.owners));
}

void Node::serve(const Requester& requester, const ClientBuckets&) {
  answer(requester, {}, bucket_infos(life_->ring().description()));
}

void Node::serve(const Requester& requester, const ClientCreateBucket& request) {
  change_ring(requester, with_new_bucket(life_->ring().description(), request.bucket));
}

void Node::serve(const Requester& requester, const ClientChangeBucket& request) {
  change_ring(requester, with_changed_bucket(life_->ring().description(), request.name, request.change));
}

void Node::change_ring(const Requester& requester, Result<RingDescription> next) {
  if (!next.ok()) return answer(requester, next.status());
  life_->change_ring(std::move(*next),
                     [this, requester](Status status) { answer(requester, std::move(status)); });
}

void Node::serve(const Requester& requester, const ClientStatistics& request) {
  if (!request.node.empty() && request.node != settings_.identity.name) {
    return answer(requester,
                  invalid_argument(cat("no member of the ring is named ", display_key(request.node))));
  }
  RequestStatistics& requests = life_->coordinator().statistics();
  Statistics statistics;
  requests.add_to(statistics);
  const auto set = [&](const std::string& name, uint64_t value) {
    statistics[name] = static_cast<double>(value);
  };
  set("requests.under_way", life_->coordinator().under_way());
  set("store.keys", life_->store().leaves().keys());
  set("store.bytes", life_->store().leaves().bytes());
  set("store.commits", life_->commits());
  set("store.staged_bytes", life_->store().staged_bytes());
  set("store.fences", fences_);
  set("store.log_damaged", log_damage_.empty() ? 0 : 1);
  set("disk.free_bytes", disk_free_bytes_);
  set("disk.puts_refused", life_->coordinator().puts_refused().empty() ? 0 : 1);
  set("clients.connections", door_.statistics().connections_now);
  set("clients.connections_total", door_.statistics().connections_total);
  set("clients.refused_frames", door_.statistics().refused_frames);
  set("clients.dropped_slow_readers", door_.statistics().dropped_slow_readers);
  for (const auto& [name, value] : life_->engine().statistics()) set("engine." + name, value);
  if (request.reset_latencies) requests.reset_latencies();
  answer(requester, {}, std::move(statistics));
}

void Node::answer(const Requester& requester, Status status, ClientReply::Body body) {
  ClientReply reply;
  reply.status = std::move(status);
  reply.body = std::move(body);
  reply.epoch = epoch();
  reply.boot = life_->boot();
  door_.answer(requester, reply);
}

Result<Welcome> Node::welcome() const {
  // A boot that has failed, or isn't there yet, must not be taken for the one that a client's puts go to.
  if (!serving()) return unavailable(why_not_serving());
  return Welcome{.protocol = kProtocolVersion,
                 .cluster = settings_.identity.cluster,
                 .node = settings_.identity.node,
                 .name = settings_.identity.name,
                 .boot = life_->boot()};
}

}  // namespace ringkv
